#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/base/text.hpp"
#include "tests/unit/report/hand_made.hpp"

using namespace gdrcheck;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    for (const auto line : split(text, '\n')) widest = std::max(widest, line.size());
    return widest;
}

std::string rendered(const test::HandMade& made) {
    return report::node_text(made.report(), {});
}

/// `gpus` x `nics`, every GPU near one NIC.
test::HandMade large(std::size_t gpus, std::size_t nics, const std::string& prefix,
                     const std::string& domain = "0000") {
    test::HandMade made = test::healthy();
    test::FactsBuilder builder;
    auto& answer = made.verdict.answers.front();
    answer.gpus.clear();
    answer.nics.clear();
    answer.pairs.clear();
    const auto address_of = [&](char kind, std::size_t i) {
        char text[32];
        std::snprintf(text, sizeof text, "%s:%c%x:00.0", domain.c_str(), kind, static_cast<unsigned>(i));
        return std::string(text);
    };
    for (std::size_t i = 0; i < gpus; ++i) builder.gpu(address_of('1', i));
    for (std::size_t i = 0; i < nics; ++i) {
        const auto name = prefix + std::to_string(i);
        builder.nic(name, address_of('2', i));
        nccl::NicAnswer nic;
        nic.name = name;
        nic.used = true;
        answer.nics.push_back(nic);
    }
    made.facts = builder.facts();
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        nccl::GpuAnswer each;
        each.gpu = gpu;
        each.status = nccl::GpuStatus::staged;
        each.nic = prefix + std::to_string(gpu);
        answer.gpus.push_back(each);
        for (std::size_t nic = 0; nic < nics; ++nic) {
            answer.pairs.push_back({gpu, prefix + std::to_string(nic), nccl::Path::PXB, nic == gpu, nic == gpu,
                                    nic == gpu ? nccl::Via::dmabuf : nccl::Via::none});
        }
    }
    return made;
}

}  // namespace

TEST_CASE("the first line says the verdict, the host and why") {
    CHECK_THAT(rendered(test::healthy()), StartsWith("OK  n1: 2 of 2 GPUs with GDR\n"));
    CHECK_THAT(rendered(test::staged()), StartsWith("FAIL  n1: 2 of 2 GPUs without GDR: peermem-missing\n"));
}

TEST_CASE("the basis of the verdict is named: GPUs, NICs, NCCL, transport") {
    const auto text = rendered(test::healthy());
    CHECK_THAT(text, ContainsSubstring("  2 GPUs NVIDIA H100 80GB HBM3, 2 NICs InfiniBand 400 Gb/s\n"));
    CHECK_THAT(text, ContainsSubstring("  NCCL 2.28.9 assumed, DMA-BUF yes (inferred), peermem absent\n"));
}

TEST_CASE("the matrix shows path, GDR and choice of every pair") {
    const auto text = rendered(test::healthy());
    CHECK_THAT(text, ContainsSubstring("mlx5_..."));
    CHECK_THAT(text, ContainsSubstring("  0 18:00.0 gdr    *PIX+  SYS-\n"));
    CHECK_THAT(text, ContainsSubstring("  1 28:00.0 gdr     SYS- *PIX+\n"));
    CHECK_THAT(text, ContainsSubstring("* NCCL's choice  + GDR  - staged in host memory\n"));
}

TEST_CASE("one direction alone is told from both and from none") {
    auto made = test::healthy();
    auto& pairs = made.verdict.answers[0].pairs;
    pairs[0].gdr_send = false;
    const auto text = rendered(made);
    CHECK_THAT(text, ContainsSubstring("*PIX>"));
    CHECK_THAT(text, ContainsSubstring("> GDR on receive only"));
}

TEST_CASE("a pair whose transport is not known is marked so, not as staged") {
    auto made = test::staged();
    for (auto& nic : made.verdict.answers[0].nics) nic.transport.known = false;
    const auto text = rendered(made);
    CHECK_THAT(text, ContainsSubstring("*PIX?"));
    CHECK_THAT(text, ContainsSubstring("? not known"));
    CHECK_THAT(text, !ContainsSubstring("- staged"));
}

TEST_CASE("a relayed GPU names the GPU it goes through") {
    auto made = test::healthy();
    made.verdict.answers[0].gpus[0].status = nccl::GpuStatus::relay;
    made.verdict.answers[0].gpus[0].relay = 1;
    made.verdict.answers[0].pairs[0].gdr_recv = made.verdict.answers[0].pairs[0].gdr_send = false;
    const auto text = rendered(made);
    CHECK_THAT(text, ContainsSubstring("*PIX~"));
    CHECK_THAT(text, ContainsSubstring("relay 1"));
    CHECK_THAT(text, ContainsSubstring("relay N: by NVLink through GPU N"));
}

