#include "common/env/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/base/glob.hpp"
#include "common/base/text.hpp"

namespace gdrcheck {
namespace {

// NCCL parses NCCL_IB_HCA into 32 entries of 64 bytes (net_ib.cc MAX_IB_DEVS, utils.h struct netIf): it drops what
// comes after the 32nd name, and a longer name runs over the entry.
constexpr std::size_t most_hca_names = 32;
constexpr std::size_t longest_name = 63;

/// A name that a list in an environment variable can hold: no comma, colon, blank or character of a shell.
bool is_exportable(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
               c == '.';
    };
    return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), plain);
}

bool matches_any(const std::vector<std::string>& globs, std::string_view name) {
    return std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return glob_matches(glob, name); });
}

bool is_excluded(const Policy::Nics& nics, std::string_view name) {
    return matches_any(nics.exclude, name) || (!nics.compute.empty() && !matches_any(nics.compute, name));
}

/// The variables of NCCL, the same for every rank of the node.
class NodePlan {
  public:
    NodePlan(const NodeFacts& facts, const nccl::Answer& answer, const Policy& policy, EnvPlan& plan)
        : facts_(facts), answer_(answer), policy_(policy), plan_(plan) {}

    void make() {
        exclude_devices();
        // 2.26 has the rule for GPUs at their CPU's NICs, switched off; 2.27 switches it on.
        const auto is_c2c = [](const auto& gpu) { return gpu.model.c2c; };
        const bool is_2_26 = answer_.version.major == 2 && answer_.version.minor == 26;
        if (is_2_26 && std::any_of(answer_.gpus.begin(), answer_.gpus.end(), is_c2c)) add("NCCL_NET_GDR_C2C", "1");
        if (policy_.env.topo_file) add_topology_file();
        if (policy_.env.ib_gid_index) add_ib("NCCL_IB_GID_INDEX", std::to_string(*policy_.env.ib_gid_index));
        if (!policy_.env.net_gdr_level.empty()) add("NCCL_NET_GDR_LEVEL", policy_.env.net_gdr_level);
        if (policy_.env.ib_pci_relaxed_ordering)
            add_ib("NCCL_IB_PCI_RELAXED_ORDERING", std::to_string(*policy_.env.ib_pci_relaxed_ordering));
    }

  private:
    void withhold(std::string_view name, std::string_view why) {
        plan_.withheld.push_back(fmt::format("{}: {}", name, why));
    }

    void add(const std::string& name, const std::string& value) {
        if (!facts_.nccl_conf_why.empty()) return withhold(name, facts_.nccl_conf_why);
        const auto set = std::find_if(facts_.nccl_conf.begin(), facts_.nccl_conf.end(),
                                      [&](const auto& entry) { return entry.key == name; });
        if (set != facts_.nccl_conf.end()) return withhold(name, fmt::format("set in {}:{}", set->file, set->line));
        plan_.node.emplace_back(name, value);
    }

    void add_ib(const std::string& name, const std::string& value) {
        if (answer_.net_plugin)
            return withhold(name, fmt::format("NCCL does not use its IB transport: {}", answer_.net_plugin_why));
        add(name, value);
    }

    // One list for all ranks, and never the NIC of a rank's own GPU: NCCL fuses the topologies of a node's ranks, and
    // where each rank had its own NCCL_IB_HCA, 8 channels at 48 GB/s became 2 at 24 (measured with NCCL 2.28.9).
    // "=" because names are prefixes without it: ^mlx5_1 drops mlx5_10 as well. Whether a port is up does not count:
    // that changes between the prolog and the job, and from node to node.
    void exclude_devices() {
        std::vector<std::string> excluded;
        std::vector<std::string> hostile;
        for (const auto& device : facts_.rdma) {
            if (!is_excluded(policy_.nics, device.name)) continue;
            (is_exportable(device.name) ? excluded : hostile).push_back(device.name);
        }
        for (const auto& name : hostile) {
            withhold("NCCL_IB_HCA", fmt::format("device {} left out: not a name for a list", quoted(name)));
        }
        if (excluded.empty()) return;
        if (excluded.size() == facts_.rdma.size())
            return withhold("NCCL_IB_HCA", "[nics] leaves no RDMA device: the job would run over TCP");
        if (excluded.size() > most_hca_names)
            return withhold("NCCL_IB_HCA", fmt::format("[nics] excludes {} devices, NCCL reads {} names",
                                                       excluded.size(), most_hca_names));
        std::sort(excluded.begin(), excluded.end(), natural_less);
        std::string value = "^=";
        for (const auto& name : excluded) {
            if (value.size() > 2) value += ',';
            value += name;
        }
        add_ib("NCCL_IB_HCA", value);
    }

