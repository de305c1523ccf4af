// Vital product data (PCI Local Bus Specification 3.0, appendix I): resources of a tag and a length; the read-only and
// read-write ones hold fields of a two-letter keyword, a length byte and data.
#include "common/base/text.hpp"
#include "common/probe/pci_function.hpp"

namespace gdrcheck::probe {
namespace {

constexpr unsigned char large_resource = 0x80;
constexpr unsigned char read_only_data = 0x90;
constexpr unsigned char read_write_data = 0x91;
constexpr unsigned char end_tag = 0x78;
constexpr std::size_t vpd_limit = std::size_t{32} * 1024;  ///< PCI_VPD_MAX_SIZE: a 15-bit address

unsigned char byte_at(std::string_view bytes, std::size_t offset) {
    return static_cast<unsigned char>(bytes[offset]);
}

std::optional<std::string> find_in_fields(std::string_view fields, std::string_view keyword) {
    while (fields.size() >= 3) {
        const std::size_t length = byte_at(fields, 2);
        if (fields.size() < 3 + length) return std::nullopt;
        if (fields.substr(0, 2) == keyword) {
            const auto value = fields.substr(3, length);
            return std::string(trim(value.substr(0, value.find('\0'))));
        }
        fields.remove_prefix(3 + length);
    }
    return std::nullopt;
}

}  // namespace

std::string find_vpd_keyword(std::string_view vpd, std::string_view keyword) {
    while (!vpd.empty()) {
        const unsigned char tag = byte_at(vpd, 0);
        std::size_t header = 1;
        std::size_t length = tag & 0x07u;
        if ((tag & large_resource) != 0) {
            if (vpd.size() < 3) return {};
            header = 3;
            length = byte_at(vpd, 1) | std::size_t{byte_at(vpd, 2)} << 8;
        } else if ((tag & 0x78u) == end_tag) {
            return {};
        }
        if (vpd.size() < header + length) return {};
        if (tag == read_only_data || tag == read_write_data) {
            if (auto value = find_in_fields(vpd.substr(header, length), keyword)) return *std::move(value);
        }
        vpd.remove_prefix(header + length);
    }
    return {};
}

std::string read_vuid(const RootFs::Directory& function) {
    const auto vpd = function.read("vpd", vpd_limit);
    return vpd ? find_vpd_keyword(*vpd, "VU") : std::string();
}

}  // namespace gdrcheck::probe
