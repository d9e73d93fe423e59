/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributed stores: sums over processes beside plain MPI, and a training step of a residual net with and without
 * them: how much of the communication hides behind the backward pass, and what a second process is worth. Started by
 *
 *     mpirun -np 2 bench/bench_dist [--quick]
 *
 * or by itself, as one process. Rank 0 prints. Last come times by calculation for more workers than there are here.
 */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>

#include <mxc/mxc.h>

#include "base/module.h"
#include "kvstore/kvstore.h"
#include "measure.h"
#include "nets.h"
#include "optimizer/optimizer.h"
#include "peers/plain_mpi.h"

enum { MAX_ROUNDS = 101, MAX_PARAMS = 64, BATCH = 8 };
enum { GROUP_BYTES = 1 << 20 }; /* as mxc_fit pushes parameters */
#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

typedef struct settings {
    int quick, rank, size;
} settings;

static void print_from_first(const settings *s, const char *format, ...) MXC_PRINTF(2, 3);
static void print_from_first(const settings *s, const char *format, ...) {
    va_list args;
    if (s->rank != 0)
        return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

/* A distributed store, or a local one where there is no MPI. */
static mxc_kvstore *open_store(const char *shard) {
    const char *key = "shard";
    mxc_kvstore *store;
    if (mxc_kvstore_create_with("dist_sync", 1, &key, &shard, &store) != MXC_OK)
        measure_check(mxc_kvstore_create("local", &store));
    return store;
}

/* Is there another round? All processes agree. */
static int goes_on(mxc_kvstore *store, int64_t end_ns) {
    int64_t go = mxci_now_ns() < end_ns;
    measure_check(mxci_kvstore_allreduce_min(store, "next round", &go));
    return (int)go;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

enum { PLAIN, PLAIN_TESTED, PUSH, PUSH_AND_PULL, SUMS };

typedef struct summing {
    mxc_kvstore *store;
    peer *peer; /* or NULL */
    const char *key;
    mxc_ndarray *value, *pulled, *sum;
    const float *in; /* value's memory, and pulled's: plain MPI works on the same */
    float *out;
    size_t bytes;
} summing;

/* What training does with a sum is not measured here: only find it. */
static mxc_status find_sum(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user) {
    (void)key, (void)stored;
    ((summing *)user)->sum = sum;
    return MXC_OK;
}

static void sum_once(summing *s, int way) {
    if (way == PLAIN)
        peer_allreduce(s->peer, s->in, s->out, s->bytes / sizeof(float));
    else if (way == PLAIN_TESTED)
        peer_iallreduce(s->peer, s->in, s->out, s->bytes / sizeof(float));
    else if (way == PUSH) {
        measure_check(mxc_kvstore_push(s->store, 1, &s->key, &s->value, 0));
        measure_check(mxc_ndarray_wait_to_read(s->sum));
    } else {
        measure_check(mxc_kvstore_pushpull(s->store, 1, &s->key, &s->value, &s->pulled, 0));
        measure_check(mxc_ndarray_wait_to_read(s->pulled));
    }
}

static int calls_of(size_t bytes, int quick) {
    int calls = bytes <= 64 * KB ? 50 : bytes <= MB ? 10 : 2;
    return quick ? (calls + 9) / 10 : calls;
}

/* Seconds of one call. */
static double time_sums(summing *s, int way, int calls) {
    mxc_kvstore_set_updater(s->store, way == PUSH ? find_sum : NULL, s);
    measure_check(mxc_kvstore_barrier(s->store));
    sum_once(s, way);
    int64_t begin = mxci_now_ns();
    for (int i = 0; i < calls; i++)
        sum_once(s, way);
    return 1e-9 * (double)(mxci_now_ns() - begin) / calls;
}

static mxc_ndarray *filled(size_t bytes, float **data) {
    int64_t n = (int64_t)(bytes / sizeof(float));
    mxc_ndarray *array;
    mxc_tensor tensor;
    measure_check(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &array));
    measure_check(mxc_ndarray_fill(array, 1));
    measure_check(mxc_ndarray_wait_to_read(array));
    measure_check(mxc_ndarray_tensor(array, &tensor));
    *data = tensor.data;
    return array;
}

/* Medians and lowest tenths of all ways, taken in turn. */
static void measure_sums(summing *s, int quick, double *median, double *low) {
    double times[SUMS][MAX_ROUNDS];
    int n = 0, calls = calls_of(s->bytes, quick);
    int64_t end = mxci_now_ns() + (quick ? 0 : INT64_C(2500000000));
    do {
        for (int way = s->peer ? PLAIN : PUSH; way < SUMS; way++)
            times[way][n] = time_sums(s, way, calls);
        n++;
    } while (n < MAX_ROUNDS && goes_on(s->store, end));
    for (int way = s->peer ? PLAIN : PUSH; way < SUMS; way++) {
        median[way] = measure_quantile(times[way], n, 0.5);
        low[way] = measure_quantile(times[way], n, 0.1);
    }
}

static void print_sums(const settings *set, const summing *s, const double *median, const double *low) {
    double bytes = (double)s->bytes;
    print_from_first(set, "%8zu", s->bytes / KB);
    for (int way = PLAIN; way < SUMS; way++)
        if (s->peer || way >= PUSH)
            print_from_first(set, " %10.1f %7.0f", 1e6 * median[way], 1e-6 * bytes / median[way]);
        else
            print_from_first(set, " %10s %7s", "-", "-");
    if (s->peer)
        print_from_first(set, " %8.2f %8.2f %+9.1f", median[PLAIN] / median[PUSH], low[PLAIN] / low[PUSH],
                         1e6 * (median[PUSH] - median[PLAIN]));
    print_from_first(set, "\n");
}

/* Of the lowest tenths. The time of a sum of two processes is 2 alpha + bytes / bandwidth. */
typedef struct constants {
    double alpha;            /* seconds: half of the smallest sum's */
    double bandwidth, share; /* of sums of CONSTANT_BYTES: bytes a second, and its share of plain MPI's */
    double hidden;           /* share of the communication over an emulated link */
} constants;

#define CONSTANT_BYTES (4 * MB) /* pieces of larger sums have this size */

static void sum_of_size(const settings *set, mxc_kvstore *store, peer *peer, size_t bytes, constants *out) {
    char key[32];
    float *in;
    double median[SUMS], low[SUMS];
    summing s = {.store = store, .peer = peer, .key = key, .bytes = bytes};
    snprintf(key, sizeof key, "sum of %zu", bytes);
    s.value = filled(bytes, &in);
    s.pulled = filled(bytes, &s.out);
    s.in = in;
    measure_check(mxc_kvstore_init(store, 1, &s.key, &s.value));
    measure_sums(&s, set->quick, median, low);
    print_sums(set, &s, median, low);
    if (out->alpha == 0) /* the first one, the smallest */
        out->alpha = low[PUSH] / 2;
    if (bytes <= CONSTANT_BYTES) {
        out->bandwidth = (double)bytes / low[PUSH];
        out->share = peer ? low[PLAIN] / low[PUSH] : 1;
    }
    mxc_ndarray_release(s.value);
    mxc_ndarray_release(s.pulled);
}

static void bench_sums(const settings *set, constants *out) {
    static const size_t sizes[] = {4 * KB, 16 * KB, 64 * KB, 256 * KB, MB, 4 * MB, 16 * MB, 64 * MB};
    mxc_kvstore *store = open_store("false");
    peer *peer = peer_open();
    print_from_first(set, "sums over %d processes (%s), medians; ratio: push's speed to plain MPI_Allreduce's\n",
                     set->size, mxc_kvstore_type(store));
    print_from_first(set, "%8s %18s %18s %18s %18s %8s %8s %9s\n", "", "MPI_Allreduce", "MPI_Iallreduce", "push",
                     "push and pull", "push:", "of low", "more");
    print_from_first(set, "%8s", "KiB");
    for (int way = 0; way < SUMS; way++)
        print_from_first(set, " %10s %7s", "us", "MB/s");
    print_from_first(set, " %8s %8s %9s\n", "ratio", "tenths", "us");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!set->quick || sizes[i] == 4 * KB || sizes[i] == MB)
            sum_of_size(set, store, peer, sizes[i], out);
    mxc_kvstore_destroy(store);
    peer_close(peer);
}

