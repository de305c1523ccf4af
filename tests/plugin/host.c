/* A plain C program that loads the plugin as Slurm does and treats it badly. Usage: host PLUGIN CASE DIRECTORY
 * Each case is its own process: the plugin keeps what it was told, as in one srun or one slurmstepd. */
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

hook *hook_init, *hook_init_post_opt, *hook_task_init;
const char* directory;
static char argument_run[512], argument_helper[512], argument_devices[512];
static char* words[] = {argument_run, argument_helper, argument_devices};

int call(hook* function) {
    return function(NULL, 3, words);
}

void write_text(const char* name, const char* text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE* file = fopen(path, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    chmod(path, 0644);
}

void write_job(const char* verdict, bool refuse, const char* export_when, long age_s, unsigned uid) {
    char text[4096];
    snprintf(text, sizeof text,
             "{\"schema\":1,\"job\":42,\"uid\":%u,\"node\":\"n1\",\"verdict\":\"%s\",\"refuse\":%s,"
             "\"line\":\"gdrcheck: n1: %s\",\"mode\":\"report\",\"export\":\"%s\",\"written\":%ld,"
             "\"variables\":{\"NCCL_IB_HCA\":\"^=mlx5_9\"},\"gpus\":["
             "{\"bdf\":\"0000:18:00.0\",\"minor\":0,\"uuid\":\"GPU-11111111-0000\",\"variables\":{"
             "\"GDRCHECK_GPU\":\"0000:18:00.0\",\"GDRCHECK_NIC\":\"mlx5_0\",\"UCX_NET_DEVICES\":\"mlx5_0:1\"}},"
             "{\"bdf\":\"0000:2a:00.0\",\"minor\":1,\"uuid\":\"GPU-22222222-0000\",\"variables\":{"
             "\"GDRCHECK_GPU\":\"0000:2a:00.0\",\"GDRCHECK_NIC\":\"mlx5_0\",\"UCX_NET_DEVICES\":\"mlx5_0:1\"}},"
             "{\"bdf\":\"0000:5d:00.0\",\"minor\":2,\"uuid\":\"GPU-33333333-0000\",\"variables\":{"
             "\"GDRCHECK_GPU\":\"0000:5d:00.0\",\"GDRCHECK_NIC\":\"mlx5_2\",\"UCX_NET_DEVICES\":\"mlx5_2:1\"}}]}\n",
             uid, verdict, refuse ? "true" : "false", verdict, export_when, (long)time(NULL) - age_s);
    write_text("job-42.json", text);
}

static void start_task(void) {
    fake_reset(S_CTX_REMOTE);
    CHECK(call(hook_init) == 0);
    slurm.local_task = 0;
}

/* Options are told in srun, and reach the prolog as job control variable. */
static void case_options(void) {
    const char* const words_of_report[] = {NULL, "", "(null)", "report"};
    for (size_t i = 0; i < sizeof words_of_report / sizeof *words_of_report; ++i) {
        fake_reset(i % 2 ? S_CTX_LOCAL : S_CTX_ALLOCATOR);
        CHECK(call(hook_init) == 0);
        CHECK(slurm.option_count == 2);
        CHECK(fake_option("gdr-check", words_of_report[i], 0) == 0);
        CHECK(call(hook_init_post_opt) == 0);
        CHECK(strcmp(slurm.job_control, "GDRCHECK_MODE=report") == 0);
    }
    CHECK(fake_option("gdr-check", "enforce", 0) == 0 && fake_option("gdr-check", "enforce", 0) == 0);
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(strcmp(slurm.job_control, "GDRCHECK_MODE=enforce") == 0);
    CHECK(fake_option("no-gdr-check", NULL, 0) == 0);
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(strcmp(slurm.job_control, "GDRCHECK_MODE=off") == 0);

    char huge[100000];
    memset(huge, '%', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    const char* const hostile[] = {"enforced", "%n%s%n", "report\nenforce", "\xff\xfe", "$(id)", huge};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
        slurm.log[0] = '\0';
        CHECK(fake_option("gdr-check", hostile[i], 0) == -1);
        CHECK(strstr(slurm.log, "use --gdr-check=report or --gdr-check=enforce"));
        CHECK(strchr(slurm.log, '\n') == slurm.log + strlen(slurm.log) - 1);
        CHECK(!strchr(slurm.log, '\xff'));
        CHECK(fake_option("gdr-check", hostile[i], 1) == 0); /* on the node nobody would hear it */
    }
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(strcmp(slurm.job_control, "GDRCHECK_MODE=off") == 0);
}

static void case_unused_option(void) {
    fake_reset(S_CTX_LOCAL);
    CHECK(call(hook_init) == 0 && call(hook_init_post_opt) == 0);
    CHECK(!slurm.job_control[0] && !slurm.log[0]);
}

/* Every hook in every context, before init, twice, without arguments; then with every call failing. */
static void case_any_order(void) {
    hook* const hooks[] = {hook_task_init, hook_init_post_opt, hook_init, hook_task_init, hook_init_post_opt};
    for (int fails = 0; fails <= 1; ++fails) {
        for (int context = S_CTX_ERROR; context <= S_CTX_JOB_SCRIPT + 1; ++context) {
            fake_reset((spank_context_t)context);
            slurm.everything_fails = fails;
            for (size_t i = 0; i < sizeof hooks / sizeof *hooks; ++i) {
                CHECK(call(hooks[i]) == 0);
                CHECK(hooks[i](NULL, 0, NULL) == 0);
                CHECK(hooks[i](NULL, -1, words) == 0);
            }
        }
    }
    char* bad_words[] = {"run_dir", "helper=relative/path", "=", "", NULL, "%s%n=/x", "unknown=/x"};
    start_task();
    CHECK(hook_task_init(NULL, 7, bad_words) == 0);
    CHECK(strstr(slurm.log, "plugstack.conf"));
}

static void case_exports(void) {
    write_job("ok", false, "always", 0, 0);
    start_task();
    fake_setenv("CUDA_VISIBLE_DEVICES", "2,1");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "^=mlx5_9");
    CHECK_ENV("GDRCHECK_GPU", "0000:5d:00.0,0000:2a:00.0");
    CHECK_ENV("GDRCHECK_NIC", "mlx5_2,mlx5_0");
    CHECK_ENV("UCX_NET_DEVICES", "mlx5_2:1,mlx5_0:1");
    CHECK_ENV("GDRCHECK_EXPORTED", "NCCL_IB_HCA=^=mlx5_9;UCX_NET_DEVICES=mlx5_2:1,mlx5_0:1");
    CHECK(!slurm.log[0]);

    /* the same environment again, as a step inside a step has it, with another GPU */
    fake_setenv("CUDA_VISIBLE_DEVICES", "GPU-11111111-0000");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("GDRCHECK_NIC", "mlx5_0");
    CHECK_ENV("UCX_NET_DEVICES", "mlx5_0:1");

    /* what the user changed in between is the user's */
    fake_setenv("NCCL_IB_HCA", "mlx5_7");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "mlx5_7");
    CHECK_ENV("GDRCHECK_EXPORTED", "UCX_NET_DEVICES=mlx5_0:1");

    /* no file for this job: nothing of another node stays */
    slurm.job_id = 43;
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "mlx5_7");
    CHECK(!fake_getenv("UCX_NET_DEVICES") && !fake_getenv("GDRCHECK_NIC") && !fake_getenv("GDRCHECK_EXPORTED"));
}