    void add_topology_file() {
        const auto& path = policy_.nccl.topo_file;
        if (path.empty()) return withhold("NCCL_TOPO_FILE", "[nccl] topo_file names no file");
        // NCCL ends the job on a topology file that it cannot parse
        const bool is_read = facts_.topology && facts_.topology->path == path;
        if (is_read && !facts_.topology->system.known()) return withhold("NCCL_TOPO_FILE", facts_.topology->system.why);
        add("NCCL_TOPO_FILE", path);
    }

    const NodeFacts& facts_;
    const nccl::Answer& answer_;
    const Policy& policy_;
    EnvPlan& plan_;
};

const char* gdr_word(const nccl::GpuAnswer& gpu) {
    if (gpu.status == nccl::GpuStatus::relay) return "relay";
    if (gpu.status != nccl::GpuStatus::gdr) return "none";
    switch (gpu.via) {
        case nccl::Via::dmabuf:
            return "dmabuf";
        case nccl::Via::peermem:
            return "peermem";
        case nccl::Via::none:
            break;
    }
    return "none";
}

/// "mlx5_0:1", the form UCX and NVSHMEM share; nullopt: NCCL uses no port of the device.
std::optional<std::string> device_and_port(const nccl::Answer& answer, const std::string& name) {
    for (const auto& nic : answer.nics) {
        if (nic.name == name && !nic.used_ports.empty()) return fmt::format("{}:{}", name, nic.used_ports.front());
    }
    return std::nullopt;
}

GpuEnvironment plan_gpu(const PciAddress& address, const nccl::GpuAnswer& gpu, const nccl::Answer& answer,
                        const Policy& policy, std::vector<std::string>& withheld) {
    GpuEnvironment environment{.gpu = gpu.gpu};
    auto& variables = environment.variables;
    const bool exportable = is_exportable(gpu.nic);
    variables.emplace_back("GDRCHECK_GPU", to_string(address));
    if (exportable) variables.emplace_back("GDRCHECK_NIC", gpu.nic);
    variables.emplace_back("GDRCHECK_PATH", nccl::to_string(gpu.path));
    variables.emplace_back("GDRCHECK_GDR", gdr_word(gpu));
    if (!gpu.nic.empty() && !exportable)
        withheld.push_back(
            fmt::format("GDRCHECK_NIC of {}: {} is not a name for a list", to_string(address), quoted(gpu.nic)));
    const auto port = exportable ? device_and_port(answer, gpu.nic) : std::nullopt;
    if (port && policy.env.ucx_net_devices) variables.emplace_back("UCX_NET_DEVICES", *port);
    if (port && policy.env.nvshmem_hca_list) variables.emplace_back("NVSHMEM_HCA_LIST", *port);
    return environment;
}

}  // namespace

EnvPlan plan_environment(const NodeFacts& facts, const nccl::Answer& answer, const Policy& policy) {
    EnvPlan plan;
    NodePlan(facts, answer, policy, plan).make();
    for (const auto& gpu : answer.gpus) {
        if (gpu.gpu >= facts.gpus.size()) continue;
        plan.gpus.push_back(plan_gpu(facts.gpus[gpu.gpu].pci, gpu, answer, policy, plan.withheld));
    }
    return plan;
}

}  // namespace gdrcheck
