/* The check that comes with a step: the helper that the plugin starts in an allocation whose prolog ran long ago. */
#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool helper_ran(void) {
    char path[1024];
    snprintf(path, sizeof path, "%s/helper.out", directory);
    return unlink(path) == 0;
}

/* An allocation's prolog ran long ago, or never: the check comes with the step. */
void case_helper(void) {
    char script[2048], path[1024];
    snprintf(script, sizeof script,
             "#!/bin/sh\nenv | grep -v ^PWD= | sort | tr '\\n' ' ' > %s/helper.out\necho \"$*\" >> %s/helper.out\n"
             "ls /proc/self/fd | wc -l >> %s/helper.out\n",
             directory, directory, directory);
    write_text("helper", script);
    snprintf(path, sizeof path, "%s/helper", directory);
    CHECK(chmod(path, 0755) == 0);
    setenv("SLURMD_NODENAME", "n1", 1);
    setenv("SLURM_CONF", "/etc/slurm/slurm.conf", 1);
    setenv("LD_PRELOAD_X", "1", 1);
    CHECK(open("/dev/null", O_RDONLY) >= 0); /* a descriptor without O_CLOEXEC */

    fake_reset(S_CTX_REMOTE);
    CHECK(call(hook_init) == 0);
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(!helper_ran()); /* nobody asked */

    CHECK(fake_option("gdr-check", NULL, 1) == 0);
    CHECK(call(hook_init_post_opt) == 0);
    char text[512] = "";
    snprintf(path, sizeof path, "%s/helper.out", directory);
    FILE* file = fopen(path, "r");
    CHECK(file);
    CHECK(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    CHECK(strcmp(text,
                 "SLURMD_NODENAME=n1 SLURM_CONF=/etc/slurm/slurm.conf SLURM_JOB_ID=42 SLURM_JOB_NUM_NODES=2 "
                 "SLURM_JOB_UID=0 SPANK_GDRCHECK_MODE=report --step\n4\n") == 0);
    CHECK(helper_ran());

    write_job("ok", false, "always", 5, 0);
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(!helper_ran()); /* the prolog has just looked */
    write_job("ok", false, "always", 3600, 0);
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(helper_ran());
    write_job("ok", false, "always", -3600, 0); /* a clock that went back */
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(helper_ran());
    slurm.step_id = SLURM_EXTERN_CONT;
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(!helper_ran());
    slurm.step_id = 0;
    const char* const hostile[] = {"", "n1/../..", "n1\nSLURM_JOB_ID=1", "%n", "n 1", ".."};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
        setenv("SLURMD_NODENAME", hostile[i], 1);
        CHECK(call(hook_init_post_opt) == 0);
        CHECK(!helper_ran());
    }
}

void case_helper_that_hangs(void) {
    char path[1024];
    write_text("helper", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n");
    snprintf(path, sizeof path, "%s/helper", directory);
    CHECK(chmod(path, 0755) == 0);
    setenv("SLURMD_NODENAME", "n1", 1);
    fake_reset(S_CTX_REMOTE);
    CHECK(call(hook_init) == 0 && fake_option("gdr-check", NULL, 1) == 0);
    const double start = seconds();
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(seconds() - start < 8);
    CHECK(strstr(slurm.log, "no answer in time"));
    CHECK(waitpid(-1, NULL, WNOHANG) == -1); /* no child left */
    CHECK(unlink(path) == 0);
    slurm.log[0] = '\0';
    CHECK(call(hook_init_post_opt) == 0);
    CHECK(strstr(slurm.log, "could not be started"));
}
