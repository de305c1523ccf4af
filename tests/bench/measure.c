// Runs two commands in turn and prints the medians of each: wall time, CPU time, peak memory.
//   measure RUNS COMMAND-A... -- COMMAND-B...
// A program of its own because a child's peak memory starts at its parent's: this one is small.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { wall, cpu, rss, figures };

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double us(struct timeval time) {
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static void run(char** command, double* figure, size_t runs, size_t at) {
    const double start = now_us();
    const pid_t child = vfork();
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execv(command[0], command);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
        fprintf(stderr, "measure: cannot run %s\n", command[0]);
        exit(1);
    }
    figure[wall * runs + at] = now_us() - start;
    figure[cpu * runs + at] = us(usage.ru_utime) + us(usage.ru_stime);
    figure[rss * runs + at] = (double)usage.ru_maxrss;
}

static int ascending(const void* one, const void* other) {
    const double a = *(const double*)one;
    const double b = *(const double*)other;
    return (a > b) - (a < b);
}

static double median(double* values, size_t count) {
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

int main(int argc, char** argv) {
    const long runs_asked = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    int separator = 2;
    while (separator < argc && strcmp(argv[separator], "--") != 0) ++separator;
    if (runs_asked < 1 || separator == 2 || separator + 1 >= argc) {
        fprintf(stderr, "usage: measure RUNS COMMAND-A... -- COMMAND-B...\n");
        return 2;
    }
    const size_t runs = (size_t)runs_asked;
    argv[separator] = NULL;
    char** commands[2] = {argv + 2, argv + separator + 1};
    double* taken[2] = {calloc(runs * figures, sizeof(double)), calloc(runs * figures, sizeof(double))};
    if (taken[0] == NULL || taken[1] == NULL) return 1;
    for (int which = 0; which < 2; ++which) run(commands[which], taken[which], runs, 0);  // warms caches, overwritten
    for (size_t at = 0; at < runs; ++at) {
        for (int which = 0; which < 2; ++which) run(commands[which], taken[which], runs, at);
    }
    for (int which = 0; which < 2; ++which) {
        printf("%.0f %.0f %.0f\n", median(taken[which] + wall * runs, runs), median(taken[which] + cpu * runs, runs),
               median(taken[which] + rss * runs, runs));
    }
    return 0;
}
