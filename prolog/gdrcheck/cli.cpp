#include "prolog/gdrcheck/cli.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/base/text.hpp"
#include "common/policy/nearest.hpp"
#include "prolog/gdrcheck/output.hpp"

namespace gdrcheck::cli {
namespace {

constexpr const char* about =
    "Tells before a job starts whether NCCL will have GPUDirect RDMA (GDR) on this\n"
    "node. Without a command: node.";
constexpr const char* exit_codes =
    "Exit status: 0 ok, degraded or not applicable; 1 fail; 2 usage or configuration\n"
    "error; 3 unknown. 'gdrcheck COMMAND --help' tells the options of a command.";

constexpr std::size_t help_column = 24;
constexpr std::size_t far_off = 3;  ///< edits beyond which a word was not meant

/// Everything the command line can say; `run` is the command that it said.
struct CommandLine {
    Clock::time_point start;
    NodeOptions node;
    NodeOptions topo;
    EnvOptions env;
    ExplainOptions explain;
    SnapshotCommandOptions snapshot;
    ConfigOptions config;
    bool checks_json = false;
    std::function<int()> run;
};

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      std::function<void()> chosen) {
    auto* command = app.add_subcommand(name, description);
    command->allow_extras();  // told by us, with the nearest option
    command->set_help_flag("-h,--help", "This help");
    command->get_formatter()->column_width(help_column);
    command->callback(std::move(chosen));
    return *command;
}

void add_node_options(CLI::App& command, NodeOptions& options) {
    command.add_option("--root", options.root, "Judge this tree or snapshot instead of the host")
        ->type_name("DIR|FILE");
    command.add_option("--gpus", options.gpus, "Only these: device minor, UUID, MIG id, address")->type_name("LIST");
    command.add_option("--nccl", options.nccl, "Assume these NCCL versions; X.Y: its last one")
        ->type_name("X.Y[.Z]")
        ->expected(1)
        ->take_all();
    command.add_option("--config", options.config, "Policy; else gdrcheck.toml beside slurm.conf")->type_name("FILE");
    command.add_flag("--json", options.json, "JSON, schema 1");
}

void add_judging_commands(CLI::App& app, CommandLine& line) {
    add_node_options(add_command(app, "node", "The verdict of this node (the default)",
                                 [&line] { line.run = [&line] { return run_node(line.node, line.start); }; }),
                     line.node);
    add_node_options(add_command(app, "topo", "The PCIe tree and the GPU x NIC matrix",
                                 [&line] { line.run = [&line] { return run_topo(line.topo, line.start); }; }),
                     line.topo);
    auto& env = add_command(app, "env", "The variables that a job gets, as export lines",
                            [&line] { line.run = [&line] { return run_env(line.env); }; });
    add_node_options(env, line.env.node);
    env.add_option("--format", line.env.format, "sh or json")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"sh", "json"}));
}

void add_reference_commands(CLI::App& app, CommandLine& line) {
    auto& explain = add_command(app, "explain", "What a finding means, its evidence, its fix",
                                [&line] { line.run = [&line] { return run_explain(line.explain); }; });
    explain.add_option("SLUG", line.explain.slug, "As in a finding or a drain reason: peermem-missing")->required();
    explain.add_flag("--json", line.explain.json, "JSON, schema 1");
    add_command(app, "checks", "The catalogue of findings", [&line] {
        line.run = [&line] { return run_checks(line.checks_json); };
    }).add_flag("--json", line.checks_json, "JSON, schema 1");
    auto& config = add_command(app, "config", "The policy for this node, and where each value is from",
                               [&line] { line.run = [&line] { return run_config(line.config); }; });
    config.add_option("--config", line.config.config, "This file; else the one found")->type_name("FILE");
    config.add_flag("--json", line.config.json, "JSON, schema 1");
}

void add_snapshot_command(CLI::App& app, CommandLine& line) {
    auto& snapshot = add_command(app, "snapshot", "Everything that was read of this node, to replay elsewhere",
                                 [&line] { line.run = [&line] { return run_snapshot(line.snapshot); }; });
    snapshot.add_option("-o,--output", line.snapshot.file, "The archive to write")
        ->type_name("FILE.tar.gz")
        ->required();
    snapshot.add_option("--root", line.snapshot.root, "Of this tree or snapshot, not of the host")
        ->type_name("DIR|FILE");
    snapshot.add_flag("--scrub", line.snapshot.scrub, "Replace names, addresses, GUIDs and serial numbers");
}

/// "; did you mean WORD?", or nothing when no candidate is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    const auto nearest = config::nearest_word(word, views);
    if (nearest.empty() || config::edit_distance(word, nearest) > far_off) return {};
    return fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

int refuse(const std::string& message) {
    say(message);
    return exit_usage;
}

int refuse_extra(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& extras) {
    const auto is_option = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
    const auto found = std::find_if(extras.begin(), extras.end(), is_option);
    if (found == extras.end()) {
        const auto& word = extras.front();
        const auto names = command_names(app);
        const bool is_command = std::find(names.begin(), names.end(), word) != names.end();
        return refuse(is_command ? fmt::format("the command comes first: gdrcheck {} [options]", word)
                                 : fmt::format("{}: unexpected argument {}", command.get_name(), gdrcheck::quoted(word)));
    }
    const auto name = found->substr(0, found->find('='));
    return refuse(fmt::format("{}: unknown option {}{}", command.get_name(), gdrcheck::quoted(name),
                              suggestion(name, option_names(command))));
}

/// The words after the program's name, with the default command where none is given.
Result<std::vector<std::string>> with_command(const CLI::App& app, std::vector<std::string> words) {
    const bool asks_about_us =
        !words.empty() && (words.front() == "-h" || words.front() == "--help" || words.front() == "--version");
    if (asks_about_us) return words;
    if (words.empty() || words.front().starts_with('-')) {
        words.insert(words.begin(), "node");
        return words;
    }
    const auto names = command_names(app);
    if (std::find(names.begin(), names.end(), words.front()) != names.end()) return words;
    return fail(fmt::format("unknown command {}{}", gdrcheck::quoted(words.front()), suggestion(words.front(), names)));
}

/// CLI11 writes for its own conventions; the first line is enough.
std::string message_of(const CLI::ParseError& error) {
    return std::string(first_line(error.what()));
}

int parse_and_run(CLI::App& app, CommandLine& line, std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // the order in which CLI11 takes them
    try {
        app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        return print_result(chosen.empty() ? app.help() : chosen.front()->help(), exit_ok);
    } catch (const CLI::CallForVersion&) {
        return print_result(fmt::format("gdrcheck {}\n", GDRCHECK_VERSION), exit_ok);
    } catch (const CLI::ParseError& error) {
        return refuse(message_of(error));
    }
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) return refuse("no command");
    const auto extras = chosen.front()->remaining();
    if (!extras.empty()) return refuse_extra(app, *chosen.front(), extras);
    return line.run();
}

}  // namespace

int run_command_line(int argc, char** argv, Clock::time_point start) {
    CLI::App app(about, "gdrcheck");
    app.set_help_flag("-h,--help", "This help");
    app.set_version_flag("--version", GDRCHECK_VERSION);
    app.footer(exit_codes);
    app.get_formatter()->column_width(help_column);
    CommandLine line;
    line.start = start;
    add_judging_commands(app, line);
    add_reference_commands(app, line);
    add_snapshot_command(app, line);
    auto words = with_command(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    if (!words) return refuse(words.error().what);
    return parse_and_run(app, line, std::move(*words));
}

}  // namespace gdrcheck::cli