static void case_user_settings(void) {
    write_job("ok", false, "always", 0, 0);
    start_task();
    fake_setenv("NCCL_IB_HCA", ""); /* set, and empty */
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "");

    static char huge[10 * 1000 * 1000];
    memset(huge, 'x', sizeof huge - 1);
    start_task();
    fake_setenv("NCCL_IB_HCA", huge);
    fake_setenv("CUDA_VISIBLE_DEVICES", huge);
    fake_setenv("GDRCHECK_EXPORTED", huge);
    CHECK(call(hook_task_init) == 0);
    CHECK(strlen(fake_getenv("NCCL_IB_HCA")) == sizeof huge - 1);
    CHECK(!fake_getenv("GDRCHECK_GPU"));

    write_text(".nccl.conf", "# NCCL_X=1\nNCCL_DEBUG=INFO\nNCCL_IB_HCA=mlx5_3\n");
    start_task();
    fake_setenv("HOME", directory);
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("NCCL_IB_HCA"));

    write_text(".nccl.conf", "#NCCL_IB_HCA=mlx5_3\n");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "^=mlx5_9");

    char path[1024];
    snprintf(path, sizeof path, "%s/user.conf", directory);
    start_task();
    fake_setenv("NCCL_CONF_FILE", path);
    CHECK(mkfifo(path, 0666) == 0); /* nobody writes: must not be waited for */
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("NCCL_IB_HCA"));
    CHECK(unlink(path) == 0);
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "^=mlx5_9");

    fake_setenv("GDRCHECK_EXPORTED", "LD_PRELOAD=/x;PATH=/bin;=;NCCL_IB_HCA=other;;");
    fake_setenv("LD_PRELOAD", "/x");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("LD_PRELOAD", "/x");
}

