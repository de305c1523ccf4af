#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/probe/pci_names.hpp"
#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

namespace {

const std::string information = "/proc/driver/nvidia/gpus/0000:18:00.0/information";
const std::string version_file = "/proc/driver/nvidia/version";

NodeFacts nvidia_of(const Tree& tree) {
    NodeFacts facts;
    const auto root = tree.root();
    probe::read_modules(root, facts);
    probe::read_pci(root, facts);
    probe::read_nvidia(root, facts);
    return facts;
}

const Gpu& only_gpu(const NodeFacts& facts) {
    REQUIRE(facts.gpus.size() == 1);
    return facts.gpus.front();
}

}  // namespace

TEST_CASE("a GPU is read with what its driver says of it") {
    const auto facts = nvidia_of(small_machine());
    CHECK(only_gpu(facts) == Gpu{.pci = bdf("0000:18:00.0"),
                                 .minor = 3,
                                 .uuid = "GPU-4452b03b-69f1-d797-3aed-afb031d5b75b",
                                 .model = "NVIDIA H100 80GB HBM3"});
    CHECK(facts.nvidia_version == "580.95.05");
    CHECK(facts.nvidia_open == true);
    CHECK(facts.nvidia_why.empty());
}

TEST_CASE("open and proprietary drivers are told apart in every wording") {
    struct Case {
        const char* line;
        const char* version;
        bool open;
    };
    const auto wording = GENERATE(
        Case{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (u@h)  Tue",
             "580.95.05", true},
        Case{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.86.15  Release Build", "570.86.15", true},
        Case{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Tue Oct  8 03:12:42 UTC 2024", "550.135", false},
        Case{"NVRM version: NVIDIA UNIX aarch64 Kernel Module  535.129.03  Thu Oct 19", "535.129.03", false});
    const auto facts =
        nvidia_of(small_machine().file(version_file, wording.line).file("/sys/module/nvidia/version", "1.2"));
    CHECK(facts.nvidia_version == wording.version);
    CHECK(facts.nvidia_open == wording.open);
}

TEST_CASE("without the driver's own words its module's version and taint tell") {
    auto tree = small_machine().error(version_file, EACCES);
    const auto open = nvidia_of(tree);
    CHECK(open.nvidia_version == "580.95.05");
    CHECK(open.nvidia_open == true);
    CHECK(open.nvidia_why == version_file + ": Permission denied");
    CHECK(nvidia_of(tree.file("/sys/module/nvidia/taint", "POE\n")).nvidia_open == false);
    CHECK_FALSE(nvidia_of(tree.file("/sys/module/nvidia/taint", "\n")).nvidia_open.has_value());
}

TEST_CASE("a version file without a version says so") {
    const auto* const text =
        GENERATE("", "garbage\n", "NVRM version: Kernel Module x.y\n", "Module 1..2 3. .4 5.6.7.8\n");
    const auto facts = nvidia_of(small_machine().file(version_file, text).without("/sys/module/nvidia/version"));
    CHECK(facts.nvidia_version.empty());
    CHECK(facts.nvidia_why.starts_with(version_file + ": no version in \""));
}

TEST_CASE("a GPU that its driver does not list is still a GPU, of unknown minor") {
    const auto facts = nvidia_of(small_machine().without(information));
    CHECK_FALSE(only_gpu(facts).minor.has_value());
    CHECK(only_gpu(facts).uuid.empty());
    CHECK(only_gpu(facts).model == "10de:2330");
}

TEST_CASE("a GPU that only its driver knows is no GPU, and is noticed") {
    const auto facts =
        nvidia_of(small_machine().file("/proc/driver/nvidia/gpus/0000:99:00.0/information", "Device Minor: 4\n"));
    CHECK(facts.gpus.size() == 1);
    CHECK(facts.nvidia_why == "0000:99:00.0: known to the driver, not on the PCI bus");
}

TEST_CASE("a GPU not yet initialised has no UUID") {
    const auto unset = "Model: \t Unknown\nGPU UUID: \t GPU-" + std::string(8, '?') + "\nDevice Minor: \t 0\n";
    CHECK(only_gpu(nvidia_of(small_machine().file(information, unset))).uuid.empty());
    CHECK(only_gpu(nvidia_of(small_machine().file(information, unset))).model == "10de:2330");
    const auto facts = nvidia_of(small_machine().file(information, "Model:\tA\nDevice Minor:\t1\n"));
    CHECK(only_gpu(facts).uuid.empty());
    CHECK(only_gpu(facts).minor == 1);
}

TEST_CASE("an excluded GPU is marked") {
    CHECK(only_gpu(nvidia_of(small_machine().file(information, "GPU Excluded:\t Yes\n"))).excluded);
}

TEST_CASE("garbage about a GPU gives no facts") {
    const auto* const text = GENERATE("", ":::\n\n:", "Device Minor: x\n", "Device Minor: -1\n", "Device Minor 3\n",
                                      "Device Minor: 99999999999\n");
    CHECK_FALSE(only_gpu(nvidia_of(small_machine().file(information, text))).minor.has_value());
}

TEST_CASE("what the driver may not tell is noticed") {
    const auto facts = nvidia_of(small_machine().error(information, EACCES));
    CHECK(only_gpu(facts).model == "10de:2330");
    CHECK(facts.nvidia_why == information + ": Permission denied");
    const auto locked = nvidia_of(small_machine().error("/proc/driver/nvidia/gpus", EACCES));
    CHECK(locked.gpus.size() == 1);
    CHECK(locked.nvidia_why.find("/proc/driver/nvidia/gpus: Permission denied") != std::string::npos);
}

TEST_CASE("MIG is on when GPU instances exist, not when its directory does") {
    const std::string mig = "/proc/driver/nvidia/capabilities/gpu3/mig";
    auto tree = small_machine().directory(mig);
    CHECK(only_gpu(nvidia_of(tree)).mig.empty());
    tree.file(mig + "/gi10/ci0/access")
        .file(mig + "/gi2/ci1/access")
        .file(mig + "/gi2/ci0/access")
        .file(mig + "/gi2/access");
    tree.file(mig + "/gix/ci0/access").file(mig + "/config");
    CHECK(only_gpu(nvidia_of(tree)).mig == std::vector<std::string>{"2/0", "2/1", "10/0"});
}

TEST_CASE("a guest's virtual GPU is not this node's, unless its driver runs it") {
    auto tree = small_machine().link(gpu_path + "/physfn", "../0000:18:00.4");
    CHECK(nvidia_of(tree).gpus.size() == 1);
    CHECK(nvidia_of(tree.without(information)).gpus.empty());
}

TEST_CASE("a GPU without a name gets one from the root's pci.ids") {
    const std::string ids =
        "# list\n10dd  Other\n\t2330  Wrong vendor\n10de  NVIDIA Corporation\n\t2322  GH100 [H800]\n\t\t10de 2330  "
        "Wrong "
        "subsystem\n\t2330  GH100 [H100 SXM5 80GB]\n\t\t10de 16c0  x\n10df  Emulex\n\t2331  Past the vendor\n";
    auto tree = small_machine().without(information).file("/usr/share/hwdata/pci.ids", ids);
    CHECK(only_gpu(nvidia_of(tree)).model == "GH100 [H100 SXM5 80GB]");
    CHECK(only_gpu(nvidia_of(tree.file("/usr/share/misc/pci.ids", "10de  N\n\t2330  First\n"))).model == "First");

    const auto text = '\n' + ids;
    CHECK(probe::find_pci_name(text, 0x10de, 0x2331).empty());
    CHECK(probe::find_pci_name(text, 0x1234, 0x2330).empty());
    CHECK(probe::find_pci_name("\n10de  N", 0x10de, 0x2330).empty());
    CHECK(probe::find_pci_name("\n10de  N\n", 0x10de, 0x2330).empty());
    CHECK(probe::find_pci_name("", 0x10de, 0x2330).empty());
}

TEST_CASE("pci.ids is left alone when the driver names every GPU") {
    auto root = small_machine().file("/usr/share/misc/pci.ids", "10de  N\n").root();
    MemoryTree recording;
    root.record_into(&recording);
    NodeFacts facts;
    probe::read_pci(root, facts);
    probe::read_nvidia(root, facts);
    CHECK(facts.gpus.size() == 1);
    CHECK_FALSE(recording.entries.contains("/usr/share/misc/pci.ids"));
}

TEST_CASE("a node without the driver says why") {
    const auto facts = nvidia_of(Tree{}.directory("/sys/bus/pci/devices"));
    CHECK(facts.gpus.empty());
    CHECK(facts.nvidia_why == version_file + ": No such file or directory");
    CHECK_FALSE(facts.nvidia_open.has_value());
}
