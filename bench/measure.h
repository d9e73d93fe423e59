/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the bench programs: checks, medians, the peak of the processor, and measuring inside a function of the
 * engine, where kernels run in parallel as they do in an executor. What is measured is in the programs. */
#ifndef MXC_BENCH_MEASURE_H
#define MXC_BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mxc/engine.h>

#include "base/simd.h"
#include "base/sys.h"

static inline void measure_fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static inline void measure_check(mxc_status status) {
    if (status != MXC_OK)
        measure_fail(mxc_last_error());
}

static inline int measure_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that a share of all are below. Sorts. */
static inline double measure_quantile(double *values, int n, double share) {
    qsort(values, (size_t)n, sizeof *values, measure_compare);
    return values[(int)(share * n)];
}

/* 1 if the only argument is --quick, 0 if there is none; anything else ends the program. */
static inline int measure_is_quick(int argc, char **argv) {
    if (argc == 1)
        return 0;
    if (argc == 2 && strcmp(argv[1], "--quick") == 0)
        return 1;
    fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
    exit(2);
}

/* Seconds of all threads of this program: what others run meanwhile does not count. */
static inline double measure_processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A name for a file of this process, to be unlinked. */
static inline void measure_file(char *path, size_t room) {
    const char *base = getenv("TMPDIR");
    snprintf(path, room, "%s/mxc-bench-%d", base && *base ? base : "/tmp", (int)getpid());
}

/* ---- engine ------------------------------------------------------------------------------------------------------ */

/* One worker; the thread that waits helps it with its parallel loops, as in the default engine of a machine with two
 * processors. */
static inline mxc_engine *measure_engine(int threads) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.workers = threads > 1 ? threads - 1 : 1;
    options.parallelism = threads;
    measure_check(mxc_engine_create(&options, &engine));
    return engine;
}

/* Run fn(run, arg) as one function of an engine with so many threads. */
static inline void measure_inside(int threads, mxc_task_fn fn, void *arg) {
    mxc_engine *engine = measure_engine(threads);
    mxc_task task = MXC_TASK_INIT;
    task.fn = fn;
    task.arg = arg;
    measure_check(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    measure_check(mxc_wait_all(engine));
    mxc_engine_destroy(engine);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* Something that is timed: call it; it returns when its work is done. */
typedef struct measure_case {
    void (*call)(const mxc_run *run, void *arg);
    void *arg;
    int calls;      /* in one sample; see measure_calibrate */
    double seconds; /* of one call: a tenth of the samples took less, since other programs only ever add to a time */
    double median;  /* half of the samples took less */
} measure_case;

enum { MEASURE_SAMPLES = 31 };

static inline double measure_sample(const mxc_run *run, const measure_case *c) {
    int64_t begin = mxci_now_ns();
    for (int i = 0; i < c->calls; i++)
        c->call(run, c->arg);
    return 1e-9 * (double)(mxci_now_ns() - begin) / c->calls;
}

/* As many calls as take about sample_seconds. */
static inline void measure_calibrate(const mxc_run *run, measure_case *c, double sample_seconds) {
    double seconds;
    c->calls = 1;
    while ((seconds = measure_sample(run, c) * c->calls) < sample_seconds && c->calls < 1 << 24)
        c->calls = seconds < sample_seconds / 8 ? c->calls * 4 : (int)(c->calls * sample_seconds / seconds * 1.1) + 1;
}

/* Sample n cases in turn, so that whatever slows the machine for a while slows all of them. */
static inline void measure_in_turn(const mxc_run *run, int n, measure_case *cases, int quick) {
    double times[8][MEASURE_SAMPLES];
    int samples = quick ? 3 : MEASURE_SAMPLES;
    for (int i = 0; i < n; i++)
        measure_calibrate(run, &cases[i], quick ? 2e-4 : 2e-3);
    for (int s = 0; s < samples; s++)
        for (int i = 0; i < n; i++)
            times[i][s] = measure_sample(run, &cases[i]);
    for (int i = 0; i < n; i++) {
        cases[i].seconds = measure_quantile(times[i], samples, 0.1);
        cases[i].median = measure_quantile(times[i], samples, 0.5);
    }
}

/* ---- the processor's peak ---------------------------------------------------------------------------------------- */

enum { PEAK_CHAINS = 12, PEAK_LANES = 8, PEAK_STEPS = 4000, PEAK_PARTS = 64 };

/* Twelve independent chains of multiply-add on whole vectors hide the latency of one. */
MXCI_INLINE void measure_chains(float *state) {
    mxci_v_f32 chain[PEAK_CHAINS], x = mxci_splat_f32(0.999f), y = mxci_splat_f32(0.001f);
    MXCI_UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        chain[i] = mxci_load_f32(state + i * PEAK_LANES);
    for (int step = 0; step < PEAK_STEPS; step++) {
        MXCI_UNROLL
        for (int i = 0; i < PEAK_CHAINS; i++)
            chain[i] = chain[i] * x + y;
    }
    MXCI_UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        mxci_store_f32(state + i * PEAK_LANES, chain[i]);
}

#if defined(__x86_64__)
typedef float measure_v512 __attribute__((vector_size(64)));

__attribute__((target("avx2,fma"))) static inline void measure_chains_fma(float *state) {
    measure_chains(state);
}

/* As much work: half of the steps on vectors that are twice as wide. */
__attribute__((target("avx512f"))) static inline void measure_chains_512(float *state) {
    measure_v512 chain[PEAK_CHAINS], x = {0}, y = {0};
    memcpy(chain, state, sizeof chain);
    x += 0.999f, y += 0.001f;
    for (int step = 0; step < PEAK_STEPS / 2; step++) {
        MXCI_UNROLL
        for (int i = 0; i < PEAK_CHAINS; i++)
            chain[i] = chain[i] * x + y;
    }
    memcpy(state, chain, sizeof chain);
}
#endif

static inline void measure_peak_part(void *arg, int64_t begin, int64_t end, int part) {
    static float state[PEAK_PARTS][2 * PEAK_CHAINS * PEAK_LANES];
    (void)arg;
    for (int64_t i = begin; i < end; i++) {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) {
            measure_chains_512(state[part % PEAK_PARTS]);
            continue;
        }
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            measure_chains_fma(state[part % PEAK_PARTS]);
            continue;
        }
#endif
        measure_chains(state[part % PEAK_PARTS]);
    }
}

/* A case for measure_in_turn; arg: int *threads. */
static inline void measure_peak(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, *(int *)arg, 1, measure_peak_part, NULL);
}

static inline double measure_peak_flops(int threads) {
    return 2.0 * PEAK_LANES * PEAK_CHAINS * PEAK_STEPS * threads;
}

#endif
