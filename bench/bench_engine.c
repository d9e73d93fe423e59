/*
 * What the engine itself costs: nanoseconds per function that does nothing, for three graphs, pushed anew and as prepared
 * operators, from one and two threads; the time to hand a function to a worker that looks for work; the cost of opening
 * and joining a parallel loop. Medians of several repeats; each repeat ends with a wait for everything.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <mxc/engine.h>

#include "base/sys.h"

enum { REPEATS = 11, OPS = 100000, VARS = 64, PREPARED = 512, LATENCY_ROUNDS = 2000 };

typedef enum pattern { INDEPENDENT, CHAIN, RANDOM, PATTERNS } pattern;
static const char *const pattern_names[] = { "independent variables", "chain on one variable", "3 reads, 1 write" };

typedef struct pusher {
    mxc_engine *engine;
    pattern pattern;
    int prepared, count, cheap;
    mxc_var **vars;
    mxc_engine_op **ops;
    uint64_t random;
} pusher;

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "bench_engine: %s\n", mxc_last_error());
    exit(1);
}

static mxc_status nothing(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_OK;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* The variables of function i: reads first. */
static void choose(pusher *p, int i, mxc_var *out[4], int *n_reads) {
    *n_reads = p->pattern == RANDOM ? 3 : 0;
    if (p->pattern == CHAIN)
        out[0] = p->vars[0];
    if (p->pattern == INDEPENDENT)
        out[0] = p->vars[i % VARS];
    for (int k = 0; p->pattern == RANDOM && k < 4; k++) {
        int again;
        do {
            again = 0;
            out[k] = p->vars[next_random(&p->random) % VARS];
            for (int j = 0; j < k; j++)
                again |= out[j] == out[k];
        } while (again);
    }
}

static void push_all(void *arg) {
    pusher *p = arg;
    mxc_task task = MXC_TASK_INIT;
    task.fn = nothing;
    task.flags = p->cheap ? MXC_TASK_CHEAP : 0;
    for (int i = 0; i < p->count; i++) {
        mxc_var *vars[4];
        int n_reads;
        if (p->prepared) {
            check(mxc_engine_op_push(p->ops[i % PREPARED], 0, 0));
            continue;
        }
        choose(p, i, vars, &n_reads);
        check(mxc_engine_push(p->engine, &task, n_reads, vars, 1, vars + n_reads, 0));
    }
}

static void set_up(pusher *p, mxc_engine *engine, pattern pattern, int prepared, int cheap) {
    mxc_task task = MXC_TASK_INIT;
    task.fn = nothing;
    task.flags = cheap ? MXC_TASK_CHEAP : 0;
    *p = (pusher){ .engine = engine, .pattern = pattern, .prepared = prepared, .cheap = cheap, .random = 1 };
    p->vars = malloc(VARS * sizeof *p->vars);
    p->ops = calloc(PREPARED, sizeof *p->ops);
    for (int i = 0; i < VARS; i++)
        check(mxc_var_create(engine, &p->vars[i]));
    for (int i = 0; prepared && i < PREPARED; i++) {
        mxc_var *vars[4];
        int n_reads;
        choose(p, i, vars, &n_reads);
        check(mxc_engine_op_create(engine, &task, n_reads, vars, 1, vars + n_reads, &p->ops[i]));
    }
}

static void tear_down(pusher *p) {
    for (int i = 0; i < PREPARED; i++)
        mxc_engine_op_destroy(p->ops[i]);
    for (int i = 0; i < VARS; i++)
        mxc_var_delete(p->vars[i], NULL, NULL);
    free(p->vars);
    free(p->ops);
}

/* Nanoseconds per function, pushed by this thread or by it and another one. */
static double measure(mxc_engine *engine, pattern pattern, int prepared, int threads, int cheap) {
    double times[REPEATS];
    pusher p[2];
    set_up(&p[0], engine, pattern, prepared, cheap);
    for (int r = 0; r < REPEATS; r++) {
        mxci_thread other;
        int64_t begin = mxci_now_ns();
        p[0].count = OPS / threads;
        p[1] = p[0];
        p[1].random = 2;
        if (threads == 2)
            check(mxci_thread_start(&other, "pusher", push_all, &p[1]));
        push_all(&p[0]);
        if (threads == 2)
            mxci_thread_join(other);
        check(mxc_wait_all(engine));
        times[r] = (double)(mxci_now_ns() - begin) / OPS;
    }
    tear_down(&p[0]);
    return median(times, REPEATS);
}

