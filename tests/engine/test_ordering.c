/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous streams: functions return before their work on a device is done, and whatever uses the same variables
 * later comes after that work, wherever it runs. Covers engine/device/device_stream.c, too.
 */
#include <sys/wait.h>

#include "engine/device_helpers.h"

/* ---- random graphs --------------------------------------------------------------------------------------------- */

enum { VARS = 16, MAX_NAMED = 6 };

/* What a variable guards; freed by its deletion, so that a use after that is found. */
typedef struct cell {
    mxc_var *var;
    uint64_t value;
    _Atomic int readers, writers;
} cell;

typedef struct graph {
    mxc_engine *engine;
    cell *cells[VARS];
    uint64_t model[VARS];
    _Atomic int wrong, freed;
    int made;
} graph;

typedef struct step {
    graph *graph;
    int n_reads, n_writes;
    cell *named[MAX_NAMED];       /* reads first */
    uint64_t expected[MAX_NAMED]; /* after it: values of writes */
    mxc_done *done;
} step;

static graph *current;

static void free_cell(void *arg) {
    cell *c = arg;
    if (atomic_load(&c->readers) || atomic_load(&c->writers))
        atomic_fetch_add(&current->wrong, 1);
    atomic_fetch_add(&current->freed, 1);
    free(c);
}

static void new_cell(graph *g, int v) {
    cell *c = calloc(1, sizeof *c);
    c->var = make_var(g->engine);
    c->value = g->model[v] = (uint64_t)++g->made;
    g->cells[v] = c;
}

static uint64_t mix(int n, const uint64_t *values, int which) {
    uint64_t h = (uint64_t)which + 1;
    for (int i = 0; i < n; i++)
        h = (h ^ values[i]) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h;
}

/* Choose variables, and run it on the model, which is serial. */
static void choose(step *s, graph *g, uint64_t *random, mxc_var **vars) {
    uint64_t values[MAX_NAMED];
    int at[MAX_NAMED];
    uint32_t taken = 0;
    s->graph = g;
    s->n_reads = (int)(next_random(random) % 4);
    s->n_writes = (int)(next_random(random) % 3);
    for (int i = 0; i < s->n_reads + s->n_writes; i++) {
        do
            at[i] = (int)(next_random(random) % VARS);
        while (taken >> at[i] & 1);
        taken |= 1u << at[i];
        s->named[i] = g->cells[at[i]];
        vars[i] = s->named[i]->var;
        values[i] = g->model[at[i]];
    }
    for (int i = 0; i < s->n_writes; i++)
        g->model[at[s->n_reads + i]] = s->expected[i] = mix(s->n_reads + s->n_writes, values, i);
}

/* The work of a function, here or on a device. */
static void work(void *arg) {
    step *s = arg;
    uint64_t values[MAX_NAMED];
    int n = s->n_reads + s->n_writes, wrong = 0;
    for (int i = 0; i < s->n_reads; i++) {
        atomic_fetch_add(&s->named[i]->readers, 1);
        wrong += atomic_load(&s->named[i]->writers);
    }
    for (int i = s->n_reads; i < n; i++)
        wrong += atomic_fetch_add(&s->named[i]->writers, 1) + atomic_load(&s->named[i]->readers);
    for (int i = 0; i < n; i++)
        values[i] = s->named[i]->value;
    for (int i = 0; i < s->n_writes; i++) {
        s->named[s->n_reads + i]->value = mix(n, values, i);
        wrong += s->named[s->n_reads + i]->value != s->expected[i];
    }
    for (int i = 0; i < n; i++)
        atomic_fetch_sub(i < s->n_reads ? &s->named[i]->readers : &s->named[i]->writers, 1);
    if (wrong)
        atomic_fetch_add(&s->graph->wrong, 1);
}

static mxc_status run_step(const mxc_run *run, void *arg) {
    if (run->stream)
        fake_submit(run->stream, work, arg);
    else
        work(arg);
    return MXC_OK;
}

static void work_and_complete(void *arg) {
    step *s = arg;
    work(s);
    mxc_done_complete(s->done, MXC_OK, NULL);
}

static void run_step_async(const mxc_run *run, void *arg, mxc_done *done) {
    step *s = arg;
    s->done = done;
    if (run->stream)
        fake_submit(run->stream, work_and_complete, arg);
    else
        work_and_complete(arg);
}

