#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/nccl/model.hpp"

namespace {

using gdrcheck::nccl::gpu_model;
using gdrcheck::nccl::GpuModel;

struct Expected {
    std::uint16_t device;
    int compute_capability;
    bool gdr;
    bool nvlink;
    bool c2c;
    std::string name;
};

bool contains(const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("the id table tells what CUDA would tell of a GPU") {
    const auto expected = GENERATE(values<Expected>({
        {0x15f9, 60, true, true, false, "Tesla P100 SXM2 16GB"},
        {0x1db4, 70, true, false, false, "Tesla V100 PCIe 16GB"},
        {0x1db5, 70, true, true, false, "Tesla V100 SXM2 32GB"},
        {0x1eb8, 75, true, false, false, "Tesla T4"},
        {0x20b0, 80, true, true, false, "A100 SXM4 40GB"},
        {0x20b2, 80, true, true, false, "A100 SXM4 80GB"},
        {0x20f1, 80, true, false, false, "A100 PCIe 40GB"},
        {0x2330, 90, true, true, false, "H100 SXM5 80GB"},
        {0x2331, 90, true, false, false, "H100 PCIe"},
        {0x2335, 90, true, true, false, "H200 SXM 141GB"},
        {0x233b, 90, true, false, false, "H200 NVL"},
        {0x2342, 90, true, false, true, "GH200 120GB/480GB"},
        {0x26b9, 89, true, false, false, "L40S"},
        {0x2901, 100, true, true, false, "B200"},
        {0x2941, 100, true, true, true, "GB200"},
        {0x3182, 103, true, true, false, "B300 SXM6"},
        {0x31c2, 103, true, true, true, "GB300"},
        {0x2bb5, 120, true, false, false, "RTX PRO 6000 Blackwell Server Edition"},
        {0x2e12, 121, false, false, true, "GB10"},
    }));
    const GpuModel model = gpu_model(expected.device);
    CAPTURE(expected.device, model.name);
    CHECK(model.known);
    CHECK(model.compute_capability == expected.compute_capability);
    CHECK(model.gdr == expected.gdr);
    CHECK(model.nvlink == expected.nvlink);
    CHECK(model.c2c == expected.c2c);
    CHECK(model.name == expected.name);
}

TEST_CASE("a GeForce has no GDR, the professional board of the same chip has") {
    const GpuModel geforce = gpu_model(0x2684);  // GeForce RTX 4090
    CHECK(geforce.known);
    CHECK(geforce.compute_capability == 89);
    CHECK_FALSE(geforce.gdr);
    CHECK_FALSE(geforce.nvlink);
    CHECK(geforce.name == "GeForce (AD102)");

    const GpuModel professional = gpu_model(0x26b3);  // RTX 5880 Ada Generation
    CHECK(professional.known);
    CHECK(professional.compute_capability == 89);
    CHECK(professional.gdr);

    CHECK_FALSE(gpu_model(0x2b85).gdr);  // GeForce RTX 5090
    CHECK(gpu_model(0x2b85).compute_capability == 120);
    CHECK_FALSE(gpu_model(0x1e02).gdr);  // TITAN RTX
    CHECK_FALSE(gpu_model(0x1d81).gdr);  // TITAN V
}

TEST_CASE("an unknown id is assumed capable and says that it is unknown") {
    for (const std::uint16_t device : std::initializer_list<std::uint16_t>{0x0000, 0x22a3, 0x2302, 0x3fff, 0xffff}) {
        const GpuModel model = gpu_model(device);
        CAPTURE(device);
        CHECK_FALSE(model.known);
        CHECK(model.gdr);
        CHECK_FALSE(model.nvlink);
        CHECK_FALSE(model.c2c);
        CHECK(model.compute_capability == 0);
        CHECK(model.name.empty());
    }
}

// The rule that tells GeForce from professional boards, held against every name that the distribution's list knows.
TEST_CASE("the id rule agrees with the names in pci.ids") {
    std::ifstream list("/usr/share/misc/pci.ids");
    if (!list) SKIP("no /usr/share/misc/pci.ids");

    bool nvidia = false;
    int geforces = 0;
    int professionals = 0;
    for (std::string line; std::getline(list, line);) {
        if (!line.empty() && line[0] != '\t' && line[0] != '#') nvidia = line.starts_with("10de");
        if (!nvidia || line.size() < 8 || line[0] != '\t' || line[1] == '\t') continue;
        const auto device = static_cast<std::uint16_t>(std::stoul(line.substr(1, 4), nullptr, 16));
        const GpuModel model = gpu_model(device);
        if (device < 0x1b00 || contains(line, "Engineering Sample")) continue;  // before Pascal
        CAPTURE(line);
        if (contains(line, "GeForce") || contains(line, "TITAN")) {
            CHECK(model.known);
            CHECK_FALSE(model.gdr);
            ++geforces;
        } else if (contains(line, "Tesla") || contains(line, "Quadro") || contains(line, "[RTX A")) {
            CHECK(model.gdr);
            ++professionals;
        }
    }
    CHECK(geforces > 100);
    CHECK(professionals > 50);
}
