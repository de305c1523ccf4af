#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/report/hand_made.hpp"

using namespace gdrcheck;
using nlohmann::ordered_json;

namespace {

std::vector<std::string> keys(const ordered_json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items()) names.push_back(item.key());
    return names;
}

/// The contract's fields come first, in its order; others may follow.
void check_fields(const ordered_json& object, const std::vector<std::string>& contract) {
    auto names = keys(object);
    REQUIRE(names.size() >= contract.size());
    names.resize(contract.size());
    CHECK(names == contract);
}

ordered_json rendered(const test::HandMade& made) {
    return ordered_json::parse(report::node_json(made.report()));
}

}  // namespace

TEST_CASE("the JSON of node has the fields of schema 1 in their order") {
    const auto json = rendered(test::staged());
    check_fields(json, {"schema", "version", "host", "assumed_nccl", "verdict", "drain", "elapsed_us", "transport",
                        "gpus", "nics", "pairs", "findings", "drain_reason"});
    check_fields(json["transport"]["peermem"], {"state", "why"});
    check_fields(json["transport"]["dmabuf"], {"state", "why", "source"});
    check_fields(json["gpus"][0],
                 {"bdf", "index", "minor", "uuid", "model", "numa", "status", "nic", "path", "via", "relay"});
    check_fields(json["nics"][0], {"name", "bdf", "compute", "link_layer", "dmabuf", "ports", "driver", "merged_into"});
    check_fields(json["nics"][0]["ports"][0], {"port", "state", "gbps"});
    check_fields(json["pairs"][0], {"gpu", "nic", "path", "gdr_recv", "gdr_send", "via"});
    check_fields(json["findings"][0], {"slug", "outcome", "subject", "seen", "why", "remedy"});
    CHECK(json["schema"] == 1);
    CHECK(json["elapsed_us"] == 1830);
    CHECK(json["assumed_nccl"] == ordered_json::array({"2.28"}));
}

TEST_CASE("drain_reason is null unless the node would be drained") {
    CHECK(rendered(test::healthy())["drain_reason"].is_null());
    CHECK(rendered(test::staged())["drain_reason"] ==
          "gdr: peermem-missing nvidia_peermem: not loaded; modprobe nvidia-peermem");
}

TEST_CASE("what is not known is null in JSON") {
    auto made = test::healthy();
    made.facts.gpus[0].uuid.clear();
    made.facts.gpus[0].minor.reset();
    made.facts.pci.at(made.facts.gpus[0].pci).numa_node.reset();
    made.facts.rdma[0].pci.reset();
    made.facts.rdma[0].driver.clear();
    made.verdict.answers[0].gpus[0].nic.clear();
    const auto json = rendered(made);
    for (const auto* field : {"uuid", "minor", "numa", "nic", "path", "relay"}) {
        INFO(field);
        CHECK(json["gpus"][0][field].is_null());
    }
    for (const auto* field : {"bdf", "driver", "merged_into"}) {
        INFO(field);
        CHECK(json["nics"][0][field].is_null());
    }
}

TEST_CASE("a relay is the address of the GPU that relays") {
    auto made = test::healthy();
    made.verdict.answers[0].gpus[0].status = nccl::GpuStatus::relay;
    made.verdict.answers[0].gpus[0].relay = 1;
    const auto json = rendered(made);
    CHECK(json["gpus"][0]["status"] == "relay");
    CHECK(json["gpus"][0]["relay"] == "0000:28:00.0");
}

TEST_CASE("bytes that are no UTF-8 are replaced and control characters escaped in JSON") {
    auto made = test::staged();
    made.facts.gpus[0].model = "bad \xff\xfe \x1b[31m \xc2\x9b";
    made.facts.host = "n\x80";
    const auto text = report::node_json(made.report());
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    const auto json = ordered_json::parse(text);
    CHECK(json["gpus"][0]["model"] == "bad \xef\xbf\xbd\xef\xbf\xbd \x1b[31m \xc2\x9b");
}

TEST_CASE("a rate is written without a fraction it does not have") {
    auto made = test::healthy();
    made.facts.rdma[0].ports[0].gbps = 12.5;
    const auto json = rendered(made);
    CHECK(json["nics"][0]["ports"][0]["gbps"].dump() == "12.5");
    CHECK(json["nics"][1]["ports"][0]["gbps"].dump() == "400");
}

TEST_CASE("a port whose state could not be read is unknown in JSON") {
    auto made = test::healthy();
    made.facts.rdma[0].ports[0].state.reset();
    CHECK(rendered(made)["nics"][0]["ports"][0]["state"] == "unknown");
}

TEST_CASE("with --gpus only those GPUs and their pairs are in the JSON") {
    auto made = test::healthy();
    auto& answer = made.verdict.answers[0];
    answer.gpus.erase(answer.gpus.begin());
    std::erase_if(answer.pairs, [](const auto& pair) { return pair.gpu == 0; });
    const auto json = rendered(made);
    REQUIRE(json["gpus"].size() == 1);
    CHECK(json["gpus"][0]["index"] == 1);
    CHECK(json["pairs"].size() == 2);
    CHECK(json["nics"].size() == 2);
}
