/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs. One pushing thread: every function must find the values that running all in push order would give it.
 * Several: the order in which functions changed each variable must agree with one order of all functions, and with each
 * thread's push order. In both, a variable that is changed is touched by nobody else.
 */
#include "engine/helpers.h"

enum { VARS = 24, MAX_NAMED = 6, PUSHERS = 4 };

typedef struct cell {
    mxc_var *var;
    uint64_t value;
    _Atomic int readers, writers;
} cell;

typedef struct step {
    struct graph *graph;
    int n_reads, n_writes;
    uint8_t named[MAX_NAMED];     /* reads first */
    uint64_t expected[MAX_NAMED]; /* after it: values of writes */
} step;

typedef struct graph {
    mxc_engine *engine;
    completer *completer; /* ends some functions on its thread; NULL: all end where they run */
    cell cells[VARS];
    _Atomic int wrong;
} graph;

static void open_graph(graph *g, mxc_engine *engine) {
    memset(g, 0, sizeof *g);
    g->engine = engine;
    for (int i = 0; i < VARS; i++) {
        g->cells[i].var = make_var(engine);
        g->cells[i].value = (uint64_t)i;
    }
}

static void close_graph(graph *g) {
    for (int i = 0; i < VARS; i++)
        mxc_var_delete(g->cells[i].var, NULL, NULL);
}

static void choose(step *s, graph *g, uint64_t *random) {
    uint32_t taken = 0;
    s->graph = g;
    s->n_reads = (int)(next_random(random) % 4);
    s->n_writes = (int)(next_random(random) % 3);
    for (int i = 0; i < s->n_reads + s->n_writes; i++) {
        uint32_t v;
        do
            v = next_random(random) % VARS;
        while (taken >> v & 1);
        taken |= 1u << v;
        s->named[i] = (uint8_t)v;
    }
}

/* What a function makes of all values that it names. */
static uint64_t mix(const step *s, const uint64_t *values, int which) {
    uint64_t h = (uint64_t)which + 1;
    for (int i = 0; i < s->n_reads + s->n_writes; i++)
        h = (h ^ values[i]) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h;
}

static void enter(graph *g, const step *s) {
    for (int i = 0; i < s->n_reads; i++) {
        atomic_fetch_add(&g->cells[s->named[i]].readers, 1);
        if (atomic_load(&g->cells[s->named[i]].writers))
            atomic_fetch_add(&g->wrong, 1);
    }
    for (int i = s->n_reads; i < s->n_reads + s->n_writes; i++)
        if (atomic_fetch_add(&g->cells[s->named[i]].writers, 1) || atomic_load(&g->cells[s->named[i]].readers))
            atomic_fetch_add(&g->wrong, 1);
}

static void leave(graph *g, const step *s) {
    for (int i = 0; i < s->n_reads; i++)
        atomic_fetch_sub(&g->cells[s->named[i]].readers, 1);
    for (int i = s->n_reads; i < s->n_reads + s->n_writes; i++)
        atomic_fetch_sub(&g->cells[s->named[i]].writers, 1);
}

static mxc_status run_step(const mxc_run *run, void *arg) {
    step *s = arg;
    graph *g = s->graph;
    uint64_t values[MAX_NAMED];
    (void)run;
    enter(g, s);
    for (int i = 0; i < s->n_reads + s->n_writes; i++)
        values[i] = g->cells[s->named[i]].value;
    for (int i = 0; i < s->n_writes; i++) {
        g->cells[s->named[s->n_reads + i]].value = mix(s, values, i);
        if (g->cells[s->named[s->n_reads + i]].value != s->expected[i])
            atomic_fetch_add(&g->wrong, 1);
    }
    leave(g, s);
    return MXC_OK;
}

/* The same, asynchronously. */
static void run_step_async(const mxc_run *run, void *arg, mxc_done *done) {
    step *s = arg;
    (void)run_step(run, arg);
    if (s->graph->completer && run->token % 16 == 0)
        complete_elsewhere(run, s->graph->completer, done);
    else
        mxc_done_complete(done, MXC_OK, NULL);
}

