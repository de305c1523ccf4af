// Which node is looked at: this host, a directory that stands for one, or a snapshot of one.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/base/rootfs.hpp"
#include "common/facts/node_facts.hpp"
#include "common/policy/policy.hpp"
#include "common/verdict/verdict.hpp"
#include "prolog/gdrcheck/commands.hpp"

namespace gdrcheck::cli {

struct NodeSource {
    RootFs root;
    std::string host;
    EffectivePolicy policy;
};

/// `path` as --root takes it: a directory, or an archive.
[[nodiscard]] Result<RootFs> open_root(const std::string& path, RootFs::Resolution resolution);

/// The host's name as the tree at `path` tells it; the tree's own name when it does not.
[[nodiscard]] std::string host_in(const RootFs& root, const std::string& path);

/// Opens what the options name and finds its policy.
[[nodiscard]] Result<NodeSource> open_node(const NodeOptions& options);

struct JudgedNode {
    NodeFacts facts;
    EffectivePolicy policy;
    Verdict verdict;
};

/// Options in, verdict out; every error is one of usage or configuration.
[[nodiscard]] Result<JudgedNode> judge_node(const NodeOptions& options);

}  // namespace gdrcheck::cli