/* ---- an emulated network link ------------------------------------------------------------------------------------ */

/* Between processes of one machine a sum costs the processors that compute, too, and there is little to hide. On a
 * network it is mostly time. This group is MPI's, but no sum is done before such a link would have moved it. */
#define LINK_BYTES_PER_NS 1.25 /* 10 Gbit/s */
enum { LINK_SLOTS = 16 };

static struct {
    const mxci_process_group_api *real;
    int64_t free_ns; /* when the link has moved what it was given */
    mxci_group_request *slots[LINK_SLOTS];
    int64_t due_ns[LINK_SLOTS];
} slow;

static int link_slot(const mxci_group_request *t) {
    int i = 0;
    while (i < LINK_SLOTS && slow.slots[i] != t)
        i++;
    return i;
}

static mxc_status link_allreduce(mxci_process_group *group, int to, const void *in, void *out, int64_t n,
                                 mxc_dtype dtype, mxci_group_request *t) {
    int64_t now = mxci_now_ns(), begin = now > slow.free_ns ? now : slow.free_ns;
    int slot = link_slot(NULL);
    slow.free_ns = begin + (int64_t)((double)n * (double)mxc_dtype_size(dtype) / LINK_BYTES_PER_NS);
    if (slot == LINK_SLOTS)
        measure_fail("bench_dist: more sums at a time than the link has places");
    slow.slots[slot] = t;
    slow.due_ns[slot] = slow.free_ns;
    return slow.real->allreduce(group, to, in, out, n, dtype, t);
}