/* Run it on the model, which is serial. */
static void simulate(step *s, uint64_t *model) {
    uint64_t values[MAX_NAMED];
    for (int i = 0; i < s->n_reads + s->n_writes; i++)
        values[i] = model[s->named[i]];
    for (int i = 0; i < s->n_writes; i++) {
        s->expected[i] = mix(s, values, i);
        model[s->named[s->n_reads + i]] = s->expected[i];
    }
}

static void push_step(step *s, uint64_t *random) {
    static const unsigned flag_sets[] = {0, MXC_TASK_CHEAP, MXC_TASK_HELPED, MXC_TASK_HELPED | MXC_TASK_CHEAP};
    mxc_var *vars[MAX_NAMED];
    mxc_task task = make_task(run_step, s);
    uint32_t r = next_random(random);
    if ((r >> 12) % 32 == 0) {
        task.fn = NULL;
        task.async_fn = run_step_async;
    }
    task.flags = flag_sets[r % 4];
    task.priority = (r >> 2) % 4 ? 0 : (int)(r >> 4) % 5 - 2;
    task.property = (r >> 8) % 16 == 0 ? MXC_PROP_URGENT : (r >> 8) % 16 == 1 ? MXC_PROP_IO : MXC_PROP_NORMAL;
    for (int i = 0; i < s->n_reads + s->n_writes; i++)
        vars[i] = s->graph->cells[s->named[i]].var;
    assert_ok(mxc_engine_push(s->graph->engine, &task, s->n_reads, vars, s->n_writes, vars + s->n_reads, r >> 17));
}

static void serial_order(mxc_engine_kind kind, int workers, int count, uint64_t seed, completer *completer) {
    mxc_engine *engine = make_engine(kind, workers, seed);
    step *steps = calloc((size_t)count, sizeof *steps);
    uint64_t model[VARS], random = seed;
    graph g;
    open_graph(&g, engine);
    g.completer = completer;
    for (int i = 0; i < VARS; i++)
        model[i] = (uint64_t)i;
    for (int i = 0; i < count; i++) {
        choose(&steps[i], &g, &random);
        simulate(&steps[i], model);
        push_step(&steps[i], &random);
        if (next_random(&random) % 5000 == 0)
            assert_ok(mxc_wait_to_read(g.cells[next_random(&random) % VARS].var));
        if (next_random(&random) % 5000 == 0)
            assert_ok(mxc_wait_to_write(g.cells[next_random(&random) % VARS].var));
    }
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(atomic_load(&g.wrong), 0);
    for (int i = 0; i < VARS; i++)
        assert_int_equal(g.cells[i].value, model[i]);
    close_graph(&g);
    free(steps);
    mxc_engine_destroy(engine);
}

static void test_naive(void **state) {
    completer t;
    (void)state;
    start_completer(&t);
    serial_order(MXC_ENGINE_NAIVE, 0, TEST_SCALE(1000000), 1, &t);
    stop_completer(&t);
}

static void test_threaded(void **state) {
    completer t;
    (void)state;
    start_completer(&t);
    serial_order(MXC_ENGINE_THREADED, 0, TEST_SCALE(500000), 2, &t);
    serial_order(MXC_ENGINE_THREADED, 4, TEST_SCALE(500000), 3, &t);
    stop_completer(&t);
}

/* A schedule is a number only if no other thread has a part in it. */
static void test_seeded(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10000; seed++)
        serial_order(MXC_ENGINE_SEEDED, 0, TEST_SCALE(100), seed, NULL);
}

/* ---- several pushing threads ---- */

typedef struct record {
    uint8_t pusher;
    int number; /* in its pusher's order */
} record;

typedef struct many {
    graph g;
    record *log[VARS]; /* functions that changed the variable, in order */
    int logged[VARS];
    int count; /* functions of each pusher */
    step *steps[PUSHERS];
} many;

typedef struct job {
    many *m;
    int pusher;
} job;

static mxc_status log_step(const mxc_run *run, void *arg) {
    step *s = arg;
    many *m = (many *)(void *)s->graph;
    enter(s->graph, s);
    for (int i = s->n_reads; i < s->n_reads + s->n_writes; i++) {
        int v = s->named[i];
        m->log[v][m->logged[v]++] = (record){(uint8_t)(run->token >> 32), (int)(uint32_t)run->token};
    }
    leave(s->graph, s);
    return MXC_OK;
}

