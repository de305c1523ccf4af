#include <string>
#include <string_view>
#include <utility>

#include "common/snapshot/facts_file.hpp"
#include "common/snapshot/scrub.hpp"
#include "common/snapshot/snapshot.hpp"

namespace gdrcheck {
namespace {

/// A host name comes from outside and becomes a directory's name.
std::string top_directory(std::string_view host) {
    constexpr std::size_t longest = 64;  // HOST_NAME_MAX
    std::string name(host.substr(0, longest));
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '_' || c == '.';
        if (!plain) c = '_';
    }
    return "/gdrcheck-" + (name.empty() ? "node" : name);
}

}  // namespace

MemoryTree finish(MemoryTree recorded, const SnapshotOptions& options) {
    SnapshotFacts facts{
        .version = options.version, .host = options.host, .time_utc = options.time_utc, .scrubbed = options.scrub};
    if (options.scrub) {
        auto scrubbed = snapshot::scrub(recorded, options.host);
        recorded = std::move(scrubbed.tree);
        facts.host = std::move(scrubbed.host);
        facts.withheld = std::move(scrubbed.withheld);
    }
    facts.errors = recorded.errors;

    const std::string top = top_directory(facts.host);
    MemoryTree finished;
    while (!recorded.entries.empty()) {
        auto entry = recorded.entries.extract(recorded.entries.begin());
        entry.key().insert(0, top);
        finished.entries.insert(finished.entries.end(), std::move(entry));
    }
    finished.entries.insert_or_assign(top + snapshot::facts_path,
                                      MemoryTree::Entry{MemoryTree::Entry::Kind::file, snapshot::to_json(facts)});
    for (const auto& [path, code] : recorded.errors) finished.errors.emplace(top + path, code);
    return finished;
}

}  // namespace gdrcheck