static void push_step(step *s, graph *g, uint64_t *random) {
    static const mxc_property properties[] = {
        MXC_PROP_COPY_FROM_DEVICE,
        MXC_PROP_COPY_TO_DEVICE,
        MXC_PROP_IO,
        MXC_PROP_URGENT,
    };
    mxc_var *vars[MAX_NAMED];
    mxc_task task = make_task(run_step, s);
    uint32_t r = next_random(random);
    choose(s, g, random, vars);
    if (r % 32 == 0)
        task = (mxc_task){sizeof task, NULL, NULL, run_step_async, s, NULL, {MXC_CPU, 0}, MXC_PROP_NORMAL, 0, 0};
    task.context = (r >> 5) % 4 == 0 ? mxc_cpu(0) : mxc_gpu((int)(r >> 7) % 2);
    task.property = (r >> 8) % 3 ? MXC_PROP_NORMAL : properties[(r >> 10) % 4];
    task.flags = (r >> 12) % 2 ? MXC_TASK_CHEAP | MXC_TASK_HELPED : 0;
    assert_ok(mxc_engine_push(g->engine, &task, s->n_reads, vars, s->n_writes, vars + s->n_reads, 0));
}

/* Now and then: look at a value from here, or delete a variable and make another. */
static void disturb(graph *g, uint64_t *random) {
    int v = (int)(next_random(random) % VARS);
    uint32_t r = next_random(random) % 400;
    if (r == 0)
        assert_ok(mxc_wait_to_read(g->cells[v]->var));
    if (r == 1)
        assert_ok(mxc_wait_to_write(g->cells[v]->var));
    if (r < 2)
        assert_int_equal(g->cells[v]->value, g->model[v]);
    if (r >= 2 && r < 12) {
        mxc_var_delete(g->cells[v]->var, free_cell, g->cells[v]);
        new_cell(g, v);
    }
}

static void random_graph(mxc_engine_kind kind, int workers, int count, uint64_t seed) {
    graph g = {.engine = make_engine(kind, workers, seed)};
    step *steps = calloc((size_t)count, sizeof *steps);
    uint64_t random = seed;
    current = &g;
    for (int v = 0; v < VARS; v++)
        new_cell(&g, v);
    for (int i = 0; i < count; i++) {
        push_step(&steps[i], &g, &random);
        disturb(&g, &random);
    }
    assert_ok(mxc_wait_all(g.engine));
    assert_int_equal(atomic_load(&g.wrong), 0);
    for (int v = 0; v < VARS; v++) {
        assert_int_equal(g.cells[v]->value, g.model[v]);
        mxc_var_delete(g.cells[v]->var, free_cell, g.cells[v]);
    }
    mxc_engine_destroy(g.engine);
    assert_int_equal(atomic_load(&g.wrong), 0);
    assert_int_equal(atomic_load(&g.freed), g.made);
    free(steps);
}

static void test_random_graphs(void **state) {
    (void)state;
    random_graph(MXC_ENGINE_THREADED, 1, TEST_SCALE(20000), 1);
    random_graph(MXC_ENGINE_THREADED, 3, TEST_SCALE(20000), 2);
    atomic_store(&fake.busy_ns, 0);
    random_graph(MXC_ENGINE_THREADED, 2, TEST_SCALE(40000), 3);
    for (uint64_t seed = 0; seed < 20; seed++)
        random_graph(MXC_ENGINE_SEEDED, 0, TEST_SCALE(300), seed);
    random_graph(MXC_ENGINE_NAIVE, 0, TEST_SCALE(1000), 4);
    atomic_store(&fake.busy_ns, 20000);
}

/* ---- single cases ---------------------------------------------------------------------------------------------- */

/* The host waits for nothing between functions of a stream. */
static void test_is_asynchronous(void **state) {
    fixture *f = *state;
    fake_hold();
    for (int i = 0; i < 1000; i++)
        push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, i % 2 ? f->b : NULL, f->a);
    await_calls(&f->change, 1000);
    assert_int_equal(atomic_load(&fake.waits), 0);
    assert_int_equal(atomic_load(&fake.stream_waits), 0);
    assert_int_equal(f->x, 0);
    fake_go_on();
    assert_ok(mxc_wait_to_read(f->a));
    assert_int_equal(f->x, 1000);
}