/* ---- latencies ---- */

static _Atomic int64_t started;

static mxc_status note_start(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    atomic_store(&started, mxci_now_ns());
    return MXC_OK;
}

/* From the call of push to the start of the function on a worker that is awake; less the cost of a clock reading. */
static double hand_over(mxc_engine *engine, int64_t pause_ns) {
    static double times[LATENCY_ROUNDS];
    int rounds = pause_ns > 100000 ? 100 : LATENCY_ROUNDS;
    mxc_task task = MXC_TASK_INIT;
    mxc_engine_op *op;
    mxc_var *var;
    int64_t clock_ns = mxci_now_ns();
    for (int i = 0; i < 1000; i++)
        (void)mxci_now_ns();
    clock_ns = (mxci_now_ns() - clock_ns) / 1000;
    task.fn = note_start;
    check(mxc_var_create(engine, &var));
    check(mxc_engine_op_create(engine, &task, 0, NULL, 1, &var, &op));
    for (int r = 0; r < rounds; r++) {
        int64_t begin, until = mxci_now_ns() + pause_ns;
        while (mxci_now_ns() < until) /* the worker comes to rest, and still looks for work */
            mxci_pause();
        atomic_store(&started, 0);
        begin = mxci_now_ns();
        check(mxc_engine_op_push(op, 0, 0));
        while (!atomic_load(&started))
            mxci_pause();
        times[r] = (double)(atomic_load(&started) - begin - clock_ns);
    }
    mxc_engine_op_destroy(op);
    mxc_var_delete(var, NULL, NULL);
    check(mxc_wait_all(engine));
    return median(times, rounds);
}

static void empty_part(void *arg, int64_t begin, int64_t end, int part) {
    (void)arg;
    (void)begin;
    (void)end;
    (void)part;
}

static mxc_status loop_times(const mxc_run *run, void *arg) {
    static double times[LATENCY_ROUNDS];
    for (int r = 0; r < LATENCY_ROUNDS; r++) {
        int64_t begin = mxci_now_ns();
        for (int i = 0; i < 10; i++)
            mxc_parallel_for(run, 1 << 20, 1, empty_part, NULL);
        times[r] = (double)(mxci_now_ns() - begin) / 10;
    }
    *(double *)arg = median(times, LATENCY_ROUNDS);
    return MXC_OK;
}

/* One empty loop in two parts: a worker opens it, the waiting thread helps. */
static double fork_join(mxc_engine *engine) {
    mxc_task task = MXC_TASK_INIT;
    double result = 0;
    task.fn = loop_times;
    task.arg = &result;
    check(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    check(mxc_wait_all(engine));
    return result;
}

static void table(mxc_engine *engine, const char *kind, int cheap) {
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (int threads = 1; threads <= 2; threads++)
            printf("%-10s %-24s %8d %10.0f %10.0f\n", kind, pattern_names[pattern], threads,
                   measure(engine, (enum pattern)pattern, 0, threads, cheap),
                   measure(engine, (enum pattern)pattern, 1, threads, cheap));
}

int main(void) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    printf("%-10s %-24s %8s %10s %10s\n", "engine", "empty functions, ns each", "pushers", "new", "prepared");
    check(mxc_engine_create(&options, &engine));
    table(engine, "threaded", 0);
    table(engine, "cheap", 1);
    printf("%-10s %-43s %10.0f\n", "threaded", "push to start on a worker that looks, ns", hand_over(engine, 2000));
    printf("%-10s %-43s %10.0f\n", "threaded", "push to start on a worker that sleeps, ns", hand_over(engine, 1000000));
    printf("%-10s %-43s %10.0f\n", "threaded", "empty parallel loop in 2 parts, ns", fork_join(engine));
    mxc_engine_destroy(engine);
    options.kind = MXC_ENGINE_NAIVE;
    check(mxc_engine_create(&options, &engine));
    table(engine, "naive", 0);
    mxc_engine_destroy(engine);
    return 0;
}
