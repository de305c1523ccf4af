#include "prolog/gdrcheck/cli.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
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
constexpr const char* more =
    "'gdrcheck COMMAND --help' tells the options of a command.\n"
    "Exit status: 0 ok, degraded or not applicable; 1 fail; 2 usage or configuration\n"
    "error; 3 unknown.";

/// A command in words.
struct Words {
    const char* summary;  ///< in the list of commands
    const char* about;    ///< in its own help
    const char* more;
};

constexpr Words node_words{"The verdict of this node (the default)",
                           "Reads the kernel's files and says for every GPU whether NCCL will reach the\n"
                           "network directly. No call to CUDA, NVML or verbs.",
                           "  gdrcheck node --gpus 0,3 --nccl 2.28,2.21\n"
                           "  gdrcheck node --root node17.tar.gz --json\n"
                           "Exit status: 0 ok, degraded or not applicable; 1 fail; 2 usage or configuration\n"
                           "error; 3 unknown."};
constexpr Words topo_words{"The PCIe tree and the GPU x NIC matrix",
                           "The PCIe tree with GPUs, NICs, switches and what is wrong with their links, then\n"
                           "the matrix: path and GDR of each GPU and NIC.",
                           "Exit status: as of 'gdrcheck node'."};
constexpr Words env_words{"The variables that a job gets, as export lines",
                          "The variables that a job gets here, from policy and machine facts alone. Several\n"
                          "GPUs give comma lists.",
                          "  eval \"$(gdrcheck env --gpus 0)\""};
constexpr Words explain_words{"What a finding means, its evidence, its fix",
                              "What a finding means, what it rests on, and how to mend it.",
                              "  gdrcheck explain peermem-missing"};
constexpr Words checks_words{"The catalogue of findings",
                             "The catalogue of findings: slug, default severity, and what it says.", ""};
constexpr Words config_words{"The policy for this node, and where each value is from",
                             "The policy for this node, and for each value the file and line it is from.", ""};
constexpr Words snapshot_words{"All that was read of this node, to replay elsewhere",
                               "Writes everything that is read of this node into one archive: 'gdrcheck node\n"
                               "--root FILE' gives the same answer elsewhere.",
                               "  gdrcheck snapshot -o node17.tar.gz --scrub"};

constexpr std::size_t help_column = 24;
constexpr std::size_t letters_per_slip = 3;  ///< one edit for each makes a word that may have been meant

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
    std::map<std::string, const char*> abouts;
    std::function<int()> run;
};

/// `run` is called after the whole line was understood.
CLI::App& add_command(CLI::App& app, CommandLine& line, const std::string& name, const Words& words,
                      std::function<int()> run) {
    auto* command = app.add_subcommand(name, words.summary);
    command->footer(words.more);
    command->allow_extras();  // told by us, with the nearest option
    command->set_help_flag("-h,--help", "This help");
    command->get_formatter()->column_width(help_column);
    command->callback([&line, run = std::move(run)] { line.run = run; });
    line.abouts[name] = words.about;
    return *command;
}

/// A path from a script's empty variable: said as such, not as a file that is not there.
std::string not_empty(const std::string& text) {
    return text.empty() ? "is empty" : "";
}

void add_node_options(CLI::App& command, NodeOptions& options) {
    command.add_option("--root", options.root, "Judge this tree or snapshot instead of the host")
        ->type_name("DIR|FILE")
        ->check(not_empty);
    command.add_option("--gpus", options.gpus, "Only these: device minor, UUID, MIG id, address")->type_name("LIST");
    command.add_option("--nccl", options.nccl, "Assume these versions; X.Y is its last release")
        ->type_name("X.Y[.Z]")
        ->allow_extra_args(false);  // a list has commas: the next word is no version
    command.add_option("--config", options.config, "Policy; else gdrcheck.toml beside slurm.conf")
        ->type_name("FILE")
        ->check(not_empty);
    command.add_flag("--json", options.json, "JSON, schema 1");
}

void add_judging_commands(CLI::App& app, CommandLine& line) {
    auto& node = add_command(app, line, "node", node_words, [&line] { return run_node(line.node, line.start); });
    add_node_options(node, line.node);
    auto& topo = add_command(app, line, "topo", topo_words, [&line] { return run_topo(line.topo, line.start); });
    add_node_options(topo, line.topo);
    auto& env = add_command(app, line, "env", env_words, [&line] { return run_env(line.env); });
    add_node_options(env, line.env.node);
    env.add_option("--format", line.env.format, "sh or json")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"sh", "json"}));
}

void add_reference_commands(CLI::App& app, CommandLine& line) {
    auto& explain = add_command(app, line, "explain", explain_words, [&line] { return run_explain(line.explain); });
    explain.add_option("SLUG", line.explain.slug, "As a finding or drain reason names it")->type_name("")->required();
    explain.add_flag("--json", line.explain.json, "JSON, schema 1");
    auto& checks = add_command(app, line, "checks", checks_words, [&line] { return run_checks(line.checks_json); });
    checks.add_flag("--json", line.checks_json, "JSON, schema 1");
    auto& config = add_command(app, line, "config", config_words, [&line] { return run_config(line.config); });
    config.add_option("--config", line.config.config, "This file; else the one found")
        ->type_name("FILE")
        ->check(not_empty);
    config.add_flag("--json", line.config.json, "JSON, schema 1");
}

void add_snapshot_command(CLI::App& app, CommandLine& line) {
    auto& snapshot =
        add_command(app, line, "snapshot", snapshot_words, [&line] { return run_snapshot(line.snapshot); });
    snapshot.add_option("-o,--output", line.snapshot.file, "The archive to write")
        ->type_name("FILE.tar.gz")
        ->check(not_empty)
        ->required();
    snapshot.add_option("--root", line.snapshot.root, "Of this tree or snapshot, not of the host")
        ->type_name("DIR|FILE")
        ->check(not_empty);
    snapshot.add_flag("--scrub", line.snapshot.scrub, "Replace names, addresses, GUIDs, serial numbers");
}

/// "; did you mean WORD?", or nothing when no candidate is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    const auto nearest = config::nearest_word(word, views);
    const auto most = std::max<std::size_t>(1, word.size() / letters_per_slip);
    if (nearest.empty() || config::edit_distance(word, nearest) > most) return {};
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
        return refuse(is_command
                          ? fmt::format("the command comes first: gdrcheck {} [options]", word)
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
        if (!chosen.empty()) chosen.front()->description(line.abouts[chosen.front()->get_name()]);
        return print_result(app.help(), exit_ok);
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
    app.set_version_flag("--version", GDRCHECK_VERSION, "The version");
    app.footer(more);
    app.require_subcommand(1);  // a second one is a stray word, not another command
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
