// Kernel modules from /sys/module, and peer-memory clients (drivers/infiniband/core/peer_mem.c of the stacks that have
// it).
#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::string_view modules_directory = "/sys/module";
constexpr std::string_view memory_peers_directory = "/sys/kernel/mm/memory_peers";

constexpr std::size_t proc_modules_limit = std::size_t{1} << 20;

constexpr std::array<std::string_view, 22> modules_that_matter{
    "nvidia",     "nvidia_uvm", "nvidia_peermem", "nv_peer_mem", "ib_core", "ib_uverbs", "mlx5_core",      "mlx5_ib",
    "mlx_compat", "bnxt_en",    "bnxt_re",        "ib_peer_mem", "irdma",   "efa",       "efa_nv_peermem", "mana_ib",
    "ionic_rdma", "qedr",       "rdma_rxe",       "siw",         "cxi_ss1", "gdrdrv"};

bool matters(std::string_view name) {
    return name.starts_with("cxi_") ||
           std::find(modules_that_matter.begin(), modules_that_matter.end(), name) != modules_that_matter.end();
}

KernelModule read_module(const RootFs& root, const std::string& name) {
    KernelModule module;
    const auto path = join_path(modules_directory, name);
    const auto directory = root.directory(path);
    if (!directory) {
        module.state = "unknown";
        return module;
    }
    const auto state = directory->read_line("initstate");
    module.state = state ? *state : state.error().code == ENOENT ? "builtin" : "unknown";
    module.version = directory->read_line("version").value_or("");
    module.taint = directory->read_line("taint").value_or("");
    if (auto holders = root.list(path + "/holders")) module.holders = *std::move(holders);
    return module;
}

/// Where there is no /sys/module (a tree that holds only some files): name, size, users, holders, state, address,
/// taint.
void read_proc_modules(const RootFs& root, NodeFacts& facts) {
    const auto text = root.read("/proc/modules", proc_modules_limit);
    if (!text) return;
    facts.modules_readable = true;
    for (const auto line : split(*text, '\n')) {
        const auto fields = split(line, ' ');
        if (fields.size() < 5 || !matters(fields[0])) continue;
        KernelModule module;
        for (const auto holder : split(fields[3], ',')) {
            if (!holder.empty() && holder != "-") module.holders.emplace_back(holder);
        }
        module.state = fields[4] == "Live" ? "live" : fields[4] == "Loading" ? "coming" : "going";
        if (fields.size() > 6 && fields[6].starts_with('('))
            module.taint = fields[6].substr(1, fields[6].find(')') - 1);
        std::sort(module.holders.begin(), module.holders.end());
        facts.modules.emplace(fields[0], std::move(module));
    }
}

void read_memory_peers(const RootFs& root, NodeFacts& facts) {
    const auto clients = root.list(memory_peers_directory);
    if (!clients) {
        if (clients.error().code == ENOENT) {
            facts.memory_peers_readable.value = false;
        } else {
            facts.memory_peers_readable.why = clients.error().what;
        }
        return;
    }
    facts.memory_peers_readable.value = true;
    for (const auto& client : *clients) {
        const auto version = root.read_line(join_path(memory_peers_directory, client) + "/version");
        facts.memory_peers.emplace(client, version.value_or(""));
    }
}

}  // namespace

void read_modules(const RootFs& root, NodeFacts& facts) {
    if (const auto names = root.list(modules_directory)) {
        facts.modules_readable = true;
        for (const auto& name : *names) {
            if (matters(name)) facts.modules.emplace(name, read_module(root, name));
        }
    } else {
        read_proc_modules(root, facts);
    }
    read_memory_peers(root, facts);
}

}  // namespace gdrcheck::probe
