// GPU models by PCI device id: the facts of a GPU that neither sysfs nor procfs shows and that CUDA would tell NCCL.
//
// Sources
//   ids and names:      pci.ids (2023.04.10 and later copies), NVIDIA open-gpu-kernel-modules README.md "Compatible
//   GPUs"
//                       (580 branch: H200, B200, B300, GB200, GB300, GB10, RTX PRO)
//   compute capability: of the chip, CUDA C++ Programming Guide
//   gdr:                NVIDIA GPUDirect RDMA manual: Tesla/data-centre and Quadro/RTX boards, not GeForce or TITAN;
//                       GB10: DGX Spark porting guide, "GPUDirect RDMA"
//   nvlink:             boards whose GPUs are always linked to each other. A bridge over PCIe cards (A100 PCIe, H100
//   NVL,
//                       RTX A6000 …) is an option that no file shows: false
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/nccl/model.hpp"

namespace gdrcheck::nccl {
namespace {

enum class Link : std::uint8_t { none, nvlink, c2c, nvlink_c2c };

struct Board {
    std::uint16_t device;
    std::uint8_t compute_capability;
    Link link;
    bool gdr;
    const char* name;
};

using enum Link;
constexpr auto boards = std::to_array<Board>({
    {0x15f0, 60, none, true, "Quadro GP100"},
    {0x15f7, 60, none, true, "Tesla P100 PCIe 12GB"},
    {0x15f8, 60, none, true, "Tesla P100 PCIe 16GB"},
    {0x15f9, 60, nvlink, true, "Tesla P100 SXM2 16GB"},
    {0x1b38, 61, none, true, "Tesla P40"},
    {0x1bb3, 61, none, true, "Tesla P4"},
    {0x1bb4, 61, none, true, "Tesla P6"},
    {0x1d81, 70, none, false, "TITAN V"},
    {0x1db1, 70, nvlink, true, "Tesla V100 SXM2 16GB"},
    {0x1db2, 70, nvlink, true, "Tesla V100 DGXS 16GB"},
    {0x1db3, 70, none, true, "Tesla V100 FHHL 16GB"},
    {0x1db4, 70, none, true, "Tesla V100 PCIe 16GB"},
    {0x1db5, 70, nvlink, true, "Tesla V100 SXM2 32GB"},
    {0x1db6, 70, none, true, "Tesla V100 PCIe 32GB"},
    {0x1db7, 70, nvlink, true, "Tesla V100 DGXS 32GB"},
    {0x1db8, 70, nvlink, true, "Tesla V100 SXM3 32GB"},
    {0x1dba, 70, none, true, "Quadro GV100"},
    {0x1df5, 70, nvlink, true, "Tesla V100 SXM2 16GB"},
    {0x1df6, 70, none, true, "Tesla V100S PCIe 32GB"},
    {0x1e30, 75, none, true, "Quadro RTX 6000/8000"},
    {0x1e37, 75, none, true, "Tesla T10"},
    {0x1e38, 75, none, true, "Tesla T40 24GB"},
    {0x1e78, 75, none, true, "Quadro RTX 6000/8000"},
    {0x1eb4, 75, none, true, "T4G"},
    {0x1eb8, 75, none, true, "Tesla T4"},
    {0x20b0, 80, nvlink, true, "A100 SXM4 40GB"},
    {0x20b1, 80, none, true, "A100 PCIe 40GB"},
    {0x20b2, 80, nvlink, true, "A100 SXM4 80GB"},
    {0x20b3, 80, nvlink, true, "A100 SXM 64GB"},
    {0x20b5, 80, none, true, "A100 PCIe 80GB"},
    {0x20b7, 80, none, true, "A30 PCIe"},
    {0x20b8, 80, none, true, "A100X"},
    {0x20b9, 80, none, true, "A30X"},
    {0x20bd, 80, nvlink, true, "A800 SXM4 40GB"},
    {0x20f1, 80, none, true, "A100 PCIe 40GB"},
    {0x20f3, 80, nvlink, true, "A800 SXM4 80GB"},
    {0x20f5, 80, none, true, "A800 PCIe 80GB"},
    {0x20f6, 80, none, true, "A800 40GB Active"},
    {0x20fd, 80, none, true, "AX800"},
    {0x2230, 86, none, true, "RTX A6000"},
    {0x2235, 86, none, true, "A40"},
    {0x2236, 86, none, true, "A10"},
    {0x2237, 86, none, true, "A10G"},
    {0x2238, 86, none, true, "A10M"},
    {0x230c, 90, nvlink, true, "H20 NVL16"},
    {0x230e, 90, nvlink, true, "H20 NVL16"},
    {0x2313, 90, none, true, "H100 CNX"},
    {0x2321, 90, none, true, "H100 NVL 94GB"},
    {0x2322, 90, none, true, "H800 PCIe"},
    {0x2324, 90, nvlink, true, "H800 SXM5 80GB"},
    {0x2329, 90, nvlink, true, "H20"},
    {0x232c, 90, nvlink, true, "H20 HBM3e"},
    {0x2330, 90, nvlink, true, "H100 SXM5 80GB"},
    {0x2331, 90, none, true, "H100 PCIe"},
    {0x2335, 90, nvlink, true, "H200 SXM 141GB"},
    {0x2337, 90, nvlink, true, "H100 SXM5 64GB"},
    {0x2338, 90, nvlink, true, "H100 SXM5 96GB"},
    {0x2339, 90, nvlink, true, "H100 SXM5 94GB"},
    {0x233a, 90, none, true, "H800 NVL 94GB"},
    {0x233b, 90, none, true, "H200 NVL"},
    {0x2342, 90, c2c, true, "GH200 120GB/480GB"},
    {0x2348, 90, c2c, true, "GH200 144GB HBM3e"},
    {0x25b6, 86, none, true, "A2/A16"},
    {0x26b1, 89, none, true, "RTX 6000 Ada Generation"},
    {0x26b2, 89, none, true, "RTX 5000 Ada Generation"},
    {0x26b5, 89, none, true, "L40"},
    {0x26b8, 89, none, true, "L40G"},
    {0x26b9, 89, none, true, "L40S"},
    {0x26ba, 89, none, true, "L20"},
    {0x26f5, 89, none, true, "L40 CNX"},
    {0x27b6, 89, none, true, "L2"},
    {0x27b8, 89, none, true, "L4"},
    {0x2901, 100, nvlink, true, "B200"},
    {0x2909, 100, nvlink, true, "B200"},
    {0x2941, 100, nvlink_c2c, true, "GB200"},
    {0x29bc, 100, nvlink, true, "B100"},
    {0x2bb1, 120, none, true, "RTX PRO 6000 Blackwell Workstation Edition"},
    {0x2bb3, 120, none, true, "RTX PRO 5000 Blackwell"},
    {0x2bb4, 120, none, true, "RTX PRO 6000 Blackwell Max-Q Workstation Edition"},
    {0x2bb5, 120, none, true, "RTX PRO 6000 Blackwell Server Edition"},
    {0x2bb9, 120, none, true, "RTX 6000D"},
    {0x2c3a, 120, none, true, "RTX PRO 4500 Blackwell Server Edition"},
    {0x2e12, 121, c2c, false, "GB10"},
    {0x3182, 103, nvlink, true, "B300 SXM6"},
    {0x31c2, 103, nvlink_c2c, true, "GB300"},
    {0x31c3, 103, nvlink_c2c, true, "GB300"},
});

/// Chips that are sold both as GeForce and as professional boards: one block of 128 ids each.
struct Chip {
    std::uint16_t first;
    std::uint8_t compute_capability;
    const char* geforce;
    const char* professional;
};

constexpr auto chips = std::to_array<Chip>({
    {0x1b00, 61, "GeForce (GP102)", "Quadro/Tesla (GP102)"}, {0x1b80, 61, "GeForce (GP104)", "Quadro/Tesla (GP104)"},
    {0x1c00, 61, "GeForce (GP106)", "Quadro (GP106)"},       {0x1c80, 61, "GeForce (GP107)", "Quadro (GP107)"},
    {0x1d00, 61, "GeForce (GP108)", "Quadro (GP108)"},       {0x1e00, 75, "GeForce (TU102)", "Quadro/Tesla (TU102)"},
    {0x1e80, 75, "GeForce (TU104)", "Quadro/Tesla (TU104)"}, {0x1f00, 75, "GeForce (TU106)", "Quadro (TU106)"},
    {0x1f80, 75, "GeForce (TU117)", "Quadro (TU117)"},       {0x2180, 75, "GeForce (TU116)", "Quadro (TU116)"},
    {0x2200, 86, "GeForce (GA102)", "RTX (GA102)"},          {0x2400, 86, "GeForce (GA103)", "RTX (GA103)"},
    {0x2480, 86, "GeForce (GA104)", "RTX (GA104)"},          {0x2500, 86, "GeForce (GA106)", "RTX (GA106)"},
    {0x2580, 86, "GeForce (GA107)", "RTX (GA107)"},          {0x2680, 89, "GeForce (AD102)", "RTX (AD102)"},
    {0x2700, 89, "GeForce (AD103)", "RTX (AD103)"},          {0x2780, 89, "GeForce (AD104)", "RTX (AD104)"},
    {0x2800, 89, "GeForce (AD106)", "RTX (AD106)"},          {0x2880, 89, "GeForce (AD107)", "RTX (AD107)"},
    {0x2b80, 120, "GeForce (GB202)", "RTX PRO (GB202)"},     {0x2c00, 120, "GeForce (GB203)", "RTX PRO (GB203)"},
    {0x2d00, 120, "GeForce (GB206)", "RTX PRO (GB206)"},     {0x2d80, 120, "GeForce (GB207)", "RTX PRO (GB207)"},
    {0x2f00, 120, "GeForce (GB205)", "RTX PRO (GB205)"},
});
constexpr std::uint16_t ids_per_chip = 0x80;

constexpr bool strictly_ascending(std::span<const Board> table) {
    for (std::size_t i = 1; i < table.size(); ++i)
        if (table[i - 1].device >= table[i].device) return false;
    return true;
}
constexpr bool blocks_ascending(std::span<const Chip> table) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i].first % ids_per_chip != 0 || (i > 0 && table[i - 1].first >= table[i].first)) return false;
    return true;
}
static_assert(strictly_ascending(boards), "boards: sorted by device id, each once, for the binary search");
static_assert(blocks_ascending(chips), "chips: sorted blocks of 128 ids, for the binary search");

