/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training step (forward, loss, backward, SGD with momentum; batch 64) of LeNet and of an MLP, with one thread and
 * with two: its time, and its page faults and allocations once it is warm. Each row is measured in a process of its
 * own, so that the peak of its memory is its own. bench/peers/torch_train.py is the same in PyTorch.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxc/mxc.h>

#include "measure.h"
#include "nets.h"

enum { BATCH = 64, WARM_STEPS = 100, MAX_STEPS = 20000, MAX_PARAMS = 16, TEXT = 1024 };

typedef struct settings {
    const char *data; /* directory of the MNIST files; NULL: one batch of random numbers, again and again */
    double seconds;   /* of each row */
} settings;

typedef struct result {
    double median, low;         /* seconds per step; a tenth of the steps took less than low */
    double faults, allocations; /* per step */
} result;

/* ---- what is trained --------------------------------------------------------------------------------------------- */

typedef struct trainer {
    mxc_engine *engine;
    mxc_executor *executor;
    mxc_optimizer *optimizer;
    mxc_iter *iter; /* or NULL */
    int n_params;
    const char *names[MAX_PARAMS];
    mxc_ndarray *data, *label, *params[MAX_PARAMS], *grads[MAX_PARAMS];
} trainer;

static mxc_executor *bind(mxc_symbol *net) {
    const char *const names[] = {"data", "softmax_label"};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *executor;
    mxc_shape shapes[2];
    measure_check(mxc_shape_set(&shapes[0], 4, (int64_t[]){BATCH, 1, 28, 28}));
    measure_check(mxc_shape_set(&shapes[1], 1, (int64_t[]){BATCH}));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE};
    measure_check(mxc_executor_simple_bind(net, &options, &spec, &executor));
    mxc_symbol_release(net);
    return executor;
}

/* Everything that has a gradient is a parameter. Backward computes the gradient of the last one first, so it comes
 * first. */
static void find_params(trainer *t) {
    const mxc_names *names = mxc_executor_arg_names(t->executor);
    for (int64_t i = names->n - 1; i >= 0; i--) {
        if (!mxc_executor_grad(t->executor, i))
            continue;
        t->names[t->n_params] = names->items[i];
        t->params[t->n_params] = mxc_executor_arg(t->executor, i);
        t->grads[t->n_params++] = mxc_executor_grad(t->executor, i);
        measure_check(mxc_init_array("xavier", 0, NULL, NULL, names->items[i], mxc_executor_arg(t->executor, i)));
    }
}

static mxc_iter *open_data(const char *directory) {
    char image[TEXT], label[TEXT], batch[16];
    const char *keys[] = {"image", "label", "batch_size"}, *values[] = {image, label, batch};
    mxc_iter *iter;
    snprintf(image, sizeof image, "%s/train-images-idx3-ubyte", directory);
    snprintf(label, sizeof label, "%s/train-labels-idx1-ubyte", directory);
    snprintf(batch, sizeof batch, "%d", BATCH);
    measure_check(mxc_iter_create("MNISTIter", 3, keys, values, &iter));
    return iter;
}

static void open_trainer(trainer *t, mxc_symbol *net, int threads, const char *data) {
    const char *keys[] = {"learning_rate", "momentum", "rescale_grad"}, *values[] = {"0.01", "0.9", "0.015625"};
    memset(t, 0, sizeof *t);
    t->engine = measure_engine(threads);
    mxc_engine_set_default(t->engine);
    t->executor = bind(net);
    t->data = mxc_executor_find_arg(t->executor, "data");
    t->label = mxc_executor_find_arg(t->executor, "softmax_label");
    find_params(t);
    measure_check(mxc_optimizer_create("sgd", 3, keys, values, &t->optimizer));
    measure_check(mxc_ndarray_fill_uniform(t->data, 0, 1));
    measure_check(mxc_ndarray_fill_uniform(t->label, 0, 10));
    if (data)
        t->iter = open_data(data);
}

static void close_trainer(trainer *t) {
    mxc_iter_destroy(t->iter);
    mxc_optimizer_destroy(t->optimizer);
    mxc_executor_destroy(t->executor);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(t->engine);
}

static void next_batch(trainer *t) {
    mxc_batch batch;
    measure_check(mxc_iter_next(t->iter, &batch));
    if (batch.n_data == 0) {
        measure_check(mxc_iter_reset(t->iter));
        measure_check(mxc_iter_next(t->iter, &batch));
    }
    measure_check(mxc_ndarray_copy_to(batch.data[0], t->data, 0));
    measure_check(mxc_ndarray_copy_to(batch.label[0], t->label, 0));
}