TEST_CASE("8 GPUs and 12 NICs fit into 80 columns in one block") {
    const auto text = rendered(large(8, 12, "mlx5_"));
    CHECK(widest_line(text) <= 80);
    CHECK_THAT(text, ContainsSubstring(" 10   11\n"));
}

TEST_CASE("NICs that do not fit go into a second block, each with its GPUs") {
    const auto text = rendered(large(8, 12, "mlx5_", "0001"));
    CHECK(widest_line(text) <= 80);
    std::size_t blocks = 0;
    for (auto at = text.find("GPU PCI"); at != std::string::npos; at = text.find("GPU PCI", at + 1)) ++blocks;
    CHECK(blocks == 2);
}

TEST_CASE("a common prefix never ends inside a number") {
    const auto text = rendered(large(2, 2, "mlx5_1"));  // mlx5_10, mlx5_11
    CHECK_THAT(text, ContainsSubstring("mlx5_..."));
    CHECK_THAT(text, ContainsSubstring(" 10    11\n"));
}

TEST_CASE("a finding says what was seen, why it matters and what to type") {
    const auto text = rendered(test::staged());
    CHECK_THAT(text, ContainsSubstring("fail    peermem-missing\n"));
    CHECK_THAT(text, ContainsSubstring("      nvidia_peermem: no /sys/module/nvidia_peermem\n"));
    CHECK_THAT(text, ContainsSubstring("every byte is staged in host memory"));
    CHECK_THAT(text, ContainsSubstring("      -> modprobe nvidia-peermem\n"));
}

TEST_CASE("findings that differ in their subject only are told once") {
    auto made = test::staged();
    auto second = made.verdict.findings.front();
    second.subject = "another";
    made.verdict.findings.push_back(second);
    const auto text = rendered(made);
    CHECK_THAT(text, ContainsSubstring("nvidia_peermem, another: no /sys/module/nvidia_peermem"));
    CHECK(text.find("-> modprobe") == text.rfind("-> modprobe"));
}

TEST_CASE("the last line says what a prolog would do") {
    auto made = test::staged();
    CHECK_THAT(rendered(made), ContainsSubstring("\nwould drain: gdr: peermem-missing"));
    made.policy.policy.on_fail = OnFail::report;
    CHECK_THAT(rendered(made), ContainsSubstring("\npolicy: report only; would drain: gdr:"));
    made.config_file.clear();
    CHECK_THAT(rendered(made), ContainsSubstring("\npolicy: report only (no gdrcheck.toml found); would drain: gdr:"));
}

TEST_CASE("a structural fail says that it does not drain and what would make it") {
    auto made = test::staged();
    made.verdict.drain = false;
    made.verdict.drain_reason.clear();
    made.verdict.findings.front().structural = true;
    CHECK_THAT(rendered(made), ContainsSubstring("would not drain: the same tomorrow; [expect] gdr = true"));
}

TEST_CASE("NICs that NCCL leaves out are named with the reason") {
    auto made = test::healthy();
    auto& nics = made.verdict.answers[0].nics;
    nics[1].used = false;
    nics[1].unused_why = "port 1 is DOWN";
    CHECK_THAT(rendered(made), ContainsSubstring("not used: mlx5_1 (port 1 is DOWN)"));
}

TEST_CASE("other assumed versions are summed up in a line each") {
    auto made = test::healthy();
    auto older = made.verdict.answers.front();
    older.version = nccl::Version{2, 21, 5};
    older.gpus[0].status = nccl::GpuStatus::staged;
    made.verdict.answers.push_back(older);
    CHECK_THAT(rendered(made), ContainsSubstring("NCCL 2.21.5: 1 GPU gdr, 1 GPU staged\n"));
}

TEST_CASE("a node to which the question does not apply says so in one glance") {
    test::HandMade made;
    made.facts.host = "login1";
    made.verdict.verdict = NodeVerdict::not_applicable;
    made.verdict.why = "no NVIDIA GPU";
    made.verdict.answers.emplace_back();
    const auto text = rendered(made);
    CHECK_THAT(text, StartsWith("NOT APPLICABLE  login1: no NVIDIA GPU\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("an unknown verdict gives its cause in the first line") {
    test::HandMade made;
    made.facts.host = "n1";
    made.verdict.verdict = NodeVerdict::unknown;
    made.verdict.why = "/sys/bus/pci/devices: Permission denied";
    CHECK_THAT(rendered(made), StartsWith("UNKNOWN  n1: /sys/bus/pci/devices: Permission denied\n"));
}

TEST_CASE("nothing but printable ASCII reaches the terminal") {
    auto made = test::staged();
    made.facts.host = "n1\x1b[2J";
    made.facts.gpus[0].model = made.facts.gpus[1].model = "\x1b]0;title\x07";
    made.facts.rdma[0].name = made.verdict.answers[0].nics[0].name = "ml\x1b[5m";
    made.verdict.findings[0].seen = "\xff\n\x1b[31mred";
    const auto text = rendered(made) + report::topo_text(made.report(), {});
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}
