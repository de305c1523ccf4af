#include <algorithm>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "common/report/report.hpp"

using namespace gdrcheck;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t widest(const std::string& text) {
    std::size_t width = 0;
    for (const auto& line : lines_of(text)) width = std::max(width, line.size());
    return width;
}

}  // namespace

TEST_CASE("explain fits 80 columns for every slug and leaves no blank at a line's end") {
    for (const auto& entry : catalogue()) {
        CAPTURE(entry.slug);
        const auto text = report::explain_text(entry, {});
        CHECK(widest(text) <= 80);
        for (const auto& line : lines_of(text)) CHECK_FALSE(line.ends_with(' '));
        CHECK(text.starts_with(std::string(entry.slug) + ": "));
        for (const auto* section : {"\nMeaning\n", "\nEvidence\n", "\nFix\n"})
            CHECK(text.find(section) != std::string::npos);
    }
}

TEST_CASE("explain keeps a command on one line of its own") {
    const auto text = report::explain_text(*find_catalogue_entry("peermem-missing"), {});
    CHECK(text.find("\n      modprobe nvidia-peermem\n") != std::string::npos);
    CHECK(text.find("\n      apt:    apt install nvidia-open\n") != std::string::npos);
}

TEST_CASE("explain says what is planned, structural and never drains") {
    const auto head = [](const char* slug) {
        return lines_of(report::explain_text(*find_catalogue_entry(slug), {.width = 200})).at(1);
    };
    CHECK(head("peermem-stub") == "Default: fail, planned: not examined by this release");
    CHECK(head("path-far") == "Default: fail, structural");
    CHECK(head("self") == "Default: warn, never drains");
}

TEST_CASE("explain wraps to the width it is given and survives an absurd one") {
    const auto& entry = *find_catalogue_entry("acs-redirect");
    CHECK(widest(report::explain_text(entry, {.width = 60})) <= 60);
    CHECK(widest(report::explain_text(entry, {.width = 200})) > 80);
    for (const int width : {-5, 0, 1}) CHECK(widest(report::explain_text(entry, {.width = width})) >= 30);
}

TEST_CASE("checks lists every slug with its severity within 80 columns") {
    const auto text = report::checks_text({});
    CHECK(widest(text) <= 80);
    for (const auto& entry : catalogue()) CHECK(text.find('\n' + std::string(entry.slug)) != std::string::npos);
    CHECK(text.find("\npeermem-missing fail  ") != std::string::npos);
    CHECK(text.find("\nport-slow       warn  ") != std::string::npos);
}

TEST_CASE("checks as JSON holds the catalogue in order") {
    const auto json = nlohmann::json::parse(report::checks_json());
    CHECK(json.at("schema") == 1);
    REQUIRE(json.at("checks").size() == catalogue().size());
    for (std::size_t i = 0; i < catalogue().size(); ++i) {
        const auto& entry = catalogue()[i];
        const auto& check = json.at("checks")[i];
        CHECK(check.size() == 5);
        CHECK(check.at("slug") == entry.slug);
        CHECK(check.at("says") == entry.says);
        CHECK(check.at("severity") == to_string(entry.severity));
        CHECK(check.at("structural") == entry.structural);
        CHECK(check.at("planned") == entry.planned);
    }
}

TEST_CASE("explain as JSON holds the texts") {
    const auto& entry = *find_catalogue_entry("gdr-unused");
    const auto json = nlohmann::json::parse(report::explain_json(entry));
    CHECK(json.at("schema") == 1);
    CHECK(json.at("slug") == "gdr-unused");
    CHECK(json.at("drains") == false);
    CHECK(json.at("meaning") == entry.meaning);
    CHECK(json.at("evidence") == entry.evidence);
    CHECK(json.at("fix") == entry.fix);
}
