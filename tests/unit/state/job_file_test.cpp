#include "common/state/job_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/tree.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace gdrcheck::state;

namespace {

JobRecord sample() {
    return JobRecord{
        .job_id = 42,
        .uid = 1000,
        .node = "n1",
        .verdict = "fail",
        .refuse = true,
        .line = "gdrcheck: n1: fail: 1 of 2 GPUs without GDR: port-down",
        .mode = Mode::enforce,
        .export_when = Export::option,
        .written_at_s = 1'767'225'600,
        .variables = {{"NCCL_IB_HCA", "^=mlx5_9"}},
        .gpus = {{"0000:18:00.0", 0, "GPU-1b2c", {{"GDRCHECK_NIC", "mlx5_0"}}}, {"0000:2a:00.0", {}, "", {}}}};
}

struct Directory {
    gdrcheck::test::TemporaryDirectory top;
    Place place{top.path() + "/run", ::geteuid()};
    std::string file = place.directory + "/job-42.json";

    void put(const std::string& content) const {
        std::filesystem::create_directory(place.directory);
        std::ofstream(file) << content;
    }
};

std::string changed(const std::string& from, const std::string& to) {
    auto text = to_json(sample());
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a job file comes back as it was written") {
    const Directory directory;
    REQUIRE(write_job(directory.place, sample()));
    const auto read = read_job(directory.place, 42);
    REQUIRE(read);
    CHECK(*read == sample());
}

TEST_CASE("the job file is 0644 in a directory 0755 whatever the umask, and nothing temporary is left") {
    const Directory directory;
    const auto umask_before = ::umask(0077);
    REQUIRE(write_job(directory.place, sample()));
    ::umask(umask_before);
    struct stat status {};
    REQUIRE(::stat(directory.file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0644);
    REQUIRE(::stat(directory.place.directory.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0755);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.place.directory)) ++files;
    CHECK(files == 1);
}

TEST_CASE("no job file is ENOENT, with and without its directory") {
    const Directory directory;
    CHECK(read_job(directory.place, 42).error().code == ENOENT);
    REQUIRE(write_job(directory.place, sample()));
    CHECK(read_job(directory.place, 43).error().code == ENOENT);
}

TEST_CASE("removing takes the file and what a killed writer left, and is content with nothing") {
    const Directory directory;
    REQUIRE(remove_job(directory.place, 42));
    REQUIRE(write_job(directory.place, sample()));
    std::ofstream(directory.place.directory + "/.job-42.json.4711") << "half";
    std::ofstream(directory.place.directory + "/.job-421.json.4711") << "another's";
    REQUIRE(remove_job(directory.place, 42));
    CHECK_FALSE(std::filesystem::exists(directory.file));
    CHECK_FALSE(std::filesystem::exists(directory.place.directory + "/.job-42.json.4711"));
    CHECK(std::filesystem::exists(directory.place.directory + "/.job-421.json.4711"));
}

TEST_CASE("a link in the place of the job file is neither read nor written through") {
    const Directory directory;
    directory.put("");
    const auto victim = directory.top.path() + "/victim";
    std::ofstream(victim) << to_json(sample());
    std::filesystem::remove(directory.file);
    std::filesystem::create_symlink(victim, directory.file);
    CHECK(read_job(directory.place, 42).error().code == ELOOP);
    auto other = sample();
    other.line = "new";
    REQUIRE(write_job(directory.place, other));
    CHECK(read_job(directory.place, 42) == other);
    std::ifstream stream(victim);
    const std::string content((std::istreambuf_iterator<char>(stream)), {});
    CHECK(content == to_json(sample()));
}

TEST_CASE("a job file that others may write is not believed") {
    const Directory directory;
    directory.put(to_json(sample()));
    const auto mode = GENERATE(0664, 0646, 0666);
    REQUIRE(::chmod(directory.file.c_str(), static_cast<mode_t>(mode)) == 0);
    CHECK(read_job(directory.place, 42).error().code == EPERM);
}

TEST_CASE("a directory that others may write is not believed and not written to") {
    const Directory directory;
    directory.put(to_json(sample()));
    REQUIRE(::chmod(directory.place.directory.c_str(), 0777) == 0);
    CHECK(read_job(directory.place, 42).error().code == EPERM);
    CHECK(write_job(directory.place, sample()).error().code == EPERM);
}

TEST_CASE("another user's directory is not believed") {
    if (::geteuid() != 0) SKIP("needs root to give a directory away");
    const Directory directory;
    directory.put(to_json(sample()));
    REQUIRE(::chown(directory.place.directory.c_str(), 12345, 12345) == 0);
    CHECK(read_job(directory.place, 42).error().code == EPERM);
}

TEST_CASE("another user's job file is not believed") {
    if (::geteuid() != 0) SKIP("needs root to give a file away");
    const Directory directory;
    directory.put(to_json(sample()));
    REQUIRE(::chown(directory.file.c_str(), 12345, 12345) == 0);
    CHECK(read_job(directory.place, 42).error().code == EPERM);
}

TEST_CASE("what is no file is not waited for") {
    const Directory directory;
    directory.put("");
    std::filesystem::remove(directory.file);
    REQUIRE(::mkfifo(directory.file.c_str(), 0644) == 0);
    CHECK(read_job(directory.place, 42).error().code == EPERM);
}

TEST_CASE("garbage in a job file is an error that names the file") {
    const Directory directory;
    const std::string content = GENERATE(
        std::string(), std::string("garbage"), std::string("\0\xff\xfe", 3), std::string("[]"), std::string("null"),
        std::string("{\"schema\": 1}"), std::string("{\"schema\": 2}"), std::string(100'000, '['),
        std::string(200'000, ' ') + "{", std::string("{\"schema\":1,\"schema\":1,\"job\":[[[[]]]]}"),
        to_json(sample()).substr(0, 60), to_json(sample()) + "x");
    directory.put(content);
    const auto read = read_job(directory.place, 42);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().what, ContainsSubstring(directory.file));
}

TEST_CASE("a huge job file is not read to its end") {
    const Directory directory;
    directory.put("");
    std::filesystem::resize_file(directory.file, 1ULL << 40U);
    CHECK(read_job(directory.place, 42).error().code == EFBIG);
}

TEST_CASE("a job file under another job's name is an error") {
    const Directory directory;
    auto other = sample();
    other.job_id = 43;
    directory.put(to_json(other));
    CHECK_FALSE(read_job(directory.place, 42));
}

TEST_CASE("a job file can only set variables that this program exports") {
    const auto* name = GENERATE("LD_PRELOAD", "PATH", "NCCL_ib", "NCCL_X=Y", "NCCL_X\\u0000", "");
    CHECK_FALSE(parse_job(changed("NCCL_IB_HCA", name)));
    CHECK_FALSE(parse_job(changed("GDRCHECK_NIC", name)));
}

TEST_CASE("every string of a job file is printable ASCII") {
    const auto* value = GENERATE("\\u001b[31m", "a\\nb", "\\u00e9", "\\u0000", "\x7f");
    CHECK_FALSE(parse_job(changed("^=mlx5_9", value)));
    CHECK_FALSE(parse_job(changed("1 of 2", value)));
    CHECK_FALSE(parse_job(changed("GPU-1b2c", value)));
    CHECK_FALSE(parse_job(changed("\"n1\"", std::string("\"") + value + "\"")));
}

TEST_CASE("numbers that do not fit are errors") {
    const auto* value = GENERATE("-1", "4294967296", "18446744073709551615", "1e3", "42.0", "\"42\"", "true", "null");
    CHECK_FALSE(parse_job(changed("\"job\":42", std::string("\"job\":") + value)));
    CHECK_FALSE(parse_job(changed("\"uid\":1000", std::string("\"uid\":") + value)));
    if (std::string_view(value) != "null")
        CHECK_FALSE(parse_job(changed("\"minor\":0", std::string("\"minor\":") + value)));
}

TEST_CASE("words that are not in the schema are errors") {
    CHECK_FALSE(parse_job(changed("\"enforce\"", "\"Enforce\"")));
    CHECK_FALSE(parse_job(changed("\"option\"", "\"sometimes\"")));
    CHECK_FALSE(parse_job(changed("\"fail\"", "\"failed\"")));
    CHECK_FALSE(parse_job(changed("true", "1")));
}

TEST_CASE("fields that a later release adds are passed over") {
    const auto read = parse_job(changed("\"job\":42", "\"job\":42,\"later\":{\"a\":[1]}"));
    REQUIRE(read);
    CHECK(*read == sample());
}

TEST_CASE("what is written is printable and bounded whatever came in") {
    auto record = sample();
    record.line = std::string("bell\a newline\n \xff") + std::string(10'000, 'x');
    record.variables = {{"NCCL_IB_HCA", std::string("a\nb")}};
    const auto read = parse_job(to_json(record));
    REQUIRE(read);
    CHECK(read->line.substr(0, 16) == "bell? newline? ?");
    CHECK(read->line.size() == 400);
    CHECK(read->variables.front().second == "a?b");
}

TEST_CASE("a directory that cannot be made is an error with its cause") {
    const Place place{"/proc/nowhere/run", ::geteuid()};
    const auto written = write_job(place, sample());
    REQUIRE_FALSE(written);
    CHECK(written.error().code == ENOENT);
    CHECK_THAT(written.error().what, ContainsSubstring("/proc/nowhere/run"));
}
