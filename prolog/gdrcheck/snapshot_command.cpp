// snapshot: reads the node as the verdict would, and keeps what was read.
#include <fmt/core.h>

#include <array>
#include <ctime>
#include <string>

#include "common/base/rootfs.hpp"
#include "common/probe/probe.hpp"
#include "common/snapshot/snapshot.hpp"
#include "prolog/gdrcheck/commands.hpp"
#include "prolog/gdrcheck/host.hpp"
#include "prolog/gdrcheck/node_source.hpp"
#include "prolog/gdrcheck/output.hpp"

namespace gdrcheck::cli {
namespace {

std::string time_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&now, &parts) == nullptr) return {};
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), length};
}

Result<std::string> take(const SnapshotCommandOptions& options) {
    auto root =
        options.root ? open_root(*options.root, RootFs::Resolution::own) : RootFs::open("/", RootFs::Resolution::own);
    if (!root) return tl::unexpected(root.error());
    const auto host = options.root ? host_in(*root, *options.root) : host_name();
    MemoryTree recording;
    root->record_into(&recording);
    (void)probe::read_node(*root, {.host = host});
    root->record_into(nullptr);

    const auto tree = finish(std::move(recording), {options.scrub, host, time_utc(), GDRCHECK_VERSION});
    if (auto written = write_archive(options.file, tree); !written) return tl::unexpected(written.error());
    if (options.scrub) {
        const auto facts = read_facts(tree);
        if (facts && !facts->withheld.empty()) {
            say(fmt::format("{} files left out, because no rule tells how to scrub them", facts->withheld.size()));
        }
    }
    return fmt::format("{}: {} entries\n", options.file, tree.entries.size());
}

}  // namespace

int run_snapshot(const SnapshotCommandOptions& options) {
    const auto done = take(options);
    if (!done) {
        say(done.error().what);
        return exit_usage;
    }
    return print_result(*done, exit_ok);
}

}  // namespace gdrcheck::cli
