/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of every operator, forward and backward, by themselves and bound in an executor. A call may do what it
 * likes as long as it ends: in a status with a message, or in results within their memory. Crashes, sanitizer reports,
 * writes next to an array and calls that take too long fail the test, with the seed of the call.
 *
 * LIBMXC_RANDOM_SEED=N makes the call of seed N and nothing else; with LIBMXC_RANDOM_SECONDS=S it makes those of N, N+1
 * and so on for S seconds (without a seed, from one that the clock gives).
 */
#include "support.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <mxc/executor.h>

#include "operator/random_case.h"

enum {
    CALLS = TEST_SANITIZED ? 12000 : 36000, /* of the default run, on all operators in turn */
    MORE_CALLS = 300,                       /* at most, of an operator that no call of the default run succeeded with */
    CPU_SECONDS = TEST_SANITIZED ? 60 : 10, /* of all threads together, that one call may take */
    IDLE_SECONDS = 200,                     /* after which a call is taken to wait for something that never comes */
    GUARD = TEST_SANITIZED ? 0 : 64,        /* bytes around arrays; the sanitizer has its own */
    TEMP_LIMIT = 64 << 20                   /* bytes of scratch that a call may ask for and be made */
};
#define TEMP_ABSURD ((size_t)1 << 42) /* no machine has it, so asking for it must fail */

/* ---- what is going on, for whoever ends it ----------------------------------------------------------------------- */

static struct {
    uint64_t seed;
    char text[2048];
    const char *stage;
} current;

static void note(const random_case *c) {
    current.seed = c->seed;
    random_case_text(c, current.text, sizeof current.text);
}

/* From signal handlers too: no stdio. */
static void put(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void put_current(const char *what) {
    char digits[24], *at = digits + sizeof digits - 1;
    uint64_t seed = current.seed;
    *at = '\0';
    do
        *--at = (char)('0' + seed % 10);
    while (seed /= 10);
    put("random call: ");
    put(what);
    put(" in ");
    put(current.stage ? current.stage : "its beginning");
    put(" of ");
    put(current.text);
    put("\nmake it again: LIBMXC_RANDOM_SEED=");
    put(at);
    put("\n");
}

static void on_signal(int number) {
    put_current(number == SIGPROF   ? "takes too long"
                : number == SIGALRM ? "waits too long"
                : number == SIGSEGV ? "SIGSEGV"
                : number == SIGFPE  ? "SIGFPE"
                : number == SIGABRT ? "SIGABRT"
                                    : "another fatal signal");
    signal(number, SIG_DFL);
    raise(number);
    _exit(1);
}

#if TEST_SANITIZED
void __sanitizer_set_death_callback(void (*callback)(void));
static void on_death(void) {
    put_current("the sanitizer's report");
}

/* That of undefined behaviour has no such callback. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "abort_on_error=1";
}
#endif

static void watch(void) {
    static const int fatal[] = {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGTRAP};
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room}; /* a stack may have run out */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    signal(SIGPROF, on_signal);
    signal(SIGALRM, on_signal);
#if TEST_SANITIZED
    __sanitizer_set_death_callback(on_death);
    sigaction(SIGABRT, &action, NULL);
    (void)fatal;
    (void)stack;
#else
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        sigaction(fatal[i], &action, NULL);
#endif
}

static void start_clocks(void) {
    struct itimerval cpu = {.it_value.tv_sec = CPU_SECONDS}, idle = {.it_value.tv_sec = IDLE_SECONDS};
    setitimer(ITIMER_PROF, &cpu, NULL);
    setitimer(ITIMER_REAL, &idle, NULL);
}

static void stop_clocks(void) {
    struct itimerval none = {.it_value.tv_sec = 0};
    setitimer(ITIMER_PROF, &none, NULL);
    setitimer(ITIMER_REAL, &none, NULL);
}

#define EXPECT(condition, ...)      \
    do                              \
        if (!(condition)) {         \
            put_current("failure"); \
            fail_msg(__VA_ARGS__);  \
        }                           \
    while (0)

