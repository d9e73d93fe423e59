/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overhead of the engine: nanoseconds for one function that does nothing, in three graphs, pushed anew and as a
 * prepared operator, by one thread and by two; the time until a worker starts a function; an empty parallel loop.
 *
 * Each figure is a median, with the 10th percentile beside it: other programs only ever add to a time. A sample pushes
 * a burst and waits for its end. Of the threaded engine, "worker" rows run on a worker while the program goes on
 * pushing; "cheap" ones (MXC_TASK_CHEAP) on the pushing thread.
 */
#include <stdatomic.h>

#include "engine/schedule/spin.h"
#include "measure.h"

enum { SAMPLES = 41, QUICK_SAMPLES = 3, BURST = 20000, QUICK_BURST = 1000, VARS = 64, PREPARED = 512, LOOPS = 10 };

typedef enum pattern { INDEPENDENT, CHAIN, RANDOM, PATTERNS } pattern;
static const char *const pattern_names[] = {"independent variables", "chain on one variable", "3 reads, 1 write"};

static int samples = SAMPLES, burst = BURST;

/* One pushing thread. */
typedef struct pusher {
    mxc_engine *engine;
    mxc_task task;
    mxc_var *named[PREPARED][4]; /* of function i, i + PREPARED, ...: reads first */
    int n_reads, first, count;
    mxc_engine_op **ops; /* NULL: push anew */
} pusher;

typedef struct bench {
    mxc_var *vars[VARS];
    mxc_engine_op *ops[PREPARED];
    pusher pushers[2];
} bench;

static mxc_status nothing(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_OK;
}

/* Different variables, pseudo-random by i. */
static void choose(pusher *p, mxc_var **vars, pattern pattern, int i) {
    static uint64_t random = 1;
    int count = pattern == RANDOM ? 4 : 1;
    p->n_reads = count - 1;
    for (int k = 0; k < count; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        p->named[i][k] = vars[pattern == CHAIN ? 0 : pattern == INDEPENDENT ? i % VARS : (int)(random >> 33) % VARS];
        for (int j = 0; j < k; j++)
            if (p->named[i][j] == p->named[i][k])
                k = j = -1; /* again */
    }
}

static void push_all(void *arg) {
    pusher *p = arg;
    for (int i = 0; i < p->count; i++) {
        int k = (p->first + i) % PREPARED;
        mxc_var **named = p->named[k];
        measure_check(p->ops ? mxc_engine_op_push(p->ops[k], 0, 0)
                             : mxc_engine_push(p->engine, &p->task, p->n_reads, named, 1, named + p->n_reads, 0));
    }
}

static void set_up(bench *b, mxc_engine *engine, pattern pattern, unsigned flags) {
    pusher *p = &b->pushers[0];
    memset(b, 0, sizeof *b);
    p->engine = engine;
    p->task = (mxc_task)MXC_TASK_INIT;
    p->task.fn = nothing;
    p->task.flags = flags;
    for (int i = 0; i < VARS; i++)
        measure_check(mxc_var_create(engine, &b->vars[i]));
    for (int i = 0; i < PREPARED; i++) {
        choose(p, b->vars, pattern, i);
        measure_check(
            mxc_engine_op_create(engine, &p->task, p->n_reads, p->named[i], 1, p->named[i] + p->n_reads, &b->ops[i]));
    }
}

static void tear_down(bench *b) {
    for (int i = 0; i < PREPARED; i++)
        mxc_engine_op_destroy(b->ops[i]);
    for (int i = 0; i < VARS; i++)
        mxc_var_delete(b->vars[i], NULL, NULL);
}

/* Nanoseconds per function of one burst, pushed by this thread or by it and another one. */
static double sample(bench *b, int threads) {
    mxci_thread other;
    int64_t begin;
    b->pushers[0].count = burst / threads;
    b->pushers[1] = b->pushers[0];
    b->pushers[1].first = PREPARED / 2;
    begin = mxci_now_ns();
    if (threads == 2)
        measure_check(mxci_thread_start(&other, "pusher", push_all, &b->pushers[1]));
    push_all(&b->pushers[0]);
    if (threads == 2)
        mxci_thread_join(other);
    measure_check(mxc_wait_all(b->pushers[0].engine));
    return (double)(mxci_now_ns() - begin) / burst;
}

static void print_times(double *times, int n) {
    double low = measure_quantile(times, n, 0.1);
    printf("  %8.0f %8.0f", measure_quantile(times, n, 0.5), low);
}

static void print_row(mxc_engine *engine, const char *kind, pattern pattern, int threads, unsigned flags) {
    static bench b;
    double times[SAMPLES];
    set_up(&b, engine, pattern, flags);
    printf("%-8s %-34s %7d", kind, pattern_names[pattern], threads);
    for (int prepared = 0; prepared < 2; prepared++) {
        b.pushers[0].ops = prepared ? b.ops : NULL;
        (void)sample(&b, threads);
        for (int s = 0; s < samples; s++)
            times[s] = sample(&b, threads);
        print_times(times, samples);
    }
    printf("\n");
    tear_down(&b);
}

static void print_graphs(mxc_engine *engine, const char *kind, unsigned flags) {
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (int threads = 1; threads <= 2; threads++)
            print_row(engine, kind, (enum pattern)pattern, threads, flags);
}