static mxc_status link_test(mxci_process_group *group, mxci_group_request *t, int *done) {
    int slot = link_slot(t);
    MXC_TRY(slow.real->test(group, t, done)); /* again after the end: done */
    if (*done && slot < LINK_SLOTS && mxci_now_ns() < slow.due_ns[slot])
        *done = 0;
    else if (*done && slot < LINK_SLOTS)
        slow.slots[slot] = NULL;
    return MXC_OK;
}

/* NULL: there is no MPI. */
static mxc_kvstore *open_link(void) {
    static mxci_process_group_api api;
    mxc_kvstore *store;
    if (mxci_module_group(&slow.real) != MXC_OK)
        return NULL;
    api = *slow.real;
    api.allreduce = link_allreduce;
    api.test = link_test;
    measure_check(mxci_kvstore_create_on(&api, "dist_sync", 0, NULL, NULL, &store));
    return store;
}

/* ---- a training step --------------------------------------------------------------------------------------------- */

typedef struct net {
    mxc_executor *executor;
    int n;
    size_t bytes;
    const char *names[MAX_PARAMS];
    mxc_ndarray *params[MAX_PARAMS], *grads[MAX_PARAMS];
} net;

enum { ALONE, LOCAL, DIST, DIST_AFTER, LINK, LINK_AFTER, SHARES, WAYS };

typedef struct way {
    const char *title;
    int is_after;       /* pushes come when backward has ended */
    mxc_kvstore *store; /* NULL: this is not measured */
    mxc_optimizer *optimizer;
    double times[MAX_ROUNDS], median, low; /* low: a tenth of the steps took less */
} way;

/* Four residual blocks; most weights are in the last ones, whose gradients come first. */
static mxc_symbol *make_symbol(int quick) {
    mxc_symbol *s = nets_relu(nets_conv_bn(nets_variable("data"), "first", 32, 3, 1), "first_relu");
    s = nets_residual(s, "a", 64, 2);
    s = nets_residual(s, "b", 128, 2);
    s = nets_residual(s, "c", 256, 2);
    if (!quick)
        s = nets_residual(s, "d", 512, 2);
    s = nets_on("Pooling", "pool", "pool_type=avg kernel=(2,2) global_pool=True", s);
    s = nets_on("FullyConnected", "fc", "num_hidden=10", nets_on("Flatten", "flatten", "", s));
    return nets_on("SoftmaxOutput", "softmax", "", s);
}

