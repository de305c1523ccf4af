#include "common/env/plan.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck;

namespace {

NodeFacts node_with(const std::vector<std::string>& devices) {
    NodeFacts facts;
    facts.gpus.push_back({.pci = *parse_pci_address("0000:18:00.0")});
    facts.gpus.push_back({.pci = *parse_pci_address("0000:2a:00.0")});
    for (const auto& name : devices) {
        RdmaDevice device;
        device.name = name;
        facts.rdma.push_back(device);
    }
    return facts;
}

nccl::GpuAnswer answer_for(std::size_t gpu, nccl::GpuStatus status, const std::string& nic, nccl::Path path,
                           nccl::Via via) {
    nccl::GpuAnswer answer;
    answer.gpu = gpu;
    answer.status = status;
    answer.nic = nic;
    answer.path = path;
    answer.via = via;
    return answer;
}

const std::string* value_of(const std::vector<Variable>& variables, std::string_view name) {
    const auto found =
        std::find_if(variables.begin(), variables.end(), [&](const auto& variable) { return variable.first == name; });
    return found == variables.end() ? nullptr : &found->second;
}

std::string node_value(const EnvPlan& plan, std::string_view name) {
    const auto* value = value_of(plan.node, name);
    return value == nullptr ? "(not set)" : *value;
}

Policy excluding(std::vector<std::string> exclude, std::vector<std::string> compute = {}) {
    Policy policy;
    policy.nics.exclude = std::move(exclude);
    policy.nics.compute = std::move(compute);
    return policy;
}

const std::vector<std::string> twelve{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4",  "mlx5_5",
                                      "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9", "mlx5_10", "mlx5_11"};

}  // namespace

TEST_CASE("a node without wishes gets no NCCL variable") {
    const auto plan = plan_environment(node_with(twelve), {}, {});
    CHECK(plan.node.empty());
    CHECK(plan.withheld.empty());
}

TEST_CASE("excluded devices are named exactly, in natural order") {
    const auto plan = plan_environment(node_with(twelve), {}, excluding({"mlx5_1?", "mlx5_2"}));
    CHECK(plan.node == std::vector<Variable>{{"NCCL_IB_HCA", "^=mlx5_2,mlx5_10,mlx5_11"}});
    CHECK(plan_environment(node_with({"b10", "b9", "a"}), {}, excluding({"b*"})).node ==
          std::vector<Variable>{{"NCCL_IB_HCA", "^=b9,b10"}});
}

TEST_CASE("an exclude that matches no device of the node sets nothing") {
    CHECK(plan_environment(node_with(twelve), {}, excluding({"bnxt*"})).node.empty());
}

TEST_CASE("devices outside the compute list are excluded the same way") {
    const auto plan = plan_environment(node_with(twelve), {}, excluding({"mlx5_3"}, {"mlx5_[0-9]"}));
    CHECK(node_value(plan, "NCCL_IB_HCA") == "^=mlx5_3,mlx5_10,mlx5_11");
}

TEST_CASE("lists that leave no device are not exported") {
    const auto plan = plan_environment(node_with(twelve), {}, excluding({}, {"ibp*"}));
    CHECK(plan.node.empty());
    REQUIRE(plan.withheld.size() == 1);
    CHECK(plan.withheld[0] == "NCCL_IB_HCA: [nics] leaves no RDMA device: the job would run over TCP");
}

TEST_CASE("more names than NCCL reads are not exported") {
    std::vector<std::string> many{"mlx5_0"};
    for (int i = 0; i < 33; ++i) many.push_back("vf" + std::to_string(i));
    const auto plan = plan_environment(node_with(many), {}, excluding({"vf*"}));
    CHECK(plan.node.empty());
    CHECK(plan.withheld == std::vector<std::string>{"NCCL_IB_HCA: [nics] excludes 33 devices, NCCL reads 32 names"});
    many.pop_back();
    CHECK(node_value(plan_environment(node_with(many), {}, excluding({"vf*"})), "NCCL_IB_HCA").ends_with(",vf31"));
}

TEST_CASE("the state of a port changes nothing") {
    auto facts = node_with(twelve);
    const auto before = plan_environment(facts, {}, excluding({"mlx5_11"}));
    for (auto& device : facts.rdma) device.ports.push_back({.state = PortState::down});
    CHECK(plan_environment(facts, {}, excluding({"mlx5_11"})).node == before.node);
}

TEST_CASE("a device name that no list can hold is left out and told") {
    for (const std::string name : {"x;reboot", "a,b", "a:1", "a b", "$(id)", "a\nb", "", "^a", "=a", "a'b"}) {
        CAPTURE(name);
        const auto plan = plan_environment(node_with({"mlx5_0", "mlx5_1", name}), {}, excluding({}, {"mlx5_0"}));
        CHECK(node_value(plan, "NCCL_IB_HCA") == "^=mlx5_1");
        REQUIRE(plan.withheld.size() == 1);
        CHECK(plan.withheld[0].find('\n') == std::string::npos);
    }
    CHECK(plan_environment(node_with({"a", std::string(64, 'b')}), {}, excluding({"b*"})).node.empty());
}

