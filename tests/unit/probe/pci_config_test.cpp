#include <cerrno>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/probe/pci_function.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Configuration space in which capabilities are written by hand.
class Config {
  public:
    explicit Config(std::size_t size = 4096) : bytes_(size, '\0') {}
    Config& dword(std::size_t offset, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) bytes_.at(offset + i) = static_cast<char>(value >> (8 * i) & 0xff);
        return *this;
    }
    /// An extended capability header: id, version 1, next.
    Config& capability(std::size_t offset, std::uint32_t id, std::uint32_t next) {
        return dword(offset, id | 1U << 16 | next << 20);
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

Reading<std::optional<AcsCapability>> acs_of(const Tree& tree) {
    const auto root = tree.root();
    return probe::read_acs(root.directory(root_port).value());
}

/// Known, and the function has none: not the same as not known.
bool has_none(const Reading<std::optional<AcsCapability>>& acs) {
    return acs.known() && !acs.value->has_value();
}

Reading<std::optional<AcsCapability>> acs_of(const std::string& config) {
    return acs_of(small_machine().file(root_port + "/config", config));
}

}  // namespace

TEST_CASE("ACS is found behind other capabilities") {
    Config config;
    config.capability(0x100, 0x0001, 0x148)
        .capability(0x148, 0x0018, 0x2a0)
        .capability(0x2a0, 0x000d, 0x300)
        .capability(0x300, 0x0025, 0);
    config.dword(0x2a4, 0x001d'005fU);
    const auto acs = acs_of(config.bytes());
    REQUIRE(acs.known());
    CHECK(acs.value->value() == AcsCapability{.capability = 0x5f, .control = 0x1d});
}

TEST_CASE("a function without ACS is known to have none") {
    Config empty;
    CHECK(has_none(acs_of(empty.bytes())));
    Config other;
    other.capability(0x100, 0x0001, 0x148).capability(0x148, 0x0018, 0);
    CHECK(has_none(acs_of(other.bytes())));
    CHECK(has_none(acs_of(Config(256).bytes())));  // a conventional PCI function
}

TEST_CASE("configuration space that only root could read is unknown, not fine") {
    const auto acs = acs_of(Config(64).bytes());
    CHECK_FALSE(acs.known());
    CHECK(acs.why == root_port + "/config: only its first bytes can be read (needs root)");
    CHECK_FALSE(acs_of("").known());
}

TEST_CASE("configuration space that is absent or unreadable says so") {
    CHECK(acs_of(small_machine()).why == root_port + "/config: No such file or directory");
    CHECK(acs_of(small_machine().error(root_port + "/config", EACCES)).why == root_port + "/config: Permission denied");
    CHECK_FALSE(acs_of(small_machine().link(root_port + "/config", "config")).known());
}

TEST_CASE("a capability list that is a loop ends as unknown") {
    Config config;
    config.capability(0x100, 0x0001, 0x148).capability(0x148, 0x0018, 0x100);
    CHECK_THAT(acs_of(config.bytes()).why, ContainsSubstring("is a loop"));
    Config itself;
    itself.capability(0x100, 0x0001, 0x100);
    CHECK_THAT(acs_of(itself.bytes()).why, ContainsSubstring("is a loop"));
}

TEST_CASE("a device that does not answer is unknown") {
    CHECK_THAT(acs_of(std::string(4096, '\xff')).why, ContainsSubstring("all ones"));
}

TEST_CASE("a capability list that leaves the space ends") {
    Config cut(512);
    cut.capability(0x100, 0x0001, 0x400);
    CHECK_THAT(acs_of(cut.bytes()).why, ContainsSubstring("ends inside its capability list at 0x400"));
    Config last(0x108);
    last.capability(0x100, 0x0001, 0x104).capability(0x104, 0x000d, 0);
    CHECK_THAT(acs_of(last.bytes()).why, ContainsSubstring("ends inside ACS"));
    Config below;
    below.capability(0x100, 0x0001, 0x040);
    CHECK(has_none(acs_of(below.bytes())));
}

TEST_CASE("random configuration space never hangs or crashes") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::string bytes(random() % 4097, '\0');
        for (auto& byte : bytes) byte = static_cast<char>(random());
        const auto acs = acs_of(bytes);
        CHECK(acs.known() == acs.why.empty());
    }
}

TEST_CASE("the keyword VU is found in vital product data") {
    const auto field = [](std::string key, const std::string& value) {
        return key + static_cast<char>(value.size()) + value;
    };
    const auto resource = [](char tag, const std::string& data) {
        return std::string{tag, static_cast<char>(data.size()), '\0'} + data;
    };
    const auto name = resource('\x82', "ConnectX-8");
    const auto fields = field("PN", "900-9X81Q") + field("VU", "b4b2ec5f MLNX  ") + field("RV", "x");
    const auto end = std::string("\x78");
    CHECK(probe::find_vpd_keyword(name + resource('\x90', fields) + end, "VU") == "b4b2ec5f MLNX");
    CHECK(probe::find_vpd_keyword(name + resource('\x90', field("PN", "1")) + resource('\x91', fields) + end, "VU") ==
          "b4b2ec5f MLNX");
    CHECK(probe::find_vpd_keyword(resource('\x90', field("PN", "VU")) + end, "VU").empty());
    CHECK(probe::find_vpd_keyword(name + end + resource('\x90', fields), "VU").empty());
    CHECK(probe::find_vpd_keyword(resource('\x90', fields).substr(0, 20), "VU").empty());
    CHECK(probe::find_vpd_keyword("", "VU").empty());
    CHECK(probe::find_vpd_keyword(std::string(1000, '\xff'), "VU").empty());
    CHECK(probe::find_vpd_keyword(std::string(1000, '\0'), "VU").empty());
}

TEST_CASE("random vital product data never hangs or crashes") {
    std::mt19937 random(2);
    for (int round = 0; round < 500; ++round) {
        std::string bytes(random() % 600, '\0');
        for (auto& byte : bytes) byte = random() % 8 == 0 ? '\x90' : static_cast<char>(random());
        CHECK(probe::find_vpd_keyword(bytes, "VU").size() < 256);
    }
}
