#include "prolog/gdrcheck/node_source.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/base/text.hpp"
#include "common/probe/probe.hpp"
#include "common/snapshot/snapshot.hpp"
#include "prolog/gdrcheck/configuration.hpp"
#include "prolog/gdrcheck/host.hpp"

namespace gdrcheck::cli {
namespace {

constexpr std::size_t largest_topology_file = std::size_t{4} * 1024 * 1024;
constexpr std::size_t most_versions = 32;
constexpr const char* facts_path = "/gdrcheck/facts.json";

Result<std::vector<nccl::Version>> parse_versions(const std::vector<std::string>& texts) {
    if (texts.size() > most_versions) return fail(fmt::format("more than {} NCCL versions", most_versions));
    std::vector<nccl::Version> versions;
    for (const auto& text : texts) {
        const auto version = nccl::parse_version(text);
        if (!version) return tl::unexpected(version.error());
        versions.push_back(*version);
    }
    return versions;
}

/// --nccl 2.28,2.21 --nccl 2.27
std::vector<std::string> listed(const std::vector<std::string>& options) {
    std::vector<std::string> items;
    for (const auto& option : options) {
        for (const auto item : split(option, ',')) items.emplace_back(trim(item));
    }
    return items;
}

probe::Options probe_options(const NodeSource& source) {
    probe::Options options;
    options.host = source.host;
    options.topology_file_path = source.policy.policy.nccl.topo_file;
    if (options.topology_file_path.empty()) return options;
    auto file = read_host_file(options.topology_file_path, largest_topology_file);
    if (file) {
        options.topology_file_text = std::move(file->text);
    } else {
        options.topology_file_error = file.error().what;
    }
    return options;
}

/// "dgx" for /tmp/dgx/ and for dgx.tar.gz.
std::string tree_name(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    auto name = std::string(last_component(path));
    for (const std::string_view ending : {".gz", ".xz", ".zst", ".tar", ".tgz"}) {
        if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    return name;
}

}  // namespace

Result<RootFs> open_root(const std::string& path, RootFs::Resolution resolution) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        return fail(fmt::format("--root {}: {}", path, std::strerror(errno)), errno);
    if (S_ISDIR(status.st_mode)) return RootFs::open(path, resolution);
    if (!S_ISREG(status.st_mode)) return fail(fmt::format("--root {}: neither a directory nor a file", path));
    auto tree = read_archive(path);
    if (!tree) return tl::unexpected(tree.error());
    return RootFs::from_tree(std::move(*tree));
}

std::string host_in(const RootFs& root, const std::string& path) {
    if (auto text = root.read(facts_path, std::size_t{16} * 1024 * 1024)) {
        MemoryTree tree;
        tree.entries[facts_path].data = std::move(*text);
        if (const auto facts = read_facts(tree); facts && !facts->host.empty()) return facts->host;
    }
    for (const auto* file : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
        if (const auto name = root.read_line(file); name && !name->empty()) return *name;
    }
    return tree_name(path);
}

Result<NodeSource> open_node(const NodeOptions& options) {
    if (options.root) {
        auto root = open_root(*options.root, RootFs::Resolution::kernel);
        if (!root) return tl::unexpected(root.error());
        auto host = host_in(*root, *options.root);
        auto policy = given_configuration(options.config, without_domain(host));
        if (!policy) return tl::unexpected(policy.error());
        return NodeSource{std::move(*root), std::move(host), std::move(*policy)};
    }
    auto policy = find_configuration(options.config, node_name());
    if (!policy) return tl::unexpected(policy.error());
    const auto directory = expand_probe_root(policy->policy.probe.root, node_name());
    if (!directory) return tl::unexpected(directory.error());
    auto root = RootFs::open(*directory);
    if (!root) return tl::unexpected(root.error());
    return NodeSource{std::move(*root), host_name(), std::move(*policy)};
}

Result<JudgedNode> judge_node(const NodeOptions& options) {
    auto source = open_node(options);
    if (!source) return tl::unexpected(source.error());
    auto& policy = source->policy.policy;
    if (!options.nccl.empty()) policy.nccl.assume = listed(options.nccl);
    auto versions = parse_versions(policy.nccl.assume);
    if (!versions) return tl::unexpected(versions.error());

    JudgedNode node{probe::read_node(source->root, probe_options(*source)), {}, {}};
    JudgeOptions judge_options;
    judge_options.versions = std::move(*versions);
    // A bus that cannot be read has no GPU to name: that is the node's fault, not the list's.
    const bool bus_is_readable = node.facts.pci_readable.known();
    if (options.gpus && (bus_is_readable || !node.facts.gpus.empty())) {
        auto scope = resolve_gpus(node.facts, *options.gpus);
        if (!scope) return tl::unexpected(scope.error());
        judge_options.scope = std::move(*scope);
    }
    node.verdict = judge(node.facts, policy, judge_options);
    node.policy = std::move(source->policy);
    return node;
}

}  // namespace gdrcheck::cli
