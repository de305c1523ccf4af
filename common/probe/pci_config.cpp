// Access Control Services in PCI Express extended configuration space (PCI Express Base Specification 6.0, 7.7.8).
// Only the dwords on the way to it are read: each is a transaction on the bus.
#include <fmt/core.h>

#include <array>

#include "common/probe/pci_function.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::size_t legacy_end = 0x100;  ///< extended space begins here
constexpr std::size_t extended_end = 0x1000;
constexpr std::uint16_t acs_capability = 0x000d;  ///< linux/pci_regs.h PCI_EXT_CAP_ID_ACS
constexpr std::size_t acs_registers = 4;          ///< capability, then control
constexpr int most_capabilities = (0x1000 - 0x100) / 8;

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

}  // namespace

Reading<std::optional<AcsCapability>> read_acs(const RootFs::Directory& function) {
    using Acs = Reading<std::optional<AcsCapability>>;
    const auto path = function.path() + "/config";
    const auto config = function.open("config");
    if (!config) return Acs{.why = config.error().what};

    // The kernel shows the first 64 bytes to everyone and the rest with CAP_SYS_ADMIN (drivers/pci/pci-sysfs.c).
    const auto last_legacy = config->read_at(legacy_end - 4, 4);
    if (!last_legacy) return Acs{.why = last_legacy.error().what};
    if (last_legacy->size() < 4) return Acs{.why = path + ": only its first bytes can be read (needs root)"};

    std::size_t offset = legacy_end;
    for (int i = 0; i < most_capabilities; ++i) {
        const auto bytes = config->read_at(offset, 4);
        if (!bytes) return Acs{.why = bytes.error().what};
        if (bytes->size() < 4) {
            if (offset == legacy_end) return Acs{.value = std::optional<AcsCapability>{}};  // no extended space
            return Acs{.why = fmt::format("{}: ends inside its capability list at {:#x}", path, offset)};
        }
        const auto header = little_endian(*bytes);
        if (header == 0xffffffff) return Acs{.why = path + ": reads as all ones (the device does not answer)"};
        if ((header & 0xffff) == acs_capability) {
            const auto registers = config->read_at(offset + acs_registers, 4);
            if (!registers) return Acs{.why = registers.error().what};
            if (registers->size() < 4) return Acs{.why = fmt::format("{}: ends inside ACS at {:#x}", path, offset)};
            const auto value = little_endian(*registers);
            return Acs{.value = AcsCapability{.capability = static_cast<std::uint16_t>(value & 0xffff),
                                              .control = static_cast<std::uint16_t>(value >> 16)}};
        }
        offset = (header >> 20) & 0xffc;
        if (offset < legacy_end || offset >= extended_end) return Acs{.value = std::optional<AcsCapability>{}};
    }
    return Acs{.why = path + ": its capability list is a loop"};
}

}  // namespace gdrcheck::probe
