#include "common/report/matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "common/report/labels.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::size_t narrowest_cell = 5;  ///< "*PIX+"
constexpr std::size_t roomy_cell = 6;      ///< where all NICs fit side by side

struct Cell {
    std::string text;
    Colour colour = Colour::none;
};

struct Row {
    std::string gpu;
    std::string address;
    Cell status;
    std::vector<Cell> cells;
};

struct Table {
    std::string prefix;  ///< of every NIC's name
    std::vector<std::string> heads;
    std::vector<Row> rows;
};

/// Common to all names, never ending inside a number: mlx5_10 and mlx5_11 share "mlx5_", not "mlx5_1".
std::string common_prefix(const std::vector<std::string>& names) {
    if (names.size() < 2) return {};
    auto prefix = names.front();
    for (const auto& name : names) {
        const auto end = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end()).first;
        prefix.erase(end, prefix.end());
    }
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    while (!prefix.empty() && is_digit(prefix.back())) prefix.pop_back();
    const bool is_whole_name =
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return name == prefix; });
    return is_whole_name ? std::string() : prefix;
}

Cell status_cell(const nccl::GpuAnswer& gpu) {
    switch (gpu.status) {
        case nccl::GpuStatus::gdr:
            return {gpu.mixed ? "mixed" : "gdr", gpu.mixed ? Colour::yellow : Colour::green};
        case nccl::GpuStatus::relay:
            return {gpu.relay ? fmt::format("relay {}", *gpu.relay) : "relay", Colour::green};
        case nccl::GpuStatus::staged:
        case nccl::GpuStatus::no_nic:
            return {nccl::to_string(gpu.status), Colour::red};
        case nccl::GpuStatus::unknown:
            break;
    }
    return {"unknown", Colour::cyan};
}

char gdr_mark(const nccl::Pair& pair, bool relayed, const std::set<std::string>& unknown_nics) {
    if (pair.gdr_recv && pair.gdr_send) return '+';
    if (relayed) return '~';
    if (pair.gdr_recv) return '>';
    if (pair.gdr_send) return '<';
    return unknown_nics.contains(pair.nic) ? '?' : '-';
}

bool selects(const nccl::GpuAnswer& gpu, const std::string& nic) {
    return gpu.nic == nic || std::find(gpu.selected.begin(), gpu.selected.end(), nic) != gpu.selected.end();
}

Colour mark_colour(char mark) {
    switch (mark) {
        case '+':
        case '~':
            return Colour::green;
        case '-':
            return Colour::red;
        case '?':
            return Colour::cyan;
        default:
            return Colour::yellow;
    }
}

Table build(const NodeFacts& facts, const nccl::Answer& answer) {
    Table table;
    std::set<std::string> unknown_nics;
    for (const auto& nic : answer.nics) {
        if (!nic.used) continue;
        table.heads.push_back(nic.name);
        if (!nic.transport.known) unknown_nics.insert(nic.name);
    }
    std::map<std::pair<std::size_t, std::string>, const nccl::Pair*> pairs;
    for (const auto& pair : answer.pairs) pairs[{pair.gpu, pair.nic}] = &pair;
    const bool short_address = one_domain(facts);
    for (const auto& gpu : answer.gpus) {
        if (gpu.gpu >= facts.gpus.size()) continue;
        Row row{std::to_string(gpu.gpu), address_label(facts.gpus[gpu.gpu].pci, short_address), status_cell(gpu), {}};
        for (const auto& nic : table.heads) {
            const auto found = pairs.find({gpu.gpu, nic});
            if (found == pairs.end()) {
                row.cells.push_back({});
                continue;
            }
            const bool selected = selects(gpu, nic);
            const bool relayed = selected && gpu.status == nccl::GpuStatus::relay && !gpu.mixed;
            const char mark = gdr_mark(*found->second, relayed, unknown_nics);
            row.cells.push_back(
                {fmt::format("{}{}{}", selected ? '*' : ' ', nccl::to_string(found->second->path), mark),
                 selected ? mark_colour(mark) : Colour::none});
        }
        table.rows.push_back(std::move(row));
    }
    table.prefix = common_prefix(table.heads);
    for (auto& head : table.heads) head = printable(std::string_view(head).substr(table.prefix.size()));
    table.prefix = printable(table.prefix);
    return table;
}

/// Widths of the three columns before the cells.
struct Margin {
    std::size_t gpu = 3;
    std::size_t address = 0;
    std::size_t status = 6;

