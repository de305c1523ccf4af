#include "common/probe/topology_file.hpp"

#include <fmt/core.h>

#include <pugixml.hpp>

#include "common/base/text.hpp"

namespace gdrcheck::probe {
namespace {

constexpr int deepest = 64;
constexpr int most_elements = 65536;
constexpr std::string_view topology_version = "1";  ///< NCCL_TOPO_XML_VERSION; NCCL refuses any other

/// False when the file is deeper or longer than any machine.
bool convert(const pugi::xml_node& node, int depth, int& elements, TopologyElement& element) {
    if (depth > deepest || ++elements > most_elements) return false;
    element.tag = node.name();
    for (const auto& attribute : node.attributes())
        element.attributes.emplace_back(attribute.name(), attribute.value());
    for (const auto& child : node.children()) {
        if (child.type() != pugi::node_element) continue;
        if (!convert(child, depth + 1, elements, element.children.emplace_back())) return false;
    }
    return true;
}

}  // namespace

Reading<TopologyElement> parse_topology(std::string_view text, const std::string& path) {
    pugi::xml_document document;
    // Minimal: like NCCL's own parser (xml.cc) it decodes no entity.
    const auto parsed = document.load_buffer(text.data(), text.size(), pugi::parse_minimal);
    if (!parsed) return {.why = fmt::format("{}: not XML at byte {}: {}", path, parsed.offset, parsed.description())};
    const auto system = document.child("system");
    if (!system) return {.why = path + ": has no <system> element"};
    const std::string version = system.attribute("version").value();
    if (version != topology_version) {
        return {.why = fmt::format("{}: version {} of <system>, NCCL takes only {}", path, quoted(version),
                                   topology_version)};
    }
    TopologyElement element;
    int elements = 0;
    if (!convert(system, 0, elements, element)) return {.why = path + ": too deep or too many elements"};
    return {.value = std::move(element)};
}

}  // namespace gdrcheck::probe
