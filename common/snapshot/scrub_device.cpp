#include "common/snapshot/scrub_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gdrcheck::snapshot {
namespace {

// PCI Local Bus Specification 3.0, appendix I
constexpr unsigned large_resource = 0x80;
constexpr unsigned identifier_string = 0x82;
constexpr unsigned read_only_data = 0x90;
constexpr unsigned read_write_data = 0x91;
constexpr unsigned end_tag = 0x78;

unsigned byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

/// Part number, engineering level, and NVIDIA's capability strings (V0, VA: "PCIeGen5 x16", "MLX:MN=MLNX:…").
bool names_product(std::string_view keyword) {
    constexpr auto product = std::to_array<std::string_view>({"PN", "EC", "MN", "FG", "LC", "V0", "VA"});
    return std::ranges::find(product, keyword) != product.end();
}

/// The first byte of RV makes the sum of all bytes up to it zero.
void set_checksum(std::string& vpd, std::size_t checksum_at) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < checksum_at; ++i) sum += byte_at(vpd, i);
    vpd[checksum_at] = static_cast<char>((0x100 - (sum & 0xff)) & 0xff);
}

/// Fields of one resource, from `at` to `end`; false when they do not fill it.
bool scrub_fields(Identifiers& identifiers, std::string& vpd, std::size_t at, std::size_t end) {
    constexpr std::size_t field_header = 3;
    while (at + field_header <= end) {
        const std::string keyword = vpd.substr(at, 2);
        const std::size_t length = byte_at(vpd, at + 2);
        at += field_header;
        if (at + length > end) return false;
        if (keyword == "RV") {
            if (length > 0) set_checksum(vpd, at);
        } else if (keyword == "RW") {
            std::fill_n(vpd.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
        } else if (!names_product(keyword)) {
            const std::string_view value = std::string_view(vpd).substr(at, length);
            const std::size_t last = value.find_last_not_of(std::string_view(" \0", 2));
            const std::size_t used = last == std::string_view::npos ? 0 : last + 1;
            vpd.replace(at, used, identifiers.serial(value.substr(0, used)));
        }
        at += length;
    }
    return at == end;
}

std::uint16_t word_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint16_t>(byte_at(bytes, at) | byte_at(bytes, at + 1) << 8);
}

void clear(std::string& bytes, std::size_t at, std::size_t count) {
    if (at < bytes.size())
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(count, bytes.size() - at), '\0');
}

void clear_vpd_window(std::string& config) {
    constexpr std::size_t first_pointer = 0x34;  // PCI_CAPABILITY_LIST
    constexpr unsigned vpd_capability = 0x03;    // PCI_CAP_ID_VPD
    constexpr int most_capabilities = 48;        // PCI_FIND_CAP_TTL
    if (config.size() <= first_pointer) return;
    std::size_t at = byte_at(config, first_pointer) & ~3U;
    for (int i = 0; i < most_capabilities && at >= 0x40 && at + 1 < config.size(); ++i) {
        if (byte_at(config, at) == vpd_capability) clear(config, at + 2, 6);  // address and data
        at = byte_at(config, at + 1) & ~3U;
    }
}

void scrub_device_serial_number(Identifiers& identifiers, std::string& config) {
    constexpr std::size_t extended = 0x100;
    constexpr unsigned device_serial_number = 0x0003;  // PCI_EXT_CAP_ID_DSN
    constexpr std::size_t serial_at = 4;
    constexpr std::size_t serial_bytes = 8;
    constexpr int most_capabilities = (4096 - 256) / 8;
    std::size_t at = extended;
    for (int i = 0; i < most_capabilities && at >= extended && at + 4 <= config.size(); ++i) {
        if (word_at(config, at) == device_serial_number && at + serial_at + serial_bytes <= config.size()) {
            std::uint64_t serial = 0;
            for (std::size_t byte = serial_bytes; byte-- > 0;)
                serial = serial << 8 | byte_at(config, at + serial_at + byte);
            serial = identifiers.guid(serial);
            for (std::size_t byte = 0; byte < serial_bytes; ++byte, serial >>= 8)
                config[at + serial_at + byte] = static_cast<char>(serial & 0xff);
        }
        at = word_at(config, at + 2) >> 4 & ~std::size_t{3};
    }
}

}  // namespace

std::string scrub_vpd(Identifiers& identifiers, std::string vpd) {
    std::size_t at = 0;
    while (at < vpd.size()) {
        const unsigned tag = byte_at(vpd, at);
        if ((tag & large_resource) == 0) {
            at += 1 + (tag & 7U);
            if ((tag & 0x78U) == end_tag || tag == 0) break;
            continue;
        }
        constexpr std::size_t header = 3;
        if (at + header > vpd.size()) return vpd.substr(0, at);
        const std::size_t begin = at + header;
        const std::size_t end = begin + (byte_at(vpd, at + 1) | std::size_t{byte_at(vpd, at + 2)} << 8);
        if (end > vpd.size()) return vpd.substr(0, at);
        const bool fields = tag == read_only_data || tag == read_write_data;
        if (fields ? !scrub_fields(identifiers, vpd, begin, end) : tag != identifier_string) return vpd.substr(0, at);
        at = end;
    }
    return vpd.substr(0, std::min(at, vpd.size()));
}

std::string scrub_config_space(Identifiers& identifiers, std::string config) {
    clear_vpd_window(config);
    scrub_device_serial_number(identifiers, config);
    return config;
}

}  // namespace gdrcheck::snapshot
