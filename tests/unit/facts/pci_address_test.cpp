#include "common/facts/pci_address.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using gdrcheck::parse_pci_address;
using gdrcheck::PciAddress;

TEST_CASE("an address is read with and without its domain, in any case") {
    CHECK(parse_pci_address("0000:18:00.0") == PciAddress{0, 0x18, 0, 0});
    CHECK(parse_pci_address("ca:1f.7") == PciAddress{0, 0xca, 0x1f, 7});
    CHECK(parse_pci_address("000B:CA:00.1") == PciAddress{0xb, 0xca, 0, 1});
    CHECK(parse_pci_address("10000:E1:00.0") == PciAddress{0x10000, 0xe1, 0, 0});
    CHECK(parse_pci_address("00000000:18:00.0") == PciAddress{0, 0x18, 0, 0});
    CHECK(parse_pci_address("ffffffff:ff:1f.7") == PciAddress{0xffffffff, 0xff, 0x1f, 7});
}

TEST_CASE("what is no address is refused whole") {
    const auto* const text =
        GENERATE("", "0", "pci0000:15", "0000:18:00", "0000:18:00.", "0000:18:00.8", "0000:18:20.0", "0000:18:00.0 ",
                 " 0000:18:00.0", "0000:18:00.0/x", "000:18:00.0", "000000000:18:00.0", "0000:1:00.0", "0000:118:00.0",
                 "0000:18:0.0", "0x00:18:00.0", "-000:18:00.0", "0000-18:00.0", "0000:18:00.00", "a:b:c:d", "::.",
                 "47505500-0001-0000-3130-444532304235");
    CAPTURE(text);
    CHECK_FALSE(parse_pci_address(text).has_value());
}

TEST_CASE("an address is written as sysfs writes it, and read back") {
    for (const auto* text : {"0000:18:00.0", "10000:e1:00.0", "000b:ca:1f.7", "ffffffff:ff:1f.7"}) {
        CHECK(to_string(*parse_pci_address(text)) == text);
    }
}

TEST_CASE("addresses sort by domain, bus, device, function") {
    CHECK(*parse_pci_address("0000:ff:1f.7") < *parse_pci_address("0001:00:00.0"));
    CHECK(*parse_pci_address("0000:18:01.0") > *parse_pci_address("0000:18:00.7"));
}