    explicit Margin(const Table& table) {
        for (const auto& row : table.rows) {
            gpu = std::max(gpu, row.gpu.size());
            address = std::max(address, row.address.size());
            status = std::max(status, row.status.text.size());
        }
    }
    [[nodiscard]] std::size_t width() const { return gpu + 1 + address + 1 + status + 1; }
};

std::string padded(const Cell& cell, std::size_t width, bool colour) {
    const auto fill = width > cell.text.size() ? width - cell.text.size() : 0;
    return painted(cell.text, cell.colour, colour) + std::string(fill, ' ');
}

void trim_end(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

void append_block(std::string& out, const Table& table, const Margin& margin, std::size_t from, std::size_t to,
                  const std::vector<std::size_t>& widths, bool colour) {
    if (!table.prefix.empty()) out += fmt::format("{:{}} {}...\n", "", margin.width(), table.prefix);
    auto line = fmt::format("{:>{}} {:<{}} {:<{}} ", "GPU", margin.gpu, "PCI", margin.address, "", margin.status);
    for (auto nic = from; nic < to; ++nic) line += fmt::format(" {:<{}}", table.heads[nic], widths[nic] - 1);
    trim_end(line);
    out += line + '\n';
    for (const auto& row : table.rows) {
        line = fmt::format("{:>{}} {:<{}} ", row.gpu, margin.gpu, row.address, margin.address);
        line += padded(row.status, margin.status + 1, colour);
        for (auto nic = from; nic < to; ++nic) line += padded(row.cells[nic], widths[nic], colour);
        trim_end(line);
        out += line + '\n';
    }
}

/// Only the marks that appear.
std::vector<std::string> legend(const Table& table) {
    std::string marks;
    bool selected = false;
    bool relayed = false;
    bool mixed = false;
    for (const auto& row : table.rows) {
        relayed = relayed || row.status.text.starts_with("relay");
        mixed = mixed || row.status.text == "mixed";
        for (const auto& cell : row.cells) {
            if (cell.text.empty()) continue;
            marks += cell.text.back();
            selected = selected || cell.text.front() == '*';
        }
    }
    std::vector<std::string> entries;
    if (selected) entries.emplace_back("* NCCL's choice");
    constexpr std::array<std::pair<char, const char*>, 6> meanings{{{'+', "+ GDR"},
                                                                    {'~', "~ relayed"},
                                                                    {'>', "> GDR on receive only"},
                                                                    {'<', "< GDR on send only"},
                                                                    {'-', "- staged in host memory"},
                                                                    {'?', "? not known"}}};
    for (const auto& [mark, meaning] : meanings) {
        if (marks.find(mark) != std::string::npos) entries.emplace_back(meaning);
    }
    if (relayed) entries.emplace_back("relay N: by NVLink through GPU N");
    if (mixed) entries.emplace_back("mixed: its chosen NICs differ");
    return entries;
}

void append_legend(std::string& out, const std::vector<std::string>& entries, std::size_t width) {
    std::string line;
    for (const auto& entry : entries) {
        if (!line.empty() && line.size() + 2 + entry.size() > width) {
            out += line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : "  ") + entry;
    }
    if (!line.empty()) out += line + '\n';
}

/// Column widths: roomy where everything fits in one block then.
std::vector<std::size_t> column_widths(const Table& table, std::size_t margin, std::size_t limit) {
    for (const auto narrowest : {roomy_cell, narrowest_cell}) {
        std::vector<std::size_t> widths;
        auto total = margin;
        for (const auto& head : table.heads) {
            widths.push_back(std::max(narrowest, head.size() + 1));
            total += widths.back();
        }
        if (total <= limit || narrowest == narrowest_cell) return widths;
    }
    return {};
}

}  // namespace

std::string matrix(const NodeFacts& facts, const nccl::Answer& answer, const Style& style) {
    const auto table = build(facts, answer);
    if (table.rows.empty()) return {};
    const Margin margin(table);
    const auto limit = static_cast<std::size_t>(std::max(style.width, 40));
    const auto widths = column_widths(table, margin.width(), limit);

    std::string out;
    std::size_t from = 0;
    do {
        auto used = margin.width();
        auto to = from;
        while (to < widths.size() && (to == from || used + widths[to] <= limit)) used += widths[to++];
        if (from > 0) out += '\n';
        append_block(out, table, margin, from, to, widths, style.colour);
        from = to;
    } while (from < widths.size());
    append_legend(out, legend(table), limit);
    return out;
}

}  // namespace gdrcheck::report