/* 1 if the call went well; a failure must have said why. Arrays this small are always to be had. */
static int went_well(mxc_status status, int may_lack_memory) {
    EXPECT(status == MXC_OK || *mxc_last_error(), "%s without a message", mxc_status_name(status));
    EXPECT(status != MXC_ENOMEM || may_lack_memory, "no memory: %s", mxc_last_error());
    return status == MXC_OK;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

typedef struct block {
    mxc_ndarray *array;
    unsigned char *data;
    size_t bytes;
} block;

/* An array whose memory ends where its elements do. */
static block block_open(random_case *c, int slot, const mxc_shape *shape, mxc_dtype dtype) {
    int64_t n = mxc_shape_size(shape);
    block b = {.bytes = (size_t)n * mxc_dtype_size(dtype)};
    b.data = malloc(b.bytes + 2 * GUARD + !b.bytes);
    assert_non_null(b.data);
    memset(b.data, 0x5a, b.bytes + 2 * GUARD);
    random_values_of(c, slot, dtype, n, b.data + GUARD);
    EXPECT(mxc_ndarray_wrap(shape->ndim, shape->dim, dtype, b.data + GUARD, NULL, NULL, &b.array) == MXC_OK, "%s",
           mxc_last_error());
    return b;
}

static void block_close(block *b) {
    if (!b->array)
        return;
    went_well(mxc_ndarray_wait_to_write(b->array), 1); /* fails where a call on it did */
    mxc_ndarray_release(b->array);
    for (int i = 0; i < GUARD; i++)
        EXPECT(b->data[i] == 0x5a && b->data[GUARD + b->bytes + (size_t)i] == 0x5a, "wrote outside an array");
    free(b->data);
    *b = (block){0};
}

static void close_blocks(block *blocks, int n) {
    for (int i = 0; i < n; i++)
        block_close(&blocks[i]);
}

static void arrays_of(const block *blocks, int n, mxc_ndarray **out) {
    for (int i = 0; i < n; i++)
        out[i] = blocks[i].array;
}

/* 1 if the call on all of these went well. */
static int all_went_well(mxc_ndarray *const *arrays, int n, int may_lack_memory) {
    int good = 1;
    for (int i = 0; i < n; i++)
        if (arrays[i])
            good &= went_well(mxc_ndarray_wait_to_read(arrays[i]), may_lack_memory);
    return good;
}

/* ---- a call by itself -------------------------------------------------------------------------------------------- */

typedef struct call {
    random_case c;
    int may_lack_memory;
    block in[RANDOM_SLOTS], out[RANDOM_SLOTS], out_grad[RANDOM_SLOTS], in_grad[RANDOM_SLOTS];
    mxc_ndarray *ins[RANDOM_SLOTS], *outs[RANDOM_SLOTS];
    mxc_req req[RANDOM_SLOTS];
} call;

static mxc_req random_req(random_case *c) {
    return (mxc_req[]){MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_ADD, MXC_REQ_NULL}[random_below(c, 4)];
}

/* 1 if scratch of a pass can be had; what is more than there can be must be refused by the library. */
static int has_scratch(call *k, mxc_pass pass) {
    const mxc_op_def *def = mxc_op_get_def(k->c.op);
    size_t bytes = def->temp_bytes ? def->temp_bytes(&k->c.sig, pass) : 0;
    k->may_lack_memory = bytes > TEMP_LIMIT;
    return bytes <= TEMP_LIMIT || bytes > TEMP_ABSURD;
}

static int outputs_are_known(const random_case *c) {
    for (int i = 0; i < c->sig.n_out; i++)
        if (!mxc_shape_known(&c->out_shape[i]) || c->out_type[i] == MXC_DTYPE_UNKNOWN)
            return 0;
    return 1;
}

static void open_inputs(call *k) {
    random_case *c = &k->c;
    void *data[RANDOM_SLOTS];
    for (int i = 0; i < c->sig.n_in; i++) {
        k->in[i] = block_open(c, i, &c->in_shape[i], c->in_type[i]);
        data[i] = k->in[i].data + GUARD;
    }
    random_prepare(c, data);
    for (int i = 0; i < c->sig.n_aux; i++)
        k->in[c->sig.n_in + i] = block_open(c, c->sig.n_in + i, &c->aux_shape[i], c->aux_type[i]);
    arrays_of(k->in, c->sig.n_in + c->sig.n_aux, k->ins);
}

/* All outputs, some of them in memory of this test, some left to the library, some not asked for. */
static int forward(call *k) {
    random_case *c = &k->c;
    int n_out = c->sig.n_out, known = outputs_are_known(c);
    for (int i = 0; i < n_out; i++) {
        k->req[i] = random_req(c);
        if (known && random_chance(c, 70))
            k->out[i] = block_open(c, 0, &c->out_shape[i], c->out_type[i]);
        else if (k->req[i] == MXC_REQ_ADD)
            k->req[i] = MXC_REQ_WRITE;
    }
    arrays_of(k->out, n_out, k->outs);
    current.stage = "forward";
    mxc_ndarray *ordered[RANDOM_SLOTS];
    for (int i = 0; i < c->sig.n_in + c->sig.n_aux; i++)
        ordered[i] = k->ins[mxc_op_input_index(c->op, i)];
    if (!went_well(mxc_op_invoke(c->op, c->sig.n_in + c->sig.n_aux, ordered, n_out, k->outs, k->req, c->sig.is_train),
                   k->may_lack_memory))
        return 0;
    return all_went_well(k->outs, n_out, k->may_lack_memory);
}

static void backward(call *k) {
    random_case *c = &k->c;
    mxc_ndarray *out_grads[RANDOM_SLOTS], *in_grads[RANDOM_SLOTS];
    for (int i = 0; i < c->sig.n_out; i++)
        k->out_grad[i] = block_open(c, 0, &c->out_shape[i], c->out_type[i]);
    for (int i = 0; i < c->sig.n_in; i++) {
        k->req[i] = random_req(c);
        if (k->req[i] != MXC_REQ_NULL)
            k->in_grad[i] = block_open(c, i, &c->in_shape[i], c->in_type[i]);
    }
    arrays_of(k->out_grad, c->sig.n_out, out_grads);
    arrays_of(k->in_grad, c->sig.n_in, in_grads);
    current.stage = "backward";
    if (went_well(mxc_op_invoke_backward(c->op, out_grads, k->ins, k->outs, in_grads, k->req), k->may_lack_memory))
        all_went_well(in_grads, c->sig.n_in, k->may_lack_memory);
    close_blocks(k->out_grad, c->sig.n_out);
    close_blocks(k->in_grad, c->sig.n_in);
}

static int has_all(mxc_ndarray *const *arrays, int n) {
    for (int i = 0; i < n; i++)
        if (!arrays[i])
            return 0;
    return 1;
}

/* Returns 1 if forward went well. */
static int call_alone(call *k) {
    random_case *c = &k->c;
    int good = 0;
    if (!has_scratch(k, MXC_FORWARD))
        return 0;
    open_inputs(k);
    good = forward(k);
    if (good && has_all(k->outs, c->sig.n_out) && outputs_are_known(c) && has_scratch(k, MXC_BACKWARD))
        backward(k);
    current.stage = "the end";
    for (int i = 0; i < c->sig.n_out; i++)
        if (k->outs[i] && !k->out[i].array)
            mxc_ndarray_release(k->outs[i]);
    close_blocks(k->out, c->sig.n_out);
    close_blocks(k->in, c->sig.n_in + c->sig.n_aux);
    return good;
}

/* ---- a call in an executor --------------------------------------------------------------------------------------- */

enum { NAME = 16 };
typedef struct bound {
    char names[RANDOM_SLOTS][NAME];
    const char *given[RANDOM_SLOTS];
    mxc_symbol *symbol;
    mxc_executor *executor;
} bound;

/* A copy in place of a symbol's first output, so that what it is of is inside the graph, in planned memory. */
static mxc_status put_inside(mxc_symbol **symbol) {
    mxc_symbol *output = NULL, *copy = NULL;
    mxc_status status = mxc_symbol_output(*symbol, 0, &output);
    if (status == MXC_OK)
        status = mxc_symbol_op("identity", NULL, 0, NULL, NULL, 1, NULL, &output, &copy);
    mxc_symbol_release(output);
    if (status == MXC_OK) {
        mxc_symbol_release(*symbol);
        *symbol = copy;
    }
    return status;
}

static mxc_status make_symbol(random_case *c, bound *b) {
    const char *values[RANDOM_PARAMS];
    const char *arg_keys[RANDOM_SLOTS]; /* where the states that are left out are not the last inputs */
    char names[RANDOM_SLOTS][NAME];
    mxc_symbol *in[RANDOM_SLOTS] = {NULL};
    mxc_status status = MXC_OK;
    for (int i = 0; i < c->n_params; i++)
        values[i] = c->values[i];
    for (int i = 0; i < c->sig.n_in; i++)
        arg_keys[i] = mxc_op_arg_name(c->op, i, names[i], NAME);
    for (int i = 0; i < c->sig.n_in && status == MXC_OK; i++) {
        snprintf(b->names[i], NAME, "in%d", i);
        b->given[i] = b->names[i];
        status = mxc_symbol_variable(b->names[i], &in[i]);
        if (status == MXC_OK && random_chance(c, 30))
            status = put_inside(&in[i]);
    }
    if (status == MXC_OK)
        status = mxc_symbol_op(c->def->name, "node", c->n_params, c->keys, values, c->sig.n_in,
                               c->def->args_per_output ? arg_keys : NULL, in, &b->symbol);
    if (status == MXC_OK && random_chance(c, 30))
        status = put_inside(&b->symbol);
    for (int i = 0; i < c->sig.n_in; i++)
        mxc_symbol_release(in[i]);
    return status;
}

static void set_values(random_case *c, int slot, mxc_ndarray *array) {
    size_t bytes = mxc_ndarray_bytes(array);
    unsigned char *data = malloc(bytes + 1);
    assert_non_null(data);
    random_values_of(c, slot, mxc_ndarray_dtype(array), mxc_ndarray_size(array), data);
    EXPECT(mxc_ndarray_set(array, data, bytes) == MXC_OK, "%s", mxc_last_error());
    free(data);
}

/* Backward after a training run; the gradients of outputs are copied, so they need not last. */
static void run_backward(call *k, const bound *b) {
    random_case *c = &k->c;
    int n = (int)mxc_symbol_n_outputs(b->symbol);
    mxc_ndarray *grads[RANDOM_SLOTS];
    for (int i = 0; i < n; i++)
        k->out_grad[i] = block_open(c, 0, mxc_ndarray_shape(mxc_executor_output(b->executor, i)),
                                    mxc_ndarray_dtype(mxc_executor_output(b->executor, i)));
    arrays_of(k->out_grad, n, grads);
    current.stage = "bound backward";
    if (went_well(mxc_executor_backward(b->executor, n, grads), k->may_lack_memory))
        for (int i = 0; i < c->sig.n_in; i++)
            if (mxc_executor_grad(b->executor, i))
                went_well(mxc_ndarray_wait_to_read(mxc_executor_grad(b->executor, i)), k->may_lack_memory);
    close_blocks(k->out_grad, n);
}

static int run_bound(call *k, const bound *b) {
    random_case *c = &k->c;
    int good, is_train = c->sig.is_train;
    for (int i = 0; i < c->sig.n_in; i++)
        set_values(c, i, mxc_executor_find_arg(b->executor, b->given[i]));
    for (int i = 0; i < c->sig.n_aux; i++)
        set_values(c, c->sig.n_in + i, mxc_executor_aux(b->executor, i));
    current.stage = "bound forward";
    if (!went_well(mxc_executor_forward(b->executor, is_train), k->may_lack_memory))
        return 0;
    good = 1;
    for (int64_t i = 0; i < mxc_symbol_n_outputs(b->symbol); i++)
        good &= went_well(mxc_ndarray_wait_to_read(mxc_executor_output(b->executor, i)), k->may_lack_memory);
    if (good && is_train)
        run_backward(k, b);
    return good;
}

/* Plans whatever the sizes are; binds and runs if they are small enough. Returns 1 if forward went well. */
static int call_bound(call *k, int is_small) {
    random_case *c = &k->c;
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_memory_report report;
    mxc_req req = random_req(c);
    bound b = {.symbol = NULL};
    const mxc_bind_spec spec = {.size = sizeof spec,
                                .n = c->sig.n_in,
                                .names = b.given,
                                .shapes = c->in_shape,
                                .types = c->in_type,
                                .req = req};
    int good = 0;
    current.stage = "planning";
    if (went_well(make_symbol(c, &b), 0) && went_well(mxc_executor_plan(b.symbol, &options, &spec, &report), 1)) {
        EXPECT(report.arguments >= 0 && report.outputs >= 0 && report.internal_planned >= 0 && report.temp >= 0,
               "the plan reports negative bytes");
        k->may_lack_memory = report.temp > TEMP_LIMIT;
        current.stage = "binding";
        if (is_small && report.temp <= TEMP_LIMIT && report.internal_planned <= TEMP_LIMIT &&
            went_well(mxc_executor_simple_bind(b.symbol, &options, &spec, &b.executor), k->may_lack_memory))
            good = run_bound(k, &b);
    }
    mxc_executor_destroy(b.executor);
    mxc_symbol_release(b.symbol);
    return good;
}

/* ---- the runs ---------------------------------------------------------------------------------------------------- */

typedef struct tally {
    int64_t calls, refused, large, failed, alone, bound;
    int *forwards; /* by operator, that went well */
} tally;

static void make_call(uint64_t seed, tally *t) {
    static call k;
    random_end end;
    int is_bound, good = 0;
    memset(&k, 0, sizeof k);
    current.stage = "creation";
    start_clocks();
    end = random_case_open(&k.c, seed, note);
    is_bound = random_chance(&k.c, 40) && k.c.op && k.c.sig.n_out <= RANDOM_SLOTS && k.c.sig.n_in <= RANDOM_SLOTS;
    if (end == RANDOM_REFUSED)
        EXPECT(*mxc_last_error(), "refused without a message");
    if (is_bound && end != RANDOM_REFUSED)
        t->bound += good = call_bound(&k, end == RANDOM_READY);
    else if (end == RANDOM_READY)
        t->alone += good = call_alone(&k);
    random_case_close(&k.c);
    stop_clocks();
    t->calls++;
    t->refused += end == RANDOM_REFUSED;
    t->large += end == RANDOM_LARGE;
    t->failed += end == RANDOM_READY && !good;
    if (t->forwards)
        t->forwards[seed % (uint64_t)mxc_op_count()] += good;
}

static void print_tally(const tally *t) {
    print_message("%lld random calls: %lld by themselves, %lld bound; %lld refused, %lld too large, %lld failed\n",
                  (long long)t->calls, (long long)t->alone, (long long)t->bound, (long long)t->refused,
                  (long long)t->large, (long long)t->failed);
}

/* More calls of an operator none of whose calls went well: few of the random ones do where indices must be valid. */
static void call_until_good(int op, tally *t) {
    uint64_t ops = (uint64_t)mxc_op_count(), seed = (CALLS / ops + 1) * ops + (uint64_t)op;
    for (int i = 0; i < MORE_CALLS && !t->forwards[op]; i++)
        make_call(seed + (uint64_t)i * ops, t);
}

static void test_calls(void **state) {
    tally t = {.forwards = calloc((size_t)mxc_op_count(), sizeof(int))};
    int missing = 0;
    (void)state;
    assert_non_null(t.forwards);
    for (uint64_t seed = 0; seed < CALLS; seed++)
        make_call(seed, &t);
    print_tally(&t);
    for (int i = 0; i < mxc_op_count(); i++)
        if (random_case_has_template(mxc_op_at(i)))
            call_until_good(i, &t);
    for (int i = 0; i < mxc_op_count(); i++)
        if (!t.forwards[i] && random_case_has_template(mxc_op_at(i))) {
            print_error("%s: none of the random calls went well\n", mxc_op_at(i)->name);
            missing++;
        } else if (!t.forwards[i]) {
            print_message("skipped %s: this build lacks what its cases need\n", mxc_op_at(i)->name);
        }
    free(t.forwards);
    assert_int_equal(missing, 0);
}

static void test_on_request(void **state) {
    const char *seed_text = getenv("LIBMXC_RANDOM_SEED"), *seconds = getenv("LIBMXC_RANDOM_SECONDS");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : (uint64_t)time(NULL) << 20;
    time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
    tally t = {0};
    (void)state;
    print_message("random calls from seed %llu on\n", (unsigned long long)seed);
    do
        make_call(seed++, &t);
    while (time(NULL) < end);
    print_message("%s\n", seconds ? "" : current.text);
    print_tally(&t);
}

int main(void) {
    const struct CMUnitTest by_default[] = {cmocka_unit_test(test_calls)};
    const struct CMUnitTest on_request[] = {cmocka_unit_test(test_on_request)};
    int failed;
    if (case_register_ops() != MXC_OK)
        return 1;
    random_cases_open();
    watch();
    failed = getenv("LIBMXC_RANDOM_SEED") || getenv("LIBMXC_RANDOM_SECONDS")
                 ? cmocka_run_group_tests(on_request, NULL, NULL)
                 : cmocka_run_group_tests(by_default, NULL, NULL);
    random_cases_close();
    return failed;
}