/// Quadro, Tesla, RTX and data-centre boards have ids 0x.30-0x.3f, 0x.70-0x.7f, 0x.b0-0x.bf and 0x.f0-0x.ff of their
/// chip's block; GeForce, TITAN and CMP boards have the others. True of every board named in the sources above except
/// one GeForce engineering sample (0x24bf).
constexpr bool professional_id(std::uint16_t device) {
    return (device & 0x30) == 0x30;
}

}  // namespace

GpuModel gpu_model(std::uint16_t device_id) {
    const auto board = std::ranges::lower_bound(boards, device_id, {}, &Board::device);
    if (board != boards.end() && board->device == device_id)
        return {.compute_capability = board->compute_capability,
                .gdr = board->gdr,
                .nvlink = board->link == nvlink || board->link == nvlink_c2c,
                .c2c = board->link == c2c || board->link == nvlink_c2c,
                .known = true,
                .name = board->name};

    const auto block = static_cast<std::uint16_t>(device_id & ~(ids_per_chip - 1));
    const auto chip = std::ranges::lower_bound(chips, block, {}, &Chip::first);
    if (chip != chips.end() && chip->first == block) {
        const bool professional = professional_id(device_id);
        return {.compute_capability = chip->compute_capability,
                .gdr = professional,
                .nvlink = false,
                .c2c = false,
                .known = true,
                .name = professional ? chip->professional : chip->geforce};
    }
    return {};
}

}  // namespace gdrcheck::nccl