static void push_many(void *arg) {
    job *j = arg;
    many *m = j->m;
    uint64_t random = (uint64_t)j->pusher + 77;
    for (int i = 0; i < m->count; i++) {
        step *s = &m->steps[j->pusher][i];
        mxc_var *vars[MAX_NAMED];
        mxc_task task = make_task(log_step, s);
        choose(s, &m->g, &random);
        task.flags = next_random(&random) % 3 == 0 ? MXC_TASK_CHEAP : 0;
        for (int k = 0; k < s->n_reads + s->n_writes; k++)
            vars[k] = m->g.cells[s->named[k]].var;
        if (mxc_engine_push(m->g.engine, &task, s->n_reads, vars, s->n_writes, vars + s->n_reads,
                            (uint64_t)j->pusher << 32 | (uint32_t)i) != MXC_OK)
            atomic_fetch_add(&m->g.wrong, 1);
        if (i % 1000 == 999 && mxc_wait_to_write(m->g.cells[i % VARS].var) != MXC_OK)
            atomic_fetch_add(&m->g.wrong, 1);
        if (i % 5000 == 4999 && mxc_wait_all(m->g.engine) != MXC_OK)
            atomic_fetch_add(&m->g.wrong, 1);
    }
}

/* Take functions off the front of all logs that name them next, as long as possible; what is left is a cycle. */
static int logs_agree(many *m) {
    int at[VARS] = {0}, done[PUSHERS] = {0}, progress = 1;
    while (progress) {
        progress = 0;
        for (int p = 0; p < PUSHERS; p++)
            while (done[p] < m->count) {
                step *s = &m->steps[p][done[p]];
                int first = 1;
                for (int i = s->n_reads; i < s->n_reads + s->n_writes; i++) {
                    int v = s->named[i];
                    first &= at[v] < m->logged[v] && m->log[v][at[v]].pusher == p && m->log[v][at[v]].number == done[p];
                }
                if (!first)
                    break;
                for (int i = s->n_reads; i < s->n_reads + s->n_writes; i++)
                    at[s->named[i]]++;
                done[p]++;
                progress = 1;
            }
    }
    for (int p = 0; p < PUSHERS; p++)
        if (done[p] != m->count)
            return 0;
    return 1;
}

static void several_pushers(mxc_engine_kind kind, int workers) {
    static many m;
    mxci_thread threads[PUSHERS];
    job jobs[PUSHERS];
    mxc_engine *engine = make_engine(kind, workers, 5);
    memset(&m, 0, sizeof m);
    open_graph(&m.g, engine);
    m.count = TEST_SCALE(50000);
    for (int v = 0; v < VARS; v++)
        m.log[v] = malloc(PUSHERS * (size_t)m.count * sizeof(record));
    for (int p = 0; p < PUSHERS; p++) {
        m.steps[p] = calloc((size_t)m.count, sizeof(step));
        jobs[p] = (job){&m, p};
        assert_ok(mxci_thread_start(&threads[p], "pusher", push_many, &jobs[p]));
    }
    for (int p = 0; p < PUSHERS; p++)
        mxci_thread_join(threads[p]);
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(atomic_load(&m.g.wrong), 0);
    assert_true(logs_agree(&m));
    close_graph(&m.g);
    for (int v = 0; v < VARS; v++)
        free(m.log[v]);
    for (int p = 0; p < PUSHERS; p++)
        free(m.steps[p]);
    mxc_engine_destroy(engine);
}

static void test_several_pushers(void **state) {
    (void)state;
    several_pushers(MXC_ENGINE_THREADED, 1);
    several_pushers(MXC_ENGINE_THREADED, 3);
}

static void test_several_pushers_naive(void **state) {
    (void)state;
    several_pushers(MXC_ENGINE_NAIVE, 0);
}

static void test_several_pushers_seeded(void **state) {
    (void)state;
    several_pushers(MXC_ENGINE_SEEDED, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_naive),
        cmocka_unit_test(test_threaded),
        cmocka_unit_test(test_seeded),
        cmocka_unit_test(test_several_pushers),
        cmocka_unit_test(test_several_pushers_naive),
        cmocka_unit_test(test_several_pushers_seeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