/* Queue one step and wait for all of it. */
static void step(trainer *t) {
    if (t->iter)
        next_batch(t);
    measure_check(mxc_executor_forward(t->executor, 1));
    measure_check(mxc_executor_backward(t->executor, 0, NULL));
    for (int i = 0; i < t->n_params; i++)
        measure_check(mxc_optimizer_update(t->optimizer, t->names[i], t->params[i], t->grads[i]));
    measure_check(mxc_wait_all(t->engine));
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static long faults(void) {
    static struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Steps until so many seconds are over; the number of times. */
static int time_steps(trainer *t, double seconds, double *times, int max) {
    int64_t begin = mxci_now_ns(), end = begin + (int64_t)(1e9 * seconds);
    int n = 0;
    while (n < max && begin < end) {
        int64_t now;
        step(t);
        now = mxci_now_ns();
        times[n++] = 1e-9 * (double)(now - begin);
        begin = now;
    }
    return n;
}

/* Faults and allocations are counted in the second half: the pushing thread runs a layer only now and then, and the
 * first time that it does, it touches new pages of its stack. */
static void measure(trainer *t, double seconds, result *out) {
    static double times[MAX_STEPS];
    long faults_before = faults(); /* this call and the loop below: so that measuring touches no new page later on */
    int64_t allocations_before;
    int first, n;
    memset(times, 0, sizeof times);
    for (int i = 0; i < WARM_STEPS; i++)
        step(t);
    first = time_steps(t, seconds / 2, times, MAX_STEPS / 2);
    faults_before = faults();
    allocations_before = mxci_alloc_count();
    n = first + time_steps(t, seconds / 2, times + first, MAX_STEPS - first);
    out->faults = (double)(faults() - faults_before) / (n - first);
    out->allocations = (double)(mxci_alloc_count() - allocations_before) / (n - first);
    out->median = measure_quantile(times, n, 0.5);
    out->low = measure_quantile(times, n, 0.1);
}

/* In the child process; the result goes to the parent. */
static void measure_to(int file, mxc_symbol *net, int threads, const settings *s) {
    trainer t;
    result r;
    open_trainer(&t, net, threads, s->data);
    measure(&t, s->seconds, &r);
    close_trainer(&t);
    if (write(file, &r, sizeof r) != sizeof r)
        exit(1);
    exit(0);
}

static mxc_symbol *make_net(const char *name) {
    return strcmp(name, "lenet") == 0 ? nets_lenet() : nets_mlp(128, 64, 10);
}

/* Nothing of the library has run in this process: the child starts as small as a program of its own. */
static void print_row(const char *name, int threads, const settings *s) {
    struct rusage usage;
    result r;
    int ends[2], status;
    pid_t child;
    fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("bench_train");
        exit(1);
    }
    if (child == 0)
        measure_to(ends[1], make_net(name), threads, s);
    close(ends[1]);
    if (read(ends[0], &r, sizeof r) != sizeof r || wait4(child, &status, 0, &usage) != child || status != 0)
        exit(1);
    close(ends[0]);
    printf("%-8s %8d %10.3f %10.3f %10.0f %10.2f %12.2f %10.1f\n", name, threads, 1e3 * r.median, 1e3 * r.low,
           BATCH / r.median, r.faults, r.allocations, (double)usage.ru_maxrss / 1024);
}

static void usage(const char *program) {
    fprintf(stderr, "usage: %s [--quick] [--data DIRECTORY]\n", program);
    exit(2);
}

int main(int argc, char **argv) {
    static const char *const nets[] = {"mlp", "lenet"};
    settings s = {NULL, 4};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            s.seconds = 0.05;
        else if (strcmp(argv[i], "--data") == 0 && i + 1 < argc)
            s.data = argv[++i];
        else
            usage(argv[0]);
    }
    printf("%-8s %8s %10s %10s %10s %10s %12s %10s\n", "batch 64", "threads", "ms/step", "lowest 10%", "images/s",
           "faults", "allocations", "peak MiB");
    for (int i = 0; i < 2; i++)
        for (int threads = 1; threads <= 2; threads++)
            print_row(nets[i], threads, &s);
    return 0;
}