TEST_CASE("what /etc/nccl.conf sets stays, and is told with its line") {
    auto facts = node_with(twelve);
    facts.nccl_conf = {{"/etc/nccl.conf", 2, "NCCL_IB_HCA", "mlx5"}, {"/etc/nccl.conf", 4, "NCCL_IB_GID_INDEX", "1"}};
    auto policy = excluding({"mlx5_11"});
    policy.env.ib_gid_index = 3;
    policy.env.net_gdr_level = "PHB";
    const auto plan = plan_environment(facts, {}, policy);
    CHECK(plan.node == std::vector<Variable>{{"NCCL_NET_GDR_LEVEL", "PHB"}});
    CHECK(plan.withheld == std::vector<std::string>{"NCCL_IB_HCA: set in /etc/nccl.conf:2",
                                                    "NCCL_IB_GID_INDEX: set in /etc/nccl.conf:4"});
}

TEST_CASE("an unreadable nccl.conf withholds every NCCL variable and none of the others") {
    auto facts = node_with(twelve);
    facts.nccl_conf_why = "/etc/nccl.conf: Permission denied";
    auto policy = excluding({"mlx5_11"});
    policy.env.net_gdr_level = "PHB";
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(0, nccl::GpuStatus::gdr, "mlx5_0", nccl::Path::PIX, nccl::Via::dmabuf));
    const auto plan = plan_environment(facts, answer, policy);
    CHECK(plan.node.empty());
    CHECK(plan.withheld == std::vector<std::string>{"NCCL_IB_HCA: /etc/nccl.conf: Permission denied",
                                                    "NCCL_NET_GDR_LEVEL: /etc/nccl.conf: Permission denied"});
    REQUIRE(plan.gpus.size() == 1);
    CHECK(value_of(plan.gpus[0].variables, "GDRCHECK_GPU") != nullptr);
}

TEST_CASE("an unreadable nccl.conf is not mentioned where nothing would be set") {
    auto facts = node_with(twelve);
    facts.nccl_conf_why = "/etc/nccl.conf: Permission denied";
    CHECK(plan_environment(facts, {}, {}).withheld.empty());
}

TEST_CASE("NCCL_NET_GDR_C2C is for 2.26 on C2C machines only") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(0, nccl::GpuStatus::gdr, "mlx5_0", nccl::Path::PHB, nccl::Via::dmabuf));
    answer.version = {2, 26, 5};
    CHECK(plan_environment(node_with(twelve), answer, {}).node.empty());
    answer.gpus[0].model.c2c = true;
    CHECK(plan_environment(node_with(twelve), answer, {}).node == std::vector<Variable>{{"NCCL_NET_GDR_C2C", "1"}});
    for (const auto& version : {nccl::Version{2, 25, 1}, nccl::Version{2, 27, 7}, nccl::Version{3, 26, 1}}) {
        answer.version = version;
        CHECK(plan_environment(node_with(twelve), answer, {}).node.empty());
    }
}

TEST_CASE("opt-ins are exported as policy says") {
    Policy policy;
    policy.nccl.topo_file = "/etc/topo.xml";
    policy.env.topo_file = true;
    policy.env.ib_gid_index = 0;
    policy.env.net_gdr_level = "SYS";
    policy.env.ib_pci_relaxed_ordering = 0;
    const auto plan = plan_environment(node_with(twelve), {}, policy);
    CHECK(plan.node == std::vector<Variable>{{"NCCL_TOPO_FILE", "/etc/topo.xml"},
                                             {"NCCL_IB_GID_INDEX", "0"},
                                             {"NCCL_NET_GDR_LEVEL", "SYS"},
                                             {"NCCL_IB_PCI_RELAXED_ORDERING", "0"}});
}

TEST_CASE("a topology file that is not named or not readable is not exported") {
    Policy policy;
    policy.env.topo_file = true;
    auto facts = node_with(twelve);
    CHECK(plan_environment(facts, {}, policy).withheld ==
          std::vector<std::string>{"NCCL_TOPO_FILE: [nccl] topo_file names no file"});
    policy.nccl.topo_file = "/etc/topo.xml";
    facts.topology = TopologyFile{.path = "/etc/topo.xml", .system = {.why = "/etc/topo.xml: no <system>"}};
    const auto plan = plan_environment(facts, {}, policy);
    CHECK(plan.node.empty());
    CHECK(plan.withheld == std::vector<std::string>{"NCCL_TOPO_FILE: /etc/topo.xml: no <system>"});
}

TEST_CASE("with a network plugin no NCCL_IB variable is set, and others are") {
    nccl::Answer answer;
    answer.net_plugin = true;
    answer.net_plugin_why = "only EFA devices";
    auto policy = excluding({"mlx5_11"});
    policy.env.ib_gid_index = 3;
    policy.env.ib_pci_relaxed_ordering = 1;
    policy.env.net_gdr_level = "PHB";
    const auto plan = plan_environment(node_with(twelve), answer, policy);
    CHECK(plan.node == std::vector<Variable>{{"NCCL_NET_GDR_LEVEL", "PHB"}});
    CHECK(plan.withheld.size() == 3);
    CHECK(plan.withheld[0] == "NCCL_IB_HCA: NCCL does not use its IB transport: only EFA devices");
}

