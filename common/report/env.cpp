// `gdrcheck env` as shell text.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/base/text.hpp"
#include "common/report/report.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

/// Values hold device names, which come from files: nothing in them may be read by the shell as more than text.
std::string shell_quoted(std::string_view value) {
    std::string text = "'";
    for (const char c : value) {
        if (c == '\'') {
            text += "'\\''";
        } else {
            text += c;
        }
    }
    return text + "'";
}

bool is_name(std::string_view name) {
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
           });
}

/// What eval may be given: a value with a control character is withheld rather than mangled.
bool is_exportable(const Variable& variable) {
    return is_name(variable.first) && printable(variable.second) == variable.second;
}

void append_export(std::string& out, const Variable& variable) {
    if (is_exportable(variable)) {
        out += fmt::format("export {}={}\n", variable.first, shell_quoted(variable.second));
    } else {
        out += fmt::format("# withheld: {}: not plain text\n", printable(variable.first));
    }
}

/// GDRCHECK_* have one item per GPU, in their order; lists of devices name each once.
bool is_positional(std::string_view name) {
    return name.starts_with("GDRCHECK_");
}

bool has_item(std::string_view list, std::string_view item) {
    const auto items = split(list, ',');
    return std::find(items.begin(), items.end(), item) != items.end();
}

struct JoinedVariable {
    std::string name;
    std::string value;
    std::size_t gpus = 0;  ///< how many have it
};

/// What a task that owns all these GPUs gets: comma lists.
std::vector<JoinedVariable> joined(const std::vector<GpuEnvironment>& gpus) {
    std::vector<JoinedVariable> variables;
    for (const auto& gpu : gpus) {
        for (const auto& [name, value] : gpu.variables) {
            auto known = std::find_if(variables.begin(), variables.end(),
                                      [&name = name](const auto& variable) { return variable.name == name; });
            if (known == variables.end()) {
                variables.push_back({name, value, 1});
                continue;
            }
            ++known->gpus;
            if (is_positional(name) || !has_item(known->value, value)) known->value += ',' + value;
        }
    }
    return variables;
}

std::string gpu_comment(const GpuEnvironment& gpu, const NodeFacts& facts) {
    auto text = fmt::format("# GPU {}", gpu.gpu);
    if (gpu.gpu < facts.gpus.size()) text += ' ' + to_string(facts.gpus[gpu.gpu].pci);
    for (const auto& [name, value] : gpu.variables) text += fmt::format(" {}={}", printable(name), printable(value));
    return text + '\n';
}

}  // namespace

std::string env_sh(const EnvPlan& plan, const NodeFacts& facts) {
    std::string out;
    for (const auto& reason : plan.withheld) out += fmt::format("# withheld: {}\n", printable(reason));
    for (const auto& variable : plan.node) append_export(out, variable);
    if (plan.gpus.size() > 1) {
        for (const auto& gpu : plan.gpus) out += gpu_comment(gpu, facts);
    }
    for (const auto& variable : joined(plan.gpus)) {
        // A list with a gap would give one GPU's value to another.
        if (is_positional(variable.name) && variable.gpus < plan.gpus.size()) {
            out += fmt::format("# withheld: {}: not known for every GPU\n", printable(variable.name));
        } else {
            append_export(out, {variable.name, variable.value});
        }
    }
    return out;
}

}  // namespace gdrcheck::report
