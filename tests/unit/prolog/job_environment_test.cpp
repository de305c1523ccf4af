#include "prolog/node/job_environment.hpp"

#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "prolog/node/scope.hpp"

using namespace gdrcheck;
using namespace gdrcheck::node;

namespace {

using Variables = std::map<std::string, std::string>;

Variables prolog_variables() {
    return {{"SLURMD_NODENAME", "n1"},
            {"SLURM_JOB_ID", "42"},
            {"SLURM_JOB_UID", "1000"},
            {"SLURM_JOB_NUM_NODES", "2"},
            {"SLURM_JOB_GPUS", "0,1,3"}};
}

Result<JobEnvironment> read(const Variables& variables) {
    return read_job_environment([&variables](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

Result<JobEnvironment> read_with(const std::string& name, const std::string& value) {
    auto variables = prolog_variables();
    variables[name] = value;
    return read(variables);
}

Policy policy_that(OnFail on_fail) {
    Policy policy;
    policy.policy.on_fail = on_fail;
    return policy;
}

}  // namespace

TEST_CASE("a prolog knows its node, job, user, number of nodes and GPUs") {
    const auto job = read(prolog_variables());
    REQUIRE(job);
    CHECK(job->node == "n1");
    CHECK(job->job_id == 42);
    CHECK(job->uid == 1000);
    CHECK(job->nodes == 2);
    CHECK(job->gpus == "0,1,3");
    CHECK(job->mode == state::Mode::none);
}

TEST_CASE("a node name that is none, or no job number, is an error and nothing else happens") {
    const std::string name =
        GENERATE(std::string(), std::string("../n1"), std::string("n1/x"), std::string("n1\n"), std::string("%n"),
                 std::string("n1;reboot"), std::string("\xc3\xa9"), std::string("-n1"), std::string(10'000'000, 'n'));
    CHECK_FALSE(read_with("SLURMD_NODENAME", name));
    for (const auto* number : {"", "0", "-1", "42 ", "0x2a", "4294967296", "42; reboot"})
        CHECK_FALSE(read_with("SLURM_JOB_ID", number));
}

TEST_CASE("the number of nodes comes from the host list where slurmd gives no number") {
    auto variables = prolog_variables();
    variables.erase("SLURM_JOB_NUM_NODES");
    variables["SLURM_NODELIST"] = "n[1-3,7],m1";
    CHECK(read(variables)->nodes == 5);
    variables["SLURM_JOB_NODELIST"] = "n[1-2]";
    CHECK(read(variables)->nodes == 2);
    variables.erase("SLURM_NODELIST");
    variables["SLURM_JOB_NODELIST"] = "n[1-";
    CHECK(read(variables)->nodes == std::nullopt);
}

TEST_CASE("host lists are counted without being expanded") {
    CHECK(count_hosts("n1") == 1);
    CHECK(count_hosts("n1,n2") == 2);
    CHECK(count_hosts("h100-[001-512,600]") == 513);
    CHECK(count_hosts("rack[1-2]node[01-16],login1") == 33);
    CHECK(count_hosts("n[0-999999]") == 1'000'000);
    for (const auto* list : {"", "n[1-", "n[2-1]", "n[a-b]", "n[1-2],", "n[0-1000000]", "n[1-1000]m[1-2000]", "n[]",
                             "n[1-99999999999999999999]"}) {
        INFO(list);
        CHECK(count_hosts(list) == std::nullopt);
    }
    CHECK(count_hosts(std::string(1'000'000, ',')) == std::nullopt);
    CHECK(count_hosts(std::string(60'000, '[')) == std::nullopt);
}

TEST_CASE("a GPU list is digits and commas; anything else is none") {
    for (const auto* list : {"0;1", "$(id)", "GPU-x", "0, 1", "-1", "0\n1"})
        CHECK(read_with("SLURM_JOB_GPUS", list)->gpus.empty());
    CHECK(read_with("SLURM_JOB_GPUS", std::string(10'000'000, '1'))->gpus.empty());
}

TEST_CASE("the option's mode is one of three words, whatever the user wrote") {
    CHECK(read_with("SPANK_GDRCHECK_MODE", "report")->mode == state::Mode::report);
    CHECK(read_with("SPANK_GDRCHECK_MODE", "enforce")->mode == state::Mode::enforce);
    CHECK(read_with("SPANK_GDRCHECK_MODE", "off")->mode == state::Mode::off);
    for (const auto& value : {std::string("Enforce"), std::string("off\n"), std::string("%n"), std::string("\xff"),
                              std::string(10'000'000, 'x')})
        CHECK(read_with("SPANK_GDRCHECK_MODE", value)->mode == state::Mode::none);
}

TEST_CASE("without the job control variable Slurm's own variables of the option are read") {
    const std::string prefix = "SPANK__SLURM_SPANK_OPTION_gdrcheck_";
    CHECK(read_with(prefix + "gdr_check", "(null)")->mode == state::Mode::report);
    CHECK(read_with(prefix + "gdr_check", "")->mode == state::Mode::report);
    CHECK(read_with(prefix + "gdr_check", "enforce")->mode == state::Mode::enforce);
    CHECK(read_with(prefix + "no_gdr_check", "(null)")->mode == state::Mode::off);
}

TEST_CASE("which jobs are looked at, and for which anything may be done") {
    struct Row {
        const char* what;
        const char* nodes;
        const char* gpus;
        const char* mode;
        bool looks;
        bool acts;
        bool variables;
    };
    for (const auto& row :
         {Row{"multi-node GPU job", "2", "0", "", true, true, true}, Row{"one node", "1", "0", "", false, false, false},
          Row{"no GPU", "2", "", "", false, false, false},
          Row{"one node, asked for", "1", "0", "report", true, false, false},
          Row{"no GPU, asked for", "2", "", "enforce", true, false, false},
          Row{"opted out, which this site does not allow", "2", "0", "off", true, true, false}}) {
        INFO(row.what);
        auto variables = prolog_variables();
        variables["SLURM_JOB_NUM_NODES"] = row.nodes;
        variables["SLURM_JOB_GPUS"] = row.gpus;
        variables["SPANK_GDRCHECK_MODE"] = row.mode;
        const auto scope = scope_of(*read(variables), policy_that(OnFail::drain));
        CHECK(scope.looks == row.looks);
        CHECK(scope.acts == row.acts);
        CHECK(scope.variables == row.variables);
    }
}

TEST_CASE("the kill switch and an allowed opt-out look at nothing") {
    CHECK_FALSE(scope_of(*read(prolog_variables()), policy_that(OnFail::off)).looks);
    auto policy = policy_that(OnFail::drain);
    policy.policy.allow_opt_out = true;
    CHECK_FALSE(scope_of(*read_with("SPANK_GDRCHECK_MODE", "off"), policy).looks);
}

TEST_CASE("[env] export widens who gets variables, never who is drained") {
    auto variables = prolog_variables();
    variables["SLURM_JOB_NUM_NODES"] = "1";
    auto policy = policy_that(OnFail::drain);
    policy.env.when = ExportWhen::always;
    const auto always = scope_of(*read(variables), policy);
    CHECK(always.looks);
    CHECK(always.variables);
    CHECK_FALSE(always.acts);
    policy.env.when = ExportWhen::off;
    CHECK_FALSE(scope_of(*read(prolog_variables()), policy).variables);
}

TEST_CASE("no_gres = \"all\" judges jobs that asked for no GPU") {
    auto policy = policy_that(OnFail::drain);
    policy.scope.no_gres_all = true;
    auto variables = prolog_variables();
    variables.erase("SLURM_JOB_GPUS");
    CHECK(scope_of(*read(variables), policy).acts);
}