static mxc_executor *bind(mxc_symbol *symbol, int batch) {
    const char *const names[] = {"data", "softmax_label"};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *executor;
    mxc_shape shapes[2];
    measure_check(mxc_shape_set(&shapes[0], 4, (int64_t[]){batch, 3, 32, 32}));
    measure_check(mxc_shape_set(&shapes[1], 1, (int64_t[]){batch}));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE};
    measure_check(mxc_executor_simple_bind(symbol, &options, &spec, &executor));
    mxc_symbol_release(symbol);
    return executor;
}

static void open_net(net *t, int quick) {
    memset(t, 0, sizeof *t);
    t->executor = bind(make_symbol(quick), quick ? 2 : BATCH);
    const mxc_names *names = mxc_executor_arg_names(t->executor);
    for (int64_t i = 0; i < names->n; i++) {
        mxc_ndarray *arg = mxc_executor_arg(t->executor, i);
        if (!mxc_executor_grad(t->executor, i))
            continue;
        if (t->n == MAX_PARAMS)
            measure_fail("bench_dist: the net has too many parameters");
        t->names[t->n] = names->items[i];
        t->params[t->n] = arg;
        t->grads[t->n++] = mxc_executor_grad(t->executor, i);
        t->bytes += mxc_ndarray_bytes(arg);
        measure_check(mxc_init_array("xavier", 0, NULL, NULL, names->items[i], arg));
    }
    measure_check(mxc_ndarray_fill_uniform(mxc_executor_find_arg(t->executor, "data"), 0, 1));
    measure_check(mxc_ndarray_fill_uniform(mxc_executor_find_arg(t->executor, "softmax_label"), 0, 10));
}

static int group_begin(const net *t, int end) {
    size_t bytes = 0;
    int begin = end;
    while (begin > 0 && ((bytes += mxc_ndarray_bytes(t->params[begin - 1])) <= GROUP_BYTES || begin == end))
        begin--;
    return begin;
}

/* As mxc_fit does it: the last parameters first, as backward makes their gradients; each group updated by itself. */
static void push_gradients(const net *t, const way *w) {
    for (int begin, end = t->n; end > 0; end = begin) {
        begin = group_begin(t, end);
        mxci_optimizer_hold(w->optimizer);
        measure_check(mxc_kvstore_push(w->store, end - begin, t->names + begin, t->grads + begin, -begin));
        measure_check(mxci_optimizer_flush(w->optimizer));
    }
}

static void step(const net *t, const way *w, mxc_engine *engine) {
    measure_check(mxc_executor_forward(t->executor, 1));
    measure_check(mxc_executor_backward(t->executor, 0, NULL));
    if (w->is_after)
        measure_check(mxc_wait_all(engine));
    push_gradients(t, w);
    for (int i = t->n - 1; i >= 0; i--) /* the store has the parameters themselves: only shares are fetched */
        measure_check(mxc_kvstore_pull(w->store, 1, &t->names[i], &t->params[i], -i));
    measure_check(mxc_wait_all(engine));
}

/* From all processes' start to the last one's end; ALONE: of rank 0, while others sleep. */
static double time_step(const settings *set, const net *t, const way *w, int is_alone, mxc_kvstore *meeting,
                        mxc_engine *engine) {
    measure_check(mxc_kvstore_barrier(meeting));
    int64_t begin = mxci_now_ns();
    if (!is_alone || set->rank == 0)
        step(t, w, engine);
    int64_t end = mxci_now_ns();
    measure_check(mxc_kvstore_barrier(meeting));
    return 1e-9 * (double)((is_alone ? end : mxci_now_ns()) - begin);
}

static void set_way(way *w, const char *title, int is_after, mxc_kvstore *store, const net *t) {
    const char *keys[] = {"learning_rate", "momentum", "rescale_grad"}, *values[] = {"0.01", "0.9", "0.03125"};
    w->title = title;
    w->is_after = is_after;
    w->store = store;
    if (!store)
        return;
    measure_check(mxc_optimizer_create("sgd", 3, keys, values, &w->optimizer));
    measure_check(mxc_kvstore_set_optimizer(store, w->optimizer));
    for (int i = 0; i < t->n && !is_after; i++)
        measure_check(mxci_kvstore_adopt(store, t->names[i], t->params[i]));
}

