#include "common/nccl/rules.hpp"

#include <array>

namespace gdrcheck::nccl {
namespace {

constexpr PeermemFiles files_to_2_21{.nv_mem = true, .nvidia_peermem = true};
constexpr PeermemFiles files_of_2_22{.nv_mem = true, .nv_mem_nc = true};
constexpr PeermemFiles files_from_2_23{.nv_mem = true, .nv_mem_nc = true, .module = true};

// graph/topo.h: one figure per vendor (Skylake apart) until 2.21; finer ones later.
constexpr SocketBandwidths sockets_to_2_21{6.0F, 10.0F, 10.0F, 10.0F, 16.0F, 16.0F, 16.0F};
constexpr SocketBandwidths sockets_from_2_22{6.0F, 10.0F, 22.0F, 40.0F, 16.0F, 16.0F, 16.0F};
constexpr SocketBandwidths sockets_from_2_29{6.0F, 10.0F, 22.0F, 40.0F, 16.0F, 24.0F, 32.0F};

// One row per release in which a rule changed, each said as its difference from the one before. Sources: net_ib.cc and
// graph/{topo,paths,xml}.cc of each tag; the rows that 2.21.5, 2.27.7 and 2.28.9 use are also held against NCCL's own
// code by tests/machines, the others rest on reading.
constexpr auto make_table() {
    std::array<Rules, 11> table{};
    std::size_t row = 0;
    Rules rules{.since = {2, 18, 0},
                .peermem_files = files_to_2_21,
                .send_needs_nvlink_on_any_gpu = true,
                .c2c = C2cRule::none,
                .net_gdr_c2c_default = false,
                .pxn_c2c_default = false,
                .merging = Merging::none,
                .max_merged_ports = 1,
                .flatten_broadcom_gen5 = false,
                .broadcom_links = false,
                .fuses_ranks = false,
                .data_direct = false,
                .rails = false,
                .sockets = sockets_to_2_21};
    table[row++] = rules;

    rules.since = {2, 19, 0};
    rules.send_needs_nvlink_on_any_gpu = false;
    table[row++] = rules;

    rules.since = {2, 20, 0};
    rules.merging = Merging::by_card;
    rules.max_merged_ports = 2;
    rules.flatten_broadcom_gen5 = true;
    table[row++] = rules;

    rules.since = {2, 22, 0};
    rules.peermem_files = files_of_2_22;
    rules.broadcom_links = true;
    rules.fuses_ranks = true;
    rules.sockets = sockets_from_2_22;
    table[row++] = rules;

    rules.since = {2, 23, 0};
    rules.peermem_files = files_from_2_23;
    table[row++] = rules;

    rules.since = {2, 24, 0};
    rules.merging = Merging::fused;
    rules.max_merged_ports = 4;
    table[row++] = rules;

    rules.since = {2, 26, 0};
    rules.c2c = C2cRule::as_c2c;
    table[row++] = rules;

    rules.since = {2, 27, 0};
    rules.c2c = C2cRule::p2c;
    rules.net_gdr_c2c_default = true;
    rules.data_direct = true;
    table[row++] = rules;

    rules.since = {2, 28, 0};
    rules.pxn_c2c_default = true;
    table[row++] = rules;

    rules.since = {2, 29, 0};
    rules.sockets = sockets_from_2_29;
    table[row++] = rules;

    rules.since = {2, 30, 0};
    rules.c2c = C2cRule::p2c_local;
    rules.rails = true;
    table[row++] = rules;
    return table;
}
constexpr auto rules_table = make_table();
static_assert(rules_table.back().since == Version{2, 30, 0});

// Last release of each 2.Y, from the tags of github.com/NVIDIA/nccl.
struct LastPatch {
    int minor;
    int patch;
};
constexpr std::array last_patches{
    LastPatch{18, 6}, LastPatch{19, 4}, LastPatch{20, 5}, LastPatch{21, 5}, LastPatch{22, 3},
    LastPatch{23, 4}, LastPatch{24, 3}, LastPatch{25, 1}, LastPatch{26, 5}, LastPatch{27, 7},
    LastPatch{28, 9}, LastPatch{29, 7}, LastPatch{30, 7},
};

}  // namespace

const Rules& rules_for(const Version& version) {
    const Rules* found = &rules_table.front();
    for (const auto& rules : rules_table) {
        if (rules.since <= version) found = &rules;
    }
    return *found;
}

Version oldest_version() {
    return {2, last_patches.front().minor, last_patches.front().patch};
}

Version newest_version() {
    return {2, last_patches.back().minor, last_patches.back().patch};
}

int last_patch(int minor) {
    for (const auto& entry : last_patches) {
        if (entry.minor == minor) return entry.patch;
    }
    return 0;
}

}  // namespace gdrcheck::nccl
