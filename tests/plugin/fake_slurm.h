/* The part of Slurm that a plugin sees, in a plain C program: what a test sets here is what the plugin is told. */
#pragma once

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fake_slurm {
    spank_context_t context;
    bool everything_fails; /* each call that can fail does */
    uint32_t job_id;
    uint32_t step_id;
    uid_t uid;
    int local_task; /* -1: not in a task */
    /* what the plugin did */
    struct spank_option* options[8];
    int option_count;
    char job_control[64]; /* "NAME=VALUE" */
    char log[8192];       /* all that it said, one line each */
};

extern struct fake_slurm slurm;

void fake_reset(spank_context_t context);

/* The environment of the job; NULL unsets. */
void fake_setenv(const char* name, const char* value);
/* NULL when it is not set. */
const char* fake_getenv(const char* name);
/* The callback of --NAME as Slurm calls it. */
int fake_option(const char* name, const char* argument, int remote);
