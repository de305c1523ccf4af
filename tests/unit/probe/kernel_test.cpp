#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/probe/infer.hpp"
#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

namespace {

NodeFacts kernel_of(const Tree& tree) {
    NodeFacts facts;
    probe::read_kernel(tree.root(), facts);
    return facts;
}

Cpu inferred_cpu(const std::string& release, std::uint16_t root_port_vendor, std::string driver = {}) {
    NodeFacts facts;
    facts.kernel_release.value = release;
    facts.nvidia_driver = std::move(driver);
    const PciFunction port{
        .address = bdf("0000:15:01.0"), .sysfs_path = root_port, .class_code = 0x060400, .vendor = root_port_vendor};
    if (root_port_vendor != 0) facts.pci.emplace(port.address, port);
    probe::infer_cpu(facts);
    return facts.cpu;
}

Reading<bool> config_of(Tree tree, std::optional<bool> open = true) {
    auto facts = kernel_of(tree);
    facts.gpus.resize(1);
    facts.rdma.resize(1);
    facts.nvidia_open = open;
    probe::read_dmabuf_config(tree.root(), facts);
    return facts.dmabuf_config;
}

const std::string config_file = "/boot/config-6.8.0-45-generic";

}  // namespace

TEST_CASE("the kernel, its command line and the machine are read") {
    const auto facts = kernel_of(small_machine());
    CHECK(facts.kernel_release.value == "6.8.0-45-generic");
    CHECK(facts.kernel_command_line == "BOOT_IMAGE=/vmlinuz iommu=pt");
    CHECK(facts.dmi_product == "DGXH100");
}

TEST_CASE("a kernel release that cannot be read is unknown") {
    CHECK(kernel_of(Tree{}).kernel_release.why == "/proc/sys/kernel/osrelease: No such file or directory");
    CHECK(kernel_of(small_machine().error("/proc/sys/kernel/osrelease", EIO)).kernel_release.why ==
          "/proc/sys/kernel/osrelease: Input/output error");
}

TEST_CASE("the first processor of cpuinfo counts") {
    const auto cpu = kernel_of(small_machine()).cpu;
    CHECK(cpu == Cpu{.arch = "x86_64", .vendor = "AuthenticAMD", .family = 25, .model = 17, .hypervisor = true});
    const auto arm =
        kernel_of(Tree{}.file("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n")).cpu;
    CHECK(arm == Cpu{.arch = "arm64"});
    CHECK(kernel_of(Tree{}.file("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n")).cpu.arch ==
          "ppc64");
}

TEST_CASE("a flag is a whole word") {
    CHECK_FALSE(kernel_of(Tree{}.file("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : xhypervisor hypervisor2\n"))
                    .cpu.hypervisor);
}

TEST_CASE("a huge cpuinfo is read only as far as its first processor") {
    auto root = Tree{}.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n" + std::string(5'000'000, '\n')).root();
    MemoryTree recording;
    root.record_into(&recording);
    NodeFacts facts;
    probe::read_kernel(root, facts);
    CHECK(facts.cpu.vendor == "GenuineIntel");
    CHECK(recording.entries.at("/proc/cpuinfo").data.size() == 8192);
}

TEST_CASE("garbage in cpuinfo tells no processor") {
    const auto* const text = GENERATE("", "\n\n\n", ":", "vendor_id", "cpu family : x\nmodel : \n");
    CHECK(kernel_of(Tree{}.file("/proc/cpuinfo", text)).cpu == Cpu{});
}

TEST_CASE("without cpuinfo the architecture is inferred, and marked so") {
    CHECK(inferred_cpu("4.18.0-553.el8_10.x86_64", 0x8086) ==
          Cpu{.arch = "x86_64", .vendor = "GenuineIntel", .inferred = true});
    CHECK(inferred_cpu("6.1.0-28-amd64", 0x1022) == Cpu{.arch = "x86_64", .vendor = "AuthenticAMD", .inferred = true});
    CHECK(inferred_cpu("6.8.0-48-generic", 0x8086).arch == "x86_64");
    CHECK(inferred_cpu("5.14.0-427.el9.aarch64+64k", 0x10de) == Cpu{.arch = "arm64", .inferred = true});
    CHECK(inferred_cpu("6.8.0-1020-nvidia-64k", 0x10de).arch == "arm64");
    CHECK(inferred_cpu("6.8.0-48-generic", 0, "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.1").arch ==
          "arm64");
    CHECK(inferred_cpu("6.8.0-48-generic", 0) == Cpu{});
}

TEST_CASE("a processor that is known is not inferred again") {
    NodeFacts facts;
    facts.cpu = Cpu{.arch = "arm64"};
    facts.kernel_release.value = "6.1.0-28-amd64";
    probe::infer_cpu(facts);
    CHECK(facts.cpu == Cpu{.arch = "arm64"});
}

TEST_CASE("the kernel's configuration tells whether drivers can register DMA-BUF") {
    CHECK(config_of(small_machine()).value == true);
    CHECK(config_of(small_machine().file(
                        config_file, "CONFIG_INFINIBAND_USER_MEM=y\n# CONFIG_INFINIBAND_ON_DEMAND_PAGING is not set\n"))
              .value == false);
    CHECK(config_of(small_machine().file(config_file, "")).value == false);
    CHECK(config_of(small_machine()
                        .without(config_file)
                        .file("/lib/modules/6.8.0-45-generic/config",
                              "\nCONFIG_INFINIBAND_USER_MEM=y\nCONFIG_INFINIBAND_ON_DEMAND_PAGING=y\n"))
              .value == true);
}

TEST_CASE("a configuration that is not read says why") {
    CHECK(config_of(small_machine().without(config_file)).why == config_file + ": No such file or directory");
    CHECK(config_of(small_machine().error(config_file, EACCES)).why == config_file + ": Permission denied");
    CHECK(config_of(small_machine().file("/proc/sys/kernel/osrelease", "../../etc")).why ==
          "not read: the kernel release is not known");
    CHECK(config_of(small_machine(), false).why == "not read: nothing here would use it");
    CHECK(config_of(small_machine(), std::nullopt).value == true);
}

TEST_CASE("an IOMMU is active when it has a unit") {
    const auto active = [](const Tree& tree) {
        NodeFacts facts;
        probe::read_iommu(tree.root(), facts);
        return facts.iommu_active;
    };
    CHECK(active(Tree{}.link("/sys/class/iommu/dmar0", "../../devices/virtual/iommu/dmar0")));
    CHECK_FALSE(active(Tree{}.directory("/sys/class/iommu")));
    CHECK_FALSE(active(Tree{}));
}