static void time_ways(const settings *set, const net *t, way *ways, mxc_engine *engine) {
    mxc_kvstore *meeting = ways[DIST].store;
    int64_t end = 0;
    int n = -1; /* the first round is not counted */
    do {
        for (int k = 0; k < WAYS; k++) {
            int i = (k + n + WAYS) % WAYS; /* another one is the first each time */
            if (!ways[i].store)
                continue;
            measure_check(mxc_kvstore_set_optimizer(ways[i].store, ways[i].optimizer));
            ways[i].times[n < 0 ? 0 : n] = time_step(set, t, &ways[i], i == ALONE, meeting, engine);
        }
        if (n++ < 0)
            end = mxci_now_ns() + (set->quick ? 0 : INT64_C(25000000000));
    } while (n == 0 || (n < MAX_ROUNDS && goes_on(meeting, end)));
    for (int i = 0; i < WAYS; i++) {
        ways[i].median = measure_quantile(ways[i].times, n, 0.5);
        ways[i].low = measure_quantile(ways[i].times, n, 0.1);
    }
}

/* Of the time that communication takes after backward. */
static double hidden_share(double local, double during, double after) {
    return after > local ? (after - during) / (after - local) : 0;
}

static void print_hidden(const settings *set, const char *title, const way *ways, int during, int after) {
    print_from_first(set, "%-58s %10.2f %10.2f\n", title,
                     hidden_share(ways[LOCAL].median, ways[during].median, ways[after].median),
                     hidden_share(ways[LOCAL].low, ways[during].low, ways[after].low));
}

static void print_ways(const settings *set, const net *t, const way *ways) {
    print_from_first(set, "\nresidual net, batch %d of each process, %.1f MB of gradients, %s\n",
                     set->quick ? 2 : BATCH, 1e-6 * (double)t->bytes,
                     set->size > 1 ? "one processor each" : "one thread computes");
    print_from_first(set, "%-58s %10s %10s\n", "", "ms/step", "lowest 10%");
    for (int i = 0; i < WAYS; i++)
        if (ways[i].store)
            print_from_first(set, "%-58s %10.2f %10.2f\n", ways[i].title, 1e3 * ways[i].median, 1e3 * ways[i].low);
    if (set->size > 1)
        print_hidden(set, "hidden behind backward, this machine: (c - b) / (c - a)", ways, DIST, DIST_AFTER);
    if (ways[LINK].store)
        print_hidden(set, "hidden behind backward, 10 Gbit/s: (e - d) / (e - a)", ways, LINK, LINK_AFTER);
    if (set->size > 1)
        print_from_first(set, "%-58s %10.2f %10.2f\n", "efficiency: one process alone / (b)",
                         ways[ALONE].median / ways[DIST].median, ways[ALONE].low / ways[DIST].low);
}

static void bench_steps(const settings *set, mxc_engine *engine, constants *out) {
    mxc_kvstore *local, *alone, *dist = open_store("false"), *slow_one = open_link();
    mxc_kvstore *shares = open_store("true");
    way ways[WAYS];
    net t;
    memset(ways, 0, sizeof ways);
    measure_check(mxc_kvstore_create("local", &local));
    measure_check(mxc_kvstore_create("local", &alone));
    open_net(&t, set->quick);
    set_way(&ways[ALONE], "one process, the others sleep", 0, alone, &t);
    set_way(&ways[LOCAL], "(a) all processes, no communication", 0, local, &t);
    set_way(&ways[DIST], "(b) dist_sync, sums queued while backward runs", 0, dist, &t);
    set_way(&ways[DIST_AFTER], "(c) dist_sync, sums after backward", 1, dist, &t);
    set_way(&ways[LINK], "(d) as (b), sums as slow as an emulated 10 Gbit/s link", 0, slow_one, &t);
    set_way(&ways[LINK_AFTER], "(e) as (c), likewise", 1, slow_one, &t);
    set_way(&ways[SHARES], "(f) as (b), each process updates its share", 0, set->size > 1 ? shares : NULL, &t);
    time_ways(set, &t, ways, engine);
    print_ways(set, &t, ways);
    if (slow_one)
        out->hidden = hidden_share(ways[LOCAL].low, ways[LINK].low, ways[LINK_AFTER].low);
    mxc_kvstore_destroy(shares);
    mxc_kvstore_destroy(slow_one);
    mxc_kvstore_destroy(dist);
    mxc_kvstore_destroy(local);
    mxc_kvstore_destroy(alone);
    for (int i = 0; i < WAYS; i++)
        mxc_optimizer_destroy(ways[i].optimizer);
    mxc_executor_destroy(t.executor);
}

