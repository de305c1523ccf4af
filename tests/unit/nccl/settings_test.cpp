#include "common/nccl/settings.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck;
using namespace gdrcheck::nccl;

namespace {

Settings settings_with(std::initializer_list<std::pair<const char*, const char*>> entries) {
    NodeFacts facts;
    int line = 0;
    for (const auto& [key, value] : entries) facts.nccl_conf.push_back({"/etc/nccl.conf", ++line, key, value});
    return read_settings(facts, rules_for(default_version));
}

}  // namespace

TEST_CASE("NCCL_IB_HCA names are prefixes, so mlx5_1 also takes mlx5_10") {
    const auto filter = parse_hca_filter("mlx5_1");
    CHECK(filter.takes("mlx5_1", 1));
    CHECK(filter.takes("mlx5_10", 1));
    CHECK_FALSE(filter.takes("mlx5_2", 1));
}

TEST_CASE("NCCL_IB_HCA with = is exact, with ^ it excludes, with a port it means that port") {
    CHECK_FALSE(parse_hca_filter("=mlx5_1").takes("mlx5_10", 1));
    CHECK_FALSE(parse_hca_filter("^mlx5_1").takes("mlx5_10", 1));
    CHECK(parse_hca_filter("^=mlx5_1").takes("mlx5_10", 1));
    CHECK_FALSE(parse_hca_filter("^=mlx5_1").takes("mlx5_1", 1));
    CHECK(parse_hca_filter("=mlx5_1:2").takes("mlx5_1", 2));
    CHECK_FALSE(parse_hca_filter("=mlx5_1:2").takes("mlx5_1", 1));
}

TEST_CASE("an empty NCCL_IB_HCA takes every device") {
    CHECK(parse_hca_filter("").takes("mlx5_0", 1));
    CHECK(parse_hca_filter(",,").takes("mlx5_0", 1));
}

TEST_CASE("NCCL_NET_GDR_LEVEL takes words and the old numbers, and ignores what NCCL ignores") {
    CHECK(settings_with({{"NCCL_NET_GDR_LEVEL", "PHB"}}).gdr_level == Path::PHB);
    CHECK(settings_with({{"NCCL_NET_GDR_LEVEL", "3"}}).gdr_level == Path::PHB);
    CHECK(settings_with({{"NCCL_NET_GDR_LEVEL", "5"}}).gdr_level == Path::SYS);
    CHECK(settings_with({{"NCCL_NET_GDR_LEVEL", "0"}}).gdr_level == Path::LOC);
    CHECK_FALSE(settings_with({{"NCCL_NET_GDR_LEVEL", "phb"}}).gdr_level.has_value());
    CHECK_FALSE(settings_with({{"NCCL_NET_GDR_LEVEL", "FOO"}}).gdr_level.has_value());
}

TEST_CASE("the first entry of a key wins, as NCCL sets a variable once") {
    const auto settings = settings_with({{"NCCL_DMABUF_ENABLE", "0"}, {"NCCL_DMABUF_ENABLE", "1"}});
    CHECK_FALSE(settings.dmabuf_enabled);
}

TEST_CASE("defaults follow the release") {
    NodeFacts facts;
    CHECK_FALSE(read_settings(facts, rules_for({2, 26, 5})).gdr_c2c);
    CHECK(read_settings(facts, rules_for({2, 27, 7})).gdr_c2c);
    CHECK_FALSE(read_settings(facts, rules_for({2, 27, 7})).pxn_c2c);
    CHECK(read_settings(facts, rules_for({2, 28, 9})).pxn_c2c);
}

TEST_CASE("values that are no numbers leave the default") {
    const auto settings =
        settings_with({{"NCCL_IB_MERGE_VFS", "yes"}, {"NCCL_PXN_DISABLE", ""}, {"NCCL_NET_GDR_READ", "x"}});
    CHECK(settings.merge_vfs);
    CHECK_FALSE(settings.pxn_disabled);
    CHECK_FALSE(settings.gdr_read.has_value());
}
