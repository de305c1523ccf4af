#include "common/snapshot/scrub_rules.hpp"

#include <fnmatch.h>

#include <array>
#include <string>

namespace gdrcheck::snapshot {
namespace {

struct PathRule {
    const char* pattern;  ///< fnmatch, where * also matches /
    Rule rule;
};

using enum Rule;

/// The first that matches holds. Paths are canonical: /sys/devices/…, not /sys/class/….
constexpr auto rules = std::to_array<PathRule>({
    // RDMA devices
    {"/sys/*/node_guid", text},
    {"/sys/*/sys_image_guid", text},
    {"/sys/*/gids/*", text},
    {"/sys/*/gid_attrs/ndevs/*", text},
    {"/sys/*/gid_attrs/types/*", keep},
    {"/sys/*/node_desc", host},
    {"/sys/*/node_type", keep},
    {"/sys/*/hca_type", keep},
    {"/sys/*/board_id", keep},
    {"/sys/*/fw_ver", keep},
    {"/sys/*/hw_rev", keep},
    {"/sys/*/ports/*/state", keep},
    {"/sys/*/ports/*/phys_state", keep},
    {"/sys/*/ports/*/rate", keep},
    {"/sys/*/ports/*/link_layer", keep},
    {"/sys/*/ports/*/lid", keep},
    {"/sys/*/ports/*/sm_lid", keep},
    {"/sys/*/ports/*/cap_mask", keep},
    {"/sys/*/ports/*/pkeys/*", keep},
    {"/sys/*/ports/*counters/*", keep},
    {"/sys/*/infiniband_verbs/*/ibdev", text},
    {"/sys/*/infiniband_verbs/*", keep},
    // network interfaces
    {"/sys/*/net/*/address", text},
    {"/sys/*/net/*/broadcast", text},
    {"/sys/*/net/*/phys_switch_id", serial},
    {"/sys/*/net/*/phys_port_id", serial},
    {"/sys/*/net/*/operstate", keep},
    {"/sys/*/net/*/phys_port_name", keep},
    // PCI functions
    {"/sys/*/vpd", vpd},
    {"/sys/*/config", config_space},
    {"/sys/*/serial_number", serial},
    {"/sys/*/vendor", keep},
    {"/sys/*/device", keep},
    {"/sys/*/class", keep},
    {"/sys/*/revision", keep},
    {"/sys/*/subsystem_vendor", keep},
    {"/sys/*/subsystem_device", keep},
    {"/sys/*_link_speed", keep},
    {"/sys/*_link_width", keep},
    {"/sys/*/resource", keep},
    {"/sys/*/modalias", keep},
    {"/sys/*/local_cpu*", keep},
    {"/sys/*/cpumap", keep},
    {"/sys/*/cpulist", keep},
    {"/sys/*/power_state", keep},
    {"/sys/*/reset_method", keep},
    {"/sys/*/iommu_group/type", keep},
    {"/sys/kernel/iommu_groups/*/type", keep},
    {"/sys/*/uevent", text},
    {"/sys/kernel/pci_switch_link/*", keep},
    // modules, kernel, machine
    {"/sys/module/*/initstate", keep},
    {"/sys/module/*/version", keep},
    {"/sys/module/*/srcversion", keep},
    {"/sys/module/*/taint", keep},
    {"/sys/module/*/parameters/*", free_text},
    {"/sys/kernel/mm/memory_peers/*", keep},
    {"/sys/devices/system/*", keep},
    {"/sys/kernel/security/lockdown", keep},
    {"/sys/hypervisor/type", keep},
    {"/sys/*/dmi/id/sys_vendor", keep},
    {"/sys/*/dmi/id/product_name", keep},
    {"/sys/*/dmi/id/board_vendor", keep},
    {"/sys/*/dmi/id/board_name", keep},
    {"/sys/*/dmi/id/bios_*", keep},
    {"/sys/*/dmi/id/product_uuid", text},
    {"/sys/*/dmi/id/*", serial},
    // proc
    {"/proc/sys/kernel/osrelease", keep},
    {"/proc/sys/kernel/ostype", keep},
    {"/proc/sys/kernel/hostname", host},
    {"/proc/sys/vm/*", keep},
    {"/proc/cmdline", command_line},
    {"/proc/cpuinfo", cpuinfo},
    {"/proc/meminfo", keep},
    {"/proc/devices", keep},
    {"/proc/modules", modules},
    {"/proc/kallsyms", symbols},
    {"/proc/version", text},
    {"/proc/*/limits", keep},
    {"/proc/driver/nvidia*", text},
    // modules on disk, DKMS, boot, settings
    // A module built here is signed with a key that has the host's name; a compressed one hides it.
    {"*/lib/modules/*/kernel/*.ko*", object},
    {"*/lib/modules/*.ko", object},
    {"*/lib/modules/*/modules.*", keep},
    {"*/lib/modules/*/config", text},
    {"*/lib/modules/*/Module.symvers", keep},
    {"/var/lib/dkms/*.ko", object},
    {"/var/lib/dkms/*.conf", comments},
    {"/var/lib/dkms/*.log", free_text},
    {"/usr/src/*/dkms.conf", comments},
    {"*/Module.symvers", keep},
    {"/boot/config-*", text},
    {"/etc/os-release", keep},
    {"/usr/lib/os-release", keep},
    {"/usr/share/misc/pci.ids", keep},
    {"/usr/share/hwdata/pci.ids", keep},
    {"/etc/hostname", host},
    {"/etc/dkms/*", comments},
    {"/etc/modules", comments},
    {"*/modules-load.d/*", comments},
    {"*/modprobe.d/*", comments},
    {"/etc/infiniband/*", comments},
    {"/etc/rdma/*", comments},
    {"*nccl.conf", settings},
    {"*.xml", xml},
    {"/dev/kmsg.txt", kernel_log},
});

}  // namespace

std::optional<Rule> rule_for(std::string_view path) {
    const std::string name(path);
    for (const PathRule& rule : rules)
        if (::fnmatch(rule.pattern, name.c_str(), 0) == 0) return rule.rule;
    return std::nullopt;
}

}  // namespace gdrcheck::snapshot