TEST_CASE("every GPU in scope is told its NIC, path and kind of GDR") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(1, nccl::GpuStatus::gdr, "mlx5_3", nccl::Path::PXB, nccl::Via::peermem));
    const auto plan = plan_environment(node_with(twelve), answer, {});
    REQUIRE(plan.gpus.size() == 1);
    CHECK(plan.gpus[0].gpu == 1);
    CHECK(plan.gpus[0].variables == std::vector<Variable>{{"GDRCHECK_GPU", "0000:2a:00.0"},
                                                          {"GDRCHECK_NIC", "mlx5_3"},
                                                          {"GDRCHECK_PATH", "PXB"},
                                                          {"GDRCHECK_GDR", "peermem"}});
}

TEST_CASE("the kind of GDR follows the status of the GPU") {
    struct Case {
        nccl::GpuStatus status;
        nccl::Via via;
        const char* word;
    };
    for (const auto& one : {Case{nccl::GpuStatus::gdr, nccl::Via::dmabuf, "dmabuf"},
                            Case{nccl::GpuStatus::gdr, nccl::Via::peermem, "peermem"},
                            Case{nccl::GpuStatus::relay, nccl::Via::dmabuf, "relay"},
                            Case{nccl::GpuStatus::staged, nccl::Via::dmabuf, "none"},
                            Case{nccl::GpuStatus::unknown, nccl::Via::peermem, "none"},
                            Case{nccl::GpuStatus::no_nic, nccl::Via::none, "none"}}) {
        nccl::Answer answer;
        answer.gpus.push_back(answer_for(0, one.status, "mlx5_0", nccl::Path::PIX, one.via));
        const auto plan = plan_environment(node_with(twelve), answer, {});
        REQUIRE(plan.gpus.size() == 1);
        CHECK(*value_of(plan.gpus[0].variables, "GDRCHECK_GDR") == one.word);
    }
}

TEST_CASE("a GPU without a NIC names none") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(0, nccl::GpuStatus::no_nic, "", nccl::Path::DIS, nccl::Via::none));
    Policy policy;
    policy.env.ucx_net_devices = true;
    const auto plan = plan_environment(node_with(twelve), answer, policy);
    REQUIRE(plan.gpus.size() == 1);
    CHECK(value_of(plan.gpus[0].variables, "GDRCHECK_NIC") == nullptr);
    CHECK(value_of(plan.gpus[0].variables, "UCX_NET_DEVICES") == nullptr);
    CHECK(plan.withheld.empty());
}

TEST_CASE("UCX and NVSHMEM get the port in use, on opt-in") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(0, nccl::GpuStatus::gdr, "mlx5_0", nccl::Path::PIX, nccl::Via::dmabuf));
    answer.nics.push_back({.name = "mlx5_0", .used = true, .used_ports = {2}});
    CHECK(value_of(plan_environment(node_with(twelve), answer, {}).gpus.at(0).variables, "UCX_NET_DEVICES") == nullptr);
    Policy policy;
    policy.env.ucx_net_devices = true;
    policy.env.nvshmem_hca_list = true;
    const auto plan = plan_environment(node_with(twelve), answer, policy);
    const auto& variables = plan.gpus.at(0).variables;
    REQUIRE(value_of(variables, "UCX_NET_DEVICES") != nullptr);
    CHECK(*value_of(variables, "UCX_NET_DEVICES") == "mlx5_0:2");
    REQUIRE(value_of(variables, "NVSHMEM_HCA_LIST") != nullptr);
    CHECK(*value_of(variables, "NVSHMEM_HCA_LIST") == "mlx5_0:2");
}

TEST_CASE("a hostile NIC name is not exported for its GPU") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(0, nccl::GpuStatus::gdr, "a;b", nccl::Path::PIX, nccl::Via::dmabuf));
    answer.nics.push_back({.name = "a;b", .used = true, .used_ports = {1}});
    Policy policy;
    policy.env.ucx_net_devices = true;
    const auto plan = plan_environment(node_with(twelve), answer, policy);
    REQUIRE(plan.gpus.size() == 1);
    CHECK(plan.gpus[0].variables.size() == 3);
    CHECK(plan.withheld == std::vector<std::string>{"GDRCHECK_NIC of 0000:18:00.0: \"a;b\" is not a name for a list"});
}

TEST_CASE("an answer about a GPU that is not there is passed over") {
    nccl::Answer answer;
    answer.gpus.push_back(answer_for(7, nccl::GpuStatus::gdr, "mlx5_0", nccl::Path::PIX, nccl::Via::dmabuf));
    CHECK(plan_environment(node_with(twelve), answer, {}).gpus.empty());
}
