// What NCCL itself reads: /etc/nccl.conf and a topology file.
#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/probe/probe.hpp"
#include "common/probe/topology_file.hpp"

namespace gdrcheck::probe {
namespace {

constexpr const char* conf_path = "/etc/nccl.conf";
constexpr const char* default_topology_path = "/var/run/nvidia-topologyd/virtualTopology.xml";
constexpr std::size_t conf_limit = std::size_t{1} << 20;
constexpr std::size_t topology_limit = std::size_t{4} << 20;
constexpr std::size_t longest_part = 1023;  ///< NCCL cuts keys and values here

/// As NCCL does (param.cc setEnvFile): a comment is a line whose first byte is '#', blanks belong to key and value.
std::vector<NcclConfEntry> parse_conf(std::string_view text) {
    std::vector<NcclConfEntry> entries;
    int number = 0;
    for (auto line : split(text, '\n')) {
        ++number;
        line = line.substr(0, line.find('\0'));
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) continue;
        entries.push_back({.file = conf_path,
                           .line = number,
                           .key = std::string(line.substr(0, std::min(equals, longest_part))),
                           .value = std::string(line.substr(equals + 1, longest_part))});
    }
    return entries;
}

TopologyFile read_topology(const RootFs& root, const std::string& path, std::string source) {
    TopologyFile file{.path = path, .source = std::move(source)};
    if (!path.starts_with('/')) {
        file.system.why = quoted(path) + ": a relative path, taken from the directory of the job";
        return file;
    }
    const auto text = root.read(path, topology_limit);
    if (text) {
        file.system = parse_topology(*text, path);
    } else {
        file.system.why = text.error().what;
    }
    return file;
}

}  // namespace

void read_nccl_conf(const RootFs& root, const Options& options, NodeFacts& facts) {
    if (const auto text = root.read(conf_path, conf_limit)) {
        facts.nccl_conf = parse_conf(*text);
    } else if (text.error().code != ENOENT) {
        facts.nccl_conf_why = text.error().what;
    }

    if (!options.topology_file_path.empty()) {
        TopologyFile file{.path = options.topology_file_path, .source = "policy [nccl] topo_file"};
        if (options.topology_file_error.empty()) {
            file.system = parse_topology(options.topology_file_text, file.path);
        } else {
            file.system.why = options.topology_file_error;
        }
        facts.topology = std::move(file);
        return;
    }
    const auto setting = std::find_if(facts.nccl_conf.begin(), facts.nccl_conf.end(),
                                      [](const auto& entry) { return entry.key == "NCCL_TOPO_FILE"; });
    if (setting != facts.nccl_conf.end() && !setting->value.empty()) {
        facts.topology = read_topology(root, setting->value, setting->file + ':' + std::to_string(setting->line));
    } else if (root.exists(default_topology_path)) {
        facts.topology = read_topology(root, default_topology_path, "default path");
    }
}

}  // namespace gdrcheck::probe