/* Copies are queued behind the computing stream, and the next function that computes behind copies. */
static void test_copy_follows(void **state) {
    fixture *f = *state;
    fake_hold();
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    push_job(f->engine, &f->copy, mxc_gpu(0), MXC_PROP_COPY_FROM_DEVICE, f->a, f->b);
    await_calls(&f->copy, 1);
    assert_int_equal(atomic_load(&fake.stream_waits), 1);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    fake_go_on();
    assert_ok(mxc_wait_to_read(f->b));
    assert_int_equal(f->y, 1);
    assert_ok(mxc_wait_to_write(f->a));
    assert_int_equal(f->x, 2);
}

/* Two devices, and the host. */
static void test_others_wait(void **state) {
    fixture *f = *state;
    job host = {.to = &f->x};
    fake_hold();
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    push_job(f->engine, &f->copy, mxc_gpu(1), MXC_PROP_NORMAL, f->a, f->b);
    await_calls(&f->copy, 1);
    assert_int_equal(atomic_load(&fake.waits), 0);
    push_job(f->engine, &host, mxc_cpu(0), MXC_PROP_NORMAL, NULL, f->a);
    mxci_sleep_ns(5000000);
    assert_int_equal(atomic_load(&host.called), 0);
    release_soon(f);
    assert_ok(mxc_wait_to_write(f->a));
    assert_int_equal(f->x, 2);
    assert_ok(mxc_wait_to_read(f->b));
    assert_int_equal(f->y, 1);
    mxci_thread_join(f->helper);
}

/* Two streams read: the change comes after both. */
static void test_two_readers(void **state) {
    fixture *f = *state;
    int z = 0;
    job other = {.to = &z, .from = &f->x};
    fake_hold();
    push_job(f->engine, &f->copy, mxc_gpu(0), MXC_PROP_NORMAL, f->a, f->b);
    await_calls(&f->copy, 1);
    push_job(f->engine, &other, mxc_gpu(1), MXC_PROP_NORMAL, f->a, NULL);
    push_job(f->engine, &f->change, mxc_cpu(0), MXC_PROP_NORMAL, NULL, f->a);
    release_soon(f);
    assert_ok(mxc_wait_all(f->engine));
    mxci_thread_join(f->helper);
    assert_int_equal(f->x, 1);
    assert_int_equal(f->y, 0);
    assert_int_equal(z, 0);
}

static void test_wait_all(void **state) {
    fixture *f = *state;
    job other = {.to = &f->y};
    fake_hold();
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    push_job(f->engine, &other, mxc_gpu(1), MXC_PROP_NORMAL, NULL, f->b);
    release_soon(f);
    assert_ok(mxc_wait_all(f->engine));
    assert_int_equal(f->x, 1);
    assert_int_equal(f->y, 1);
    mxci_thread_join(f->helper);
}

/* A function that waits for another one of its device, which an additional thread runs on its own stream. */
static mxc_status push_and_wait(const mxc_run *run, void *arg) {
    fixture *f = arg;
    mxc_task task = make_task(run_job, &f->change);
    task.context = run->context;
    MXC_TRY(mxc_engine_push(run->engine, &task, 0, NULL, 1, &f->a, 0));
    MXC_TRY(mxc_wait_to_read(f->a));
    f->y = f->x;
    return MXC_OK;
}

static void test_wait_inside(void **state) {
    fixture *f = *state;
    mxc_task task = make_task(push_and_wait, f);
    task.context = mxc_gpu(0);
    for (int i = 1; i < 4; i++) {
        assert_ok(mxc_engine_push(f->engine, &task, 0, NULL, 1, &f->b, 0));
        assert_ok(mxc_wait_to_read(f->b));
        push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, f->b, f->a);
        assert_ok(mxc_wait_all(f->engine));
        assert_int_equal(f->x, 2 * i);
        assert_int_equal(f->y, 2 * i - 1);
    }
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

/* The wait finds it; then what reads the variable is skipped. */
static void test_late_failure(void **state) {
    fixture *f = *state;
    mxc_var *c = make_var(f->engine);
    atomic_store(&fake.fail_in, 1);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    assert_fails(mxc_wait_to_read(f->a), MXC_EDEVICE, "the fake device failed");
    push_job(f->engine, &f->copy, mxc_cpu(0), MXC_PROP_NORMAL, f->a, f->b);
    assert_fails(mxc_wait_to_read(f->b), MXC_EDEVICE, "the fake device failed");
    assert_int_equal(atomic_load(&f->copy.called), 0);
    assert_fails(mxc_wait_all(f->engine), MXC_EDEVICE, "the fake device failed");
    push_job(f->engine, &f->change, mxc_gpu(1), MXC_PROP_NORMAL, NULL, c); /* the other device works */
    assert_ok(mxc_wait_to_write(c));
    assert_fails(mxc_wait_all(f->engine), MXC_EDEVICE, "the fake device failed"); /* this one never again */
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, c);
    assert_fails(mxc_wait_to_write(c), MXC_EDEVICE, "the fake device failed");
    mxc_var_delete(c, NULL, NULL);
}

