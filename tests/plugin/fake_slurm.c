#include "fake_slurm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_variables = 64 };

struct fake_slurm slurm;
static char* variables[most_variables]; /* "NAME=VALUE" */

static char** find_variable(const char* name) {
    const size_t length = strlen(name);
    for (int i = 0; i < most_variables; ++i) {
        if (variables[i] && strncmp(variables[i], name, length) == 0 && variables[i][length] == '=') {
            return &variables[i];
        }
    }
    return NULL;
}

void fake_setenv(const char* name, const char* value) {
    char** slot = find_variable(name);
    for (int i = 0; !slot && i < most_variables; ++i) {
        if (!variables[i]) slot = &variables[i];
    }
    if (!slot) abort();
    free(*slot);
    *slot = NULL;
    if (!value) return;
    const size_t size = strlen(name) + strlen(value) + 2;
    *slot = malloc(size);
    if (!*slot) abort();
    snprintf(*slot, size, "%s=%s", name, value);
}

const char* fake_getenv(const char* name) {
    char** slot = find_variable(name);
    return slot ? *slot + strlen(name) + 1 : NULL;
}

void fake_reset(spank_context_t context) {
    for (int i = 0; i < most_variables; ++i) {
        free(variables[i]);
        variables[i] = NULL;
    }
    memset(&slurm, 0, sizeof slurm);
    slurm.context = context;
    slurm.job_id = 42;
    slurm.local_task = -1;
}

int fake_option(const char* name, const char* argument, int remote) {
    for (int i = 0; i < slurm.option_count; ++i) {
        if (strcmp(slurm.options[i]->name, name) == 0) {
            return slurm.options[i]->cb(slurm.options[i]->val, argument, remote);
        }
    }
    abort();
}

static void append_log(const char* format, va_list arguments) {
    const size_t used = strlen(slurm.log);
    vsnprintf(slurm.log + used, sizeof slurm.log - used - 1, format, arguments);
    strcat(slurm.log, "\n");
}

#define LOGGER(name)                     \
    void name(const char* format, ...) { \
        va_list arguments;               \
        va_start(arguments, format);     \
        append_log(format, arguments);   \
        va_end(arguments);               \
    }
LOGGER(slurm_error)
LOGGER(slurm_debug)
LOGGER(slurm_spank_log)

spank_context_t spank_context(void) {
    return slurm.context;
}

spank_err_t spank_option_register(spank_t handle, struct spank_option* option) {
    (void)handle;
    if (slurm.everything_fails || slurm.option_count == 8) return ESPANK_BAD_ARG;
    slurm.options[slurm.option_count++] = option;
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t handle, const char* name, char* buffer, int size) {
    (void)handle;
    if (slurm.everything_fails) return ESPANK_ERROR;
    if (slurm.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
    const char* value = fake_getenv(name);
    if (!value) return ESPANK_ENV_NOEXIST;
    snprintf(buffer, (size_t)size, "%s", value);
    return strlen(value) < (size_t)size ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t handle, const char* name, const char* value, int overwrite) {
    (void)handle;
    if (slurm.everything_fails) return ESPANK_ERROR;
    if (slurm.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
    if (!overwrite && fake_getenv(name)) return ESPANK_ENV_EXISTS;
    fake_setenv(name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t handle, const char* name) {
    (void)handle;
    if (slurm.everything_fails) return ESPANK_ERROR;
    if (fake_getenv(name)) fake_setenv(name, NULL);
    return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t handle, const char* name, const char* value, int overwrite) {
    (void)handle;
    (void)overwrite;
    if (slurm.everything_fails) return ESPANK_ERROR;
    if (slurm.context != S_CTX_LOCAL && slurm.context != S_CTX_ALLOCATOR) return ESPANK_NOT_LOCAL;
    snprintf(slurm.job_control, sizeof slurm.job_control, "%s=%s", name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t handle, spank_item_t item, ...) {
    (void)handle;
    if (slurm.everything_fails) return ESPANK_ERROR;
    if (slurm.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
    va_list arguments;
    va_start(arguments, item);
    spank_err_t result = ESPANK_SUCCESS;
    switch (item) {
        case S_JOB_ID:
            *va_arg(arguments, uint32_t*) = slurm.job_id;
            break;
        case S_JOB_STEPID:
            *va_arg(arguments, uint32_t*) = slurm.step_id;
            break;
        case S_JOB_NNODES:
            *va_arg(arguments, uint32_t*) = 2;
            break;
        case S_JOB_UID:
            *va_arg(arguments, uid_t*) = slurm.uid;
            break;
        case S_TASK_ID:
            if (slurm.local_task < 0) {
                result = ESPANK_NOT_TASK;
            } else {
                *va_arg(arguments, int*) = slurm.local_task;
            }
            break;
        default:
            result = ESPANK_BAD_ARG;
    }
    va_end(arguments);
    return result;
}
