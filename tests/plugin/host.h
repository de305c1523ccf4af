/* What the cases of the plugin's host share: the loaded plugin, its arguments and the files it reads. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_slurm.h"

typedef int hook(spank_t, int, char**);

extern hook *hook_init, *hook_init_post_opt, *hook_task_init;
extern const char* directory;

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "%s:%d: %s\nlog:\n%s\n", __FILE__, __LINE__, #condition, slurm.log); \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

#define CHECK_ENV(name, expected)                                                                 \
    do {                                                                                          \
        const char* value_ = fake_getenv(name);                                                   \
        if (!value_ || strcmp(value_, expected) != 0) {                                           \
            fprintf(stderr, "%s:%d: %s is %s, expected %s\nlog:\n%s\n", __FILE__, __LINE__, name, \
                    value_ ? value_ : "not set", expected, slurm.log);                            \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* A hook with the arguments of plugstack.conf. */
int call(hook* function);
/* A file of `directory`. */
void write_text(const char* name, const char* text);
/* The job file of job 42, `age_s` old. */
void write_job(const char* verdict, bool refuse, const char* export_when, long age_s, unsigned uid);

void case_helper(void);
void case_helper_that_hangs(void);