/* ---- by calculation ---------------------------------------------------------------------------------------------- */

/* ResNet-50 in float32 on one GPU: a step of 200 ms (batch 64, 320 images a second), two thirds of it backward. */
#define GRADIENT_BYTES 102e6
#define STEP_SECONDS 0.2
#define BACKWARD_SECONDS (STEP_SECONDS * 2 / 3)
#define WIRE_SECONDS 5e-6 /* a message's way through a network, beside alpha */

static double ring_seconds(const constants *c, int n, double gigabits) {
    double bandwidth = gigabits * 1e9 / 8 * (c->share < 1 ? c->share : 1);
    return 2.0 * (n - 1) / n * GRADIENT_BYTES / bandwidth + 2 * log2(n) * (c->alpha + WIRE_SECONDS);
}

/* What hides never takes longer than backward. */
static double efficiency(double seconds, double share) {
    double hidden = fmin(fmin(fmax(share, 0), 1) * seconds, BACKWARD_SECONDS);
    return STEP_SECONDS / (STEP_SECONDS + seconds - hidden);
}

static void print_calculated(const settings *set, const constants *c) {
    static const double rates[] = {10, 100, 400};
    static const int workers[] = {8, 64, 256, 1024};
    print_from_first(set, "\nmeasured: alpha %.1f us, bandwidth %.0f MB/s (beta %.3f ns a byte), %.2f of plain MPI's\n",
                     1e6 * c->alpha, 1e-6 * c->bandwidth, 1e9 / c->bandwidth, c->share);
    print_from_first(set,
                     "BY CALCULATION: ResNet-50, 102 MB of gradients, step 200 ms; ms of a sum, efficiency if "
                     "%.2f of it hides, and if all\n%8s",
                     c->hidden, "workers");
    for (int r = 0; r < 3; r++)
        print_from_first(set, " %16.0f Gbit/s", rates[r]);
    print_from_first(set, "\n");
    for (int i = 0; i < 4; i++) {
        print_from_first(set, "%8d", workers[i]);
        for (int r = 0; r < 3; r++) {
            double seconds = ring_seconds(c, workers[i], rates[r]);
            print_from_first(set, " %9.1f %5.1f%% %5.1f%%", 1e3 * seconds, 100 * efficiency(seconds, c->hidden),
                             100 * efficiency(seconds, 1));
        }
        print_from_first(set, "\n");
    }
}

/* ---- main -------------------------------------------------------------------------------------------------------- */

/* This thread, and those that it starts from here on, stay on one of the machine's processors. */
static void stay_on_one(int rank) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(rank % (int)sysconf(_SC_NPROCESSORS_ONLN)), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int count_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

static void open_group(settings *set) {
    mxc_kvstore *store;
    mxc_status status = mxc_kvstore_create("dist_sync", &store);
    if (status != MXC_OK) {
        printf("only the local store is measured: %s\n", mxc_last_error());
        return;
    }
    set->rank = mxc_kvstore_rank(store);
    set->size = mxc_kvstore_group_size(store);
    mxc_kvstore_destroy(store);
    if (set->size == 1)
        printf("one process; for two: mpirun -np 2 bench/bench_dist\n");
}

int main(int argc, char **argv) {
    settings set = {.quick = measure_is_quick(argc, argv), .size = 1};
    constants found = {.share = 1};
    open_group(&set);
    print_from_first(&set, "processors of a process: %d\n", count_processors());
    bench_sums(&set, &found);
    if (set.size > 1)
        stay_on_one(set.rank);
    mxc_engine *engine = measure_engine(1);
    mxc_engine_set_default(engine);
    bench_steps(&set, engine, &found);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
    if (set.size > 1)
        print_calculated(&set, &found);
    return 0;
}