/* What cannot be known is not said. */
static void case_devices(void) {
    write_job("ok", false, "always", 0, 0);
    const char* const hostile[] = {"",
                                   ",",
                                   "3",
                                   "-1",
                                   "0,0",
                                   "0,,1",
                                   "1x",
                                   "0x1",
                                   "99999999999999999999",
                                   " ",
                                   "MIG-11111111-0000",
                                   "GPU-",
                                   "GPU-4",
                                   "all",
                                   "none",
                                   "%n",
                                   "NoDevFiles",
                                   "0 1"};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
        start_task();
        fake_setenv("CUDA_VISIBLE_DEVICES", hostile[i]);
        fake_setenv("GDRCHECK_GPU", "of another node");
        CHECK(call(hook_task_init) == 0);
        CHECK(!fake_getenv("GDRCHECK_GPU"));
        CHECK_ENV("NCCL_IB_HCA", "^=mlx5_9");
    }
    start_task(); /* not set: CUDA shows all that may be opened */
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("GDRCHECK_GPU", "0000:18:00.0,0000:2a:00.0,0000:5d:00.0");

    write_text("devices/nvidia3", ""); /* a GPU of another job that may be opened: then it is in CUDA's list too */
    start_task();
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("GDRCHECK_GPU"));
    snprintf(argument_devices, sizeof argument_devices, "device_dir=/nonexistent");
    start_task();
    fake_setenv("CUDA_VISIBLE_DEVICES", "0");
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("GDRCHECK_GPU"));
    fake_setenv("CUDA_VISIBLE_DEVICES", "GPU-22222222-0000");
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("GDRCHECK_GPU", "0000:2a:00.0");
}

static void case_export_on_request(void) {
    write_job("ok", false, "option", 0, 0);
    start_task();
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("NCCL_IB_HCA"));
    CHECK(fake_option("gdr-check", NULL, 1) == 0);
    CHECK(call(hook_task_init) == 0);
    CHECK_ENV("NCCL_IB_HCA", "^=mlx5_9");
    CHECK(strcmp(slurm.log, "gdrcheck: n1: ok\n") == 0);
    slurm.local_task = 1; /* one line per node */
    slurm.log[0] = '\0';
    CHECK(call(hook_task_init) == 0);
    CHECK(!slurm.log[0]);
    CHECK(fake_option("no-gdr-check", NULL, 1) == 0);
    CHECK(call(hook_task_init) == 0);
    CHECK(!fake_getenv("NCCL_IB_HCA"));
}

/* Status of a task's process that calls task_init and then would run the program: 77. */
static int task_status(void) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        call(hook_task_init);
        _exit(77);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