/* ---- latencies --------------------------------------------------------------------------------------------------- */

static _Atomic int64_t started;

static mxc_status note_start(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    atomic_store(&started, mxci_now_ns());
    return MXC_OK;
}

static double clock_ns(void) {
    int64_t begin = mxci_now_ns();
    for (int i = 1; i < 1000; i++)
        (void)mxci_now_ns();
    return (double)(mxci_now_ns() - begin) / 1000;
}

static void print_latency(const char *by, const char *what, double *times, int n) {
    printf("%-8s %-42s  %8s %8s", by, what, "", "");
    print_times(times, n);
    printf("\n");
}

/* From the call of push to the start of the function, on a worker that has been idle for rest_ns. */
static void print_dispatch(mxc_engine *engine, const char *what, int64_t rest_ns) {
    static double times[50 * SAMPLES];
    int rounds = rest_ns < 100000 ? 50 * samples : samples;
    mxc_task task = MXC_TASK_INIT;
    mxc_engine_op *op;
    task.fn = note_start;
    measure_check(mxc_engine_op_create(engine, &task, 0, NULL, 0, NULL, &op));
    for (int r = 0; r < rounds; r++) {
        mxci_spin rest = mxci_spin_begin(rest_ns), start = mxci_spin_begin(INT32_MAX);
        int64_t begin;
        while (mxci_now_ns() < rest.deadline)
            (void)mxci_spin_again(&rest);
        atomic_store(&started, 0);
        begin = mxci_now_ns();
        measure_check(mxc_engine_op_push(op, 0, 0));
        while (!atomic_load(&started))
            (void)mxci_spin_again(&start); /* as the engine's own waits do */
        times[r] = (double)(atomic_load(&started) - begin) - clock_ns();
    }
    mxc_engine_op_destroy(op);
    measure_check(mxc_wait_all(engine));
    print_latency("worker", what, times, rounds);
}

static void empty_part(void *arg, int64_t begin, int64_t end, int part) {
    (void)arg;
    (void)begin;
    (void)end;
    (void)part;
}

static mxc_status run_loops(const mxc_run *run, void *arg) {
    double *times = arg;
    for (int r = 0; r < 50 * samples; r++) {
        int64_t begin = mxci_now_ns();
        for (int i = 0; i < LOOPS; i++)
            mxc_parallel_for(run, 1 << 20, 1, empty_part, NULL);
        times[r] = (double)(mxci_now_ns() - begin) / LOOPS;
    }
    return MXC_OK;
}

/* A worker opens the loop, and the thread that waits for it helps. */
static void print_loop(void) {
    static double times[50 * SAMPLES];
    measure_inside(2, run_loops, times);
    print_latency("worker", "empty parallel loop in 2 parts", times, 50 * samples);
}

/* ---- the machine's own limit ------------------------------------------------------------------------------------- */

typedef struct table_tennis {
    _Alignas(64) _Atomic int there;
    _Alignas(64) _Atomic int back;
    int rounds;
} table_tennis;

static void return_ball(void *arg) {
    table_tennis *t = arg;
    for (int r = 1; r <= t->rounds; r++) {
        while (atomic_load_explicit(&t->there, memory_order_acquire) != r)
            mxci_pause();
        atomic_store_explicit(&t->back, r, memory_order_release);
    }
}

/* A number there and back between two threads that do nothing else: what no engine on these processors can beat. */
static void print_limit(void) {
    static double times[50 * SAMPLES];
    static table_tennis t;
    mxci_thread other;
    t.rounds = 50 * samples;
    measure_check(mxci_thread_start(&other, "other", return_ball, &t));
    for (int r = 1; r <= t.rounds; r++) {
        int64_t begin = mxci_now_ns();
        atomic_store_explicit(&t.there, r, memory_order_release);
        while (atomic_load_explicit(&t.back, memory_order_acquire) != r)
            mxci_pause();
        times[r - 1] = (double)(mxci_now_ns() - begin) - clock_ns();
    }
    mxci_thread_join(other);
    print_latency("none", "a number to another thread and back", times, t.rounds);
}

int main(int argc, char **argv) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *threaded, *naive;
    if (measure_is_quick(argc, argv)) {
        samples = QUICK_SAMPLES;
        burst = QUICK_BURST;
    }
    printf("%-51s  %17s  %17s\n", "", "pushed anew", "prepared");
    printf("%-8s %-34s %7s  %8s %8s  %8s %8s\n", "run by", "empty functions, ns each", "pushers", "median", "p10",
           "median", "p10");
    measure_check(mxc_engine_create(&options, &threaded));
    options.kind = MXC_ENGINE_NAIVE;
    measure_check(mxc_engine_create(&options, &naive));
    print_graphs(threaded, "worker", 0);
    print_graphs(threaded, "cheap", MXC_TASK_CHEAP);
    print_graphs(naive, "naive", 0);
    print_dispatch(threaded, "push to start, worker looks for work", 2000);
    print_dispatch(threaded, "push to start, worker sleeps", 1000000);
    print_loop();
    print_limit();
    mxc_engine_destroy(threaded);
    mxc_engine_destroy(naive);
    return 0;
}
