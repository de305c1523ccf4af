#include <catch2/catch_test_macros.hpp>

#include "common/verdict/verdict.hpp"
#include "tests/support/facts_builder.hpp"

using namespace gdrcheck;
using gdrcheck::test::FactsBuilder;

namespace {

/// Minors against the order of addresses, MIG on the second.
NodeFacts three_gpus() {
    return FactsBuilder{}
        .gpu("0000:18:00.0")
        .gpu("0000:3a:00.0")
        .gpu("0001:9b:00.0")
        .with([](NodeFacts& facts) {
            facts.gpus[0].minor = 2;
            facts.gpus[1].minor = 0;
            facts.gpus[2].minor = 1;
            facts.gpus[0].uuid = "GPU-aaaa0000-0000-0000-0000-000000000000";
            facts.gpus[1].uuid = "GPU-aabb0000-0000-0000-0000-000000000000";
            facts.gpus[2].uuid = "GPU-cc000000-0000-0000-0000-000000000000";
            facts.gpus[1].mig = {"1/0", "2/0", "13/1"};
        })
        .facts();
}

std::vector<std::size_t> resolved(std::string_view list) {
    const auto result = resolve_gpus(three_gpus(), list);
    CAPTURE(list, result ? std::string() : result.error().what);
    REQUIRE(result);
    return *result;
}

std::string refused(std::string_view list, const NodeFacts& facts = three_gpus()) {
    const auto result = resolve_gpus(facts, list);
    CAPTURE(list);
    REQUIRE_FALSE(result);
    return result.error().what;
}

bool mentions(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

using List = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a number is a device minor, not a place in the list") {
    CHECK(resolved("2") == List{0});
    CHECK(resolved("0,1") == List{1, 2});
}

TEST_CASE("a UUID or a prefix that fits one GPU") {
    CHECK(resolved("GPU-aaaa0000-0000-0000-0000-000000000000") == List{0});
    CHECK(resolved("GPU-aab") == List{1});
    CHECK(resolved("gpu-CC") == List{2});
}

TEST_CASE("a prefix that fits several GPUs is refused and says so") {
    CHECK(mentions(refused("GPU-aa"), "'GPU-aa': 2 GPUs"));
}

TEST_CASE("a UUID of no GPU is refused and what exists is named") {
    const auto error = refused("GPU-ff");
    CHECK(mentions(error, "GPU-ff"));
    CHECK(mentions(error, "0000:18:00.0 (minor 2)"));
    CHECK_FALSE(refused("GPU-").empty());
}

TEST_CASE("a PCI address in any of its spellings") {
    CHECK(resolved("0000:18:00.0") == List{0});
    CHECK(resolved("18:00.0") == List{0});
    CHECK(resolved("00000000:3A:00.0") == List{1});
    CHECK(resolved("0001:9b:00.0") == List{2});
    CHECK(mentions(refused("0000:19:00.0"), "no GPU at 0000:19:00.0"));
}

TEST_CASE("a MIG id names the GPU of its instance") {
    CHECK(resolved("MIG-GPU-aabb0000-0000-0000-0000-000000000000/1/0") == List{1});
    CHECK(resolved("mig-gpu-aabb0000-0000-0000-0000-000000000000/13/1") == List{1});
    CHECK(resolved("0:2") == List{1});
    CHECK(resolved("0:2:0") == List{1});
}

TEST_CASE("a MIG instance that does not exist is refused") {
    CHECK(mentions(refused("MIG-GPU-aabb0000-0000-0000-0000-000000000000/7/0"),
                   "no MIG instance 7/0; it has 1/0, 2/0, 13/1"));
    CHECK(mentions(refused("MIG-GPU-aaaa0000-0000-0000-0000-000000000000/1/0"), "MIG is off"));
    CHECK(mentions(refused("0:1:5"), "no MIG instance 1/5"));
    CHECK(mentions(refused("MIG-GPU-aabb0000-0000-0000-0000-000000000000"), "<gi>/<ci>"));
    CHECK(mentions(refused("MIG-GPU-aabb0000-0000-0000-0000-000000000000/"), "<gi>/<ci>"));
}

TEST_CASE("a MIG UUID needs NVML and says what to write instead") {
    CHECK(mentions(refused("MIG-b7c9d2f0-1111-2222-3333-444455556666"), "only NVML"));
}

TEST_CASE("items keep their order, duplicates collapse, blanks do not matter") {
    CHECK(resolved("1, 2 ,GPU-aaaa,18:00.0") == List{2, 0});
}

TEST_CASE("empty, unknown and malformed items are refused by name") {
    CHECK(mentions(refused(""), "empty"));
    CHECK(mentions(refused("0,,1"), "empty"));
    CHECK(mentions(refused("0,"), "empty"));
    CHECK(mentions(refused("7"), "no GPU with device minor 7"));
    CHECK(mentions(refused("all"), "'all'"));
    CHECK(mentions(refused("-1"), "'-1'"));
    CHECK(mentions(refused("99999999999999999999"), "'99999999999999999999'"));
    CHECK(mentions(refused("0x1"), "'0x1'"));
    CHECK(mentions(refused(":"), "':'"));
    CHECK(mentions(refused("0:"), "'0:'"));
}

TEST_CASE("hostile items are cut and made printable in the error") {
    const auto error = refused(std::string(5000, '\x1b'));
    CHECK(error.size() < 400);
    CHECK(error.find('\x1b') == std::string::npos);
    std::string many;
    for (int i = 0; i < 2000; ++i) many += "0,";
    CHECK(mentions(refused(many + "0"), "more than"));
}

TEST_CASE("without device minors a number is refused, an address is not") {
    auto facts = three_gpus();
    for (auto& gpu : facts.gpus) {
        gpu.minor = std::nullopt;
        gpu.uuid.clear();
    }
    CHECK(mentions(refused("0", facts), "/proc/driver/nvidia/gpus"));
    CHECK(mentions(refused("GPU-aa", facts), "no UUID"));
    CHECK(resolve_gpus(facts, "0000:18:00.0").value() == List{0});
    CHECK(mentions(refused("0", NodeFacts{}), "this node has no GPU"));
}