/* Nobody waited before the next function: on the host it is not called, on a copy queue it fails. */
static void next_fails(fixture *f, mxc_context context, mxc_property property, int called) {
    atomic_store(&fake.fail_in, 1);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    push_job(f->engine, &f->copy, context, property, f->a, f->b);
    assert_fails(mxc_wait_to_read(f->b), MXC_EDEVICE, "the fake device failed");
    assert_int_equal(atomic_load(&f->copy.called), called);
}

static void test_late_failure_on_host(void **state) {
    next_fails(*state, mxc_cpu(0), MXC_PROP_NORMAL, 0);
}

static void test_late_failure_in_copy(void **state) {
    next_fails(*state, mxc_gpu(0), MXC_PROP_COPY_FROM_DEVICE, 1);
}

static void test_late_failure_and_wait_all(void **state) {
    fixture *f = *state;
    atomic_store(&fake.fail_in, 2);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->b);
    assert_fails(mxc_wait_all(f->engine), MXC_EDEVICE, "the fake device failed");
    assert_fails(mxc_wait_to_read(f->b), MXC_EDEVICE, "the fake device failed");
}

/* What was only read does not fail with its reader. */
static void test_late_failure_of_reader(void **state) {
    fixture *f = *state;
    atomic_store(&fake.fail_in, 1);
    push_job(f->engine, &f->copy, mxc_gpu(0), MXC_PROP_NORMAL, f->a, f->b);
    assert_ok(mxc_wait_to_read(f->a));
    assert_fails(mxc_wait_to_write(f->a), MXC_EDEVICE, "the fake device failed");
    assert_ok(mxc_wait_to_read(f->a));
    assert_fails(mxc_wait_to_read(f->b), MXC_EDEVICE, "the fake device failed");
}

static void test_no_event(void **state) {
    fixture *f = *state;
    atomic_store(&fake.fail_event, 1);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    assert_fails(mxc_wait_to_read(f->a), MXC_EDEVICE, "no event can be recorded");
    assert_int_equal(f->x, 1);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    assert_ok(mxc_wait_to_read(f->a));
    assert_int_equal(f->x, 2);
}

/* ---- forks ----------------------------------------------------------------------------------------------------- */

/* In a child the work is lost: waits say so, deletion does not wait. */
static int in_child(fixture *f) {
    _Atomic int ended = 0;
    if (mxc_wait_to_read(f->a) != MXC_ECANCELED || !strstr(mxc_last_error(), "forked"))
        return 1;
    mxc_var_delete(f->a, count_destroy, &ended);
    return atomic_load(&ended) != 1;
}

static void test_fork(void **state) {
    fixture *f = *state;
    int status = 0;
    pid_t child;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it cannot follow threads that a child starts */
#endif
    fake_hold();
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, NULL, f->a);
    await_calls(&f->change, 1);
    await_idle(f->a);
    child = fork();
    if (child == 0) {
        alarm(20);
        _exit(in_child(f));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    fake_go_on();
    assert_ok(mxc_wait_to_read(f->a));
    assert_int_equal(f->x, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        WITH_FIXTURE(test_is_asynchronous),
        WITH_FIXTURE(test_copy_follows),
        WITH_FIXTURE(test_others_wait),
        WITH_FIXTURE(test_two_readers),
        WITH_FIXTURE(test_wait_all),
        WITH_FIXTURE(test_wait_inside),
        WITH_FIXTURE(test_late_failure),
        WITH_FIXTURE(test_late_failure_on_host),
        WITH_FIXTURE(test_late_failure_in_copy),
        WITH_FIXTURE(test_late_failure_and_wait_all),
        WITH_FIXTURE(test_late_failure_of_reader),
        WITH_FIXTURE(test_no_event),
        WITH_FIXTURE(test_fork),
    };
    if (mxci_device_register(MXC_GPU, &fake_device) != MXC_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