static void case_refusal(void) {
    start_task();
    CHECK(fake_option("gdr-check", "enforce", 1) == 0);
    CHECK(task_status() == 77); /* no file */
    write_job("unknown", false, "always", 0, 0);
    CHECK(task_status() == 77);
    write_job("fail", true, "always", 0, 0);
    CHECK(task_status() == 1);
    slurm.local_task = 3;
    CHECK(task_status() == 1);
    slurm.step_id = SLURM_EXTERN_CONT;
    CHECK(task_status() == 77);
    slurm.step_id = 0;
    write_job("fail", true, "always", 0, 1000); /* left by another user's job of this number */
    CHECK(task_status() == 77);
    write_job("fail", true, "always", 0, 0);
    CHECK(fake_option("gdr-check", "report", 1) == 0);
    CHECK(task_status() == 77);
    CHECK(call(hook_init_post_opt) == 0);
}

static void case_garbage_files(void) {
    const char* const texts[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"schema\":1}",
        "\xff\xfe\0x",
        "{\"schema\":2,\"job\":42}",
        "{\"schema\":1,\"job\":42,\"uid\":0,\"node\":\"n1\",\"verdict\":\"fail\",\"refuse\":true,"
        "\"line\":\"x\\n%n%s\",\"mode\":\"report\",\"export\":\"always\",\"written\":1,"
        "\"variables\":{},\"gpus\":[]}"};
    char path[1024];
    snprintf(path, sizeof path, "%s/job-42.json", directory);
    start_task();
    CHECK(fake_option("gdr-check", "enforce", 1) == 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        write_text("job-42.json", texts[i]);
        slurm.log[0] = '\0';
        CHECK(task_status() == 77);
        CHECK(call(hook_task_init) == 0);
        CHECK(strncmp(slurm.log, "gdrcheck: ", 10) == 0);
        CHECK(strchr(slurm.log, '\n') == slurm.log + strlen(slurm.log) - 1);
    }
    CHECK(unlink(path) == 0 && mkfifo(path, 0644) == 0);
    CHECK(task_status() == 77);
    CHECK(unlink(path) == 0 && mkdir(path, 0755) == 0);
    CHECK(task_status() == 77);
    CHECK(rmdir(path) == 0 && symlink(path, path) == 0);
    CHECK(task_status() == 77);
    CHECK(unlink(path) == 0);
    write_job("fail", true, "always", 0, 0);
    CHECK(chmod(path, 0666) == 0); /* anybody may have written it */
    CHECK(task_status() == 77);
}

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {
    {"options", case_options},
    {"unused-option", case_unused_option},
    {"any-order", case_any_order},
    {"exports", case_exports},
    {"user-settings", case_user_settings},
    {"devices", case_devices},
    {"export-on-request", case_export_on_request},
    {"refusal", case_refusal},
    {"garbage-files", case_garbage_files},
    {"helper", case_helper},
    {"helper-that-hangs", case_helper_that_hangs},
};

static void* symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    void* library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    CHECK(strcmp(symbol(library, "plugin_type"), "spank") == 0);
    CHECK(*(unsigned*)symbol(library, "plugin_version") == SLURM_VERSION_NUMBER);
    *(void**)&hook_init = symbol(library, "slurm_spank_init");
    *(void**)&hook_init_post_opt = symbol(library, "slurm_spank_init_post_opt");
    *(void**)&hook_task_init = symbol(library, "slurm_spank_task_init");
    directory = arguments[3];
    snprintf(argument_run, sizeof argument_run, "run_dir=%s", directory);
    snprintf(argument_helper, sizeof argument_helper, "helper=%s/helper", directory);
    snprintf(argument_devices, sizeof argument_devices, "device_dir=%s/devices", directory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(cases[i].name, arguments[2]) != 0) continue;
        cases[i].run();
        return 0;
    }
    fprintf(stderr, "no case %s\n", arguments[2]);
    return 2;
}
