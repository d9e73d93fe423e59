/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions computed channels last: the same results and gradients as what is written, transposes at the borders only.
 * On cpu(0), in float32 and wherever it can be done, unless the command names a context, a dtype and MXC_GPU_LAYOUT.
 */
#include "executor/nets.h"

#include <math.h>

#include "base/sys.h"
#include "executor/run/forward_backward.h"
#include "symbol/graph_query.h"

enum { BATCH = 3, CHANNELS = 4, SIDE = 8, MOST = 12 };

static mxc_context context = {MXC_CPU, 0};
static mxc_dtype type = MXC_F32;
static int is_always = 1;

/* ---- nets -------------------------------------------------------------------------------------------------------- */

static mxc_symbol *share(mxc_symbol *s) {
    return mxc_symbol_retain(s);
}

static mxc_symbol *conv_bn(const char *name, const char *params, mxc_symbol *in) {
    char text[64];
    in = net_on("Convolution", name, params, in);
    snprintf(text, sizeof text, "%s_bn", name);
    return net_on("BatchNorm", text, "fix_gamma=False", in);
}

static mxc_symbol *relu(const char *name, mxc_symbol *in) {
    return net_on("Activation", name, "act_type=relu", in);
}

/* A stem and two residual blocks, of which one has a convolution beside it. */
static mxc_symbol *net_residual(void) {
    mxc_symbol *x = relu("relu0", conv_bn("conv0", "kernel=(3,3) pad=(1,1) num_filter=8", net_variable("data"))), *y;
    x = net_on("Pooling", "pool0", "kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max", x);
    y = relu("relu1", conv_bn("conv1", "kernel=(3,3) pad=(1,1) num_filter=8 no_bias=True", share(x)));
    y = conv_bn("conv2", "kernel=(3,3) pad=(1,1) num_filter=8", y);
    x = relu("relu2", net_on2("elemwise_add", "add1", "", x, y));
    y = relu("relu3", conv_bn("conv3", "kernel=(3,3) stride=(2,2) pad=(1,1) num_filter=16", share(x)));
    y = conv_bn("conv4", "kernel=(3,3) pad=(1,1) num_filter=16", y);
    x = conv_bn("conv5", "kernel=(1,1) stride=(2,2) num_filter=16", x);
    x = relu("relu4", net_on2("broadcast_add", "add2", "", x, y));
    x = net_on("Pooling", "pool1", "kernel=(1,1) global_pool=True pool_type=avg", x);
    return net_on("FullyConnected", "fc", "num_hidden=5", net_on("Flatten", "flat", "", x));
}

static mxc_symbol *either(uint64_t *seed, mxc_symbol *const *made, int n) {
    return share(made[(int)((net_random(seed) + 1) / 2 * n)]);
}

/* The two outputs of a symbol, which is released, the second one first. */
static mxc_symbol *exchange(const char *name, const char *params, mxc_symbol *parts) {
    mxc_symbol *part[2];
    for (int i = 0; i < 2; i++)
        assert_ok(mxc_symbol_output(parts, i, &part[i]));
    mxc_symbol_release(parts);
    return net_on2("Concat", name, params, part[1], part[0]);
}

/* One more layer, which leaves the shape: what leads, what follows, what does neither. */
static mxc_symbol *grow(uint64_t *seed, mxc_symbol *const *made, int n, mxc_symbol *weight) {
    static const char *const convs[] = {
        "kernel=(3,3) pad=(1,1) num_filter=4",
        "kernel=(1,1) num_filter=4 no_bias=True",
        "kernel=(3,3) pad=(2,2) dilate=(2,2) num_filter=4 num_group=2",
    };
    mxc_symbol *top = share(made[n - 1]);
    char name[32];
    snprintf(name, sizeof name, "layer%d", n);
    switch ((int)((net_random(seed) + 1) / 2 * 17)) {
    case 0:
        return net_on2("elemwise_add", name, "", top, either(seed, made, n));
    case 1:
        return net_on("Activation", name, "act_type=tanh", top);
    case 2:
        return net_on("BatchNorm", name, "fix_gamma=False eps=0.01", top);
    case 3:
        return net_on("Pooling", name, "kernel=(3,3) pad=(1,1) pool_type=avg", top);
    case 4:
        return net_on("LRN", name, "nsize=3", top);
    case 5:
        top = net_on2("Concat", name, n % 2 ? "num_args=2 dim=1" : "num_args=2 dim=-3", top, either(seed, made, n));
        return net_on("Convolution", "after", convs[1], top);
    case 6:
        return net_on2("Convolution", name, convs[0], top, share(weight));
    case 7:
        top = net_on2("Concat", name, "num_args=2 dim=2", top, either(seed, made, n));
        return net_on("Pooling", "halved", "kernel=(2,1) stride=(2,1) pool_type=sum", top);
    case 8: /* squeeze and excitation */
        top = net_on("mean", "squeezed", n % 2 ? "axis=(2,3) keepdims=True" : "axis=(0,1) exclude=True keepdims=True",
                     top);
        return net_on2("broadcast_mul", name, "", share(made[n - 1]), net_on("sigmoid", "excited", "", top));
    case 9:
        top = net_on("slice_axis", "half", n % 2 ? "axis=1 begin=1 end=3" : "axis=-2 begin=0 end=2", top);
        return net_on2("broadcast_add", name, "", share(made[n - 1]),
                       net_on("sum", "summed", n % 2 ? "axis=1 keepdims=True" : "axis=-2 keepdims=True", top));
    case 10:
        return net_on("softmax", name, n % 2 ? "axis=1" : "axis=-1", top);
    case 11:
        top = net_on("SliceChannel", "parts", n % 2 ? "num_outputs=2" : "num_outputs=2 axis=3", top);
        return exchange(name, n % 2 ? "num_args=2 dim=1" : "num_args=2 dim=3", top);
    default:
        return net_on("Convolution", name, convs[n % 3], top);
    }
}

/* The last layer flattened, and one from the middle; the first adds a parameter whose gradient is the data's. */
static mxc_symbol *net_of_seed(uint64_t seed) {
    mxc_symbol *made[MOST], *outputs[2], *group, *weight = net_variable("shared_weight");
    int n, size = 4 + (int)(seed % (MOST - 3));
    made[0] = net_on2("elemwise_add", "shift", "", net_variable("data"), net_variable("extra"));
    for (n = 1; n < size; n++)
        made[n] = grow(&seed, made, n, weight);
    outputs[0] = net_on("FullyConnected", "fc", "num_hidden=5", share(made[n - 1]));
    outputs[1] = either(&seed, made + 1, n - 1);
    assert_ok(mxc_symbol_group(2, outputs, &group));
    mxc_symbol_release(outputs[0]);
    mxc_symbol_release(outputs[1]);
    mxc_symbol_release(weight);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return group;
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static mxc_executor *bind_with(mxc_symbol *s, mxc_bind_options options, mxc_req req) {
    static const char *const names[] = {"data"};
    mxc_shape shape = net_shape(4, BATCH, CHANNELS, SIDE, SIDE);
    mxc_executor *e;
    options.context = context;
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 1, .names = names, .shapes = &shape, .types = &type, .req = req};
    assert_ok(mxc_executor_simple_bind(s, &options, &spec, &e));
    return e;
}

static mxc_executor *bind(mxc_symbol *s, mxc_req req) {
    return bind_with(s, (mxc_bind_options)MXC_BIND_OPTIONS_INIT, req);
}

/* One that runs what is written. */
static mxc_executor *bind_as_written(mxc_symbol *s, mxc_req req) {
    mxc_executor *e = bind(s, req);
    assert_ok(mxci_executor_use_single_steps(e));
    assert_false(e->bound->program->is_rewritten);
    return e;
}

/* Steps that transpose; of weights, or of anything else. */
static int count_turns(const mxc_executor *e, int is_backward, int is_of_weights) {
    const mxci_program *p = e->bound->program;
    int n = 0;
    for (int32_t i = is_backward ? p->n_forward : 0; i < (is_backward ? p->n_steps : p->n_forward); i++) {
        const char *name = p->graph->nodes[p->order[i]].name;
        n += !strcmp(mxci_graph_op_def(p->graph, p->order[i])->name, "transpose") &&
             (strstr(name, "weight") || strstr(name, "fold_last")) == is_of_weights;
    }
    return n;
}

/* As a whole: the gradient of a bias before a norm is 0 but for rounding, of which bfloat16 has 8 times float16's. */
static void assert_close(mxc_ndarray *a, mxc_ndarray *b, const char *name) {
    const double tolerance = type == MXC_F32 ? 1e-4 : type == MXC_BF16 ? 4e-1 : 5e-2;
    double *x = net_read(a), *y = net_read(b), apart = 0, all = 0;
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++) {
        apart += (x[i] - y[i]) * (x[i] - y[i]);
        all += y[i] * y[i];
    }
    if (!(sqrt(apart) <= tolerance * (sqrt(all) + 0.5 * sqrt((double)mxc_ndarray_size(a)))))
        fail_msg("%s: apart by %g of %g", name, sqrt(apart), sqrt(all));
    free(x);
    free(y);
}

static void backward(mxc_executor *e) {
    mxc_ndarray *heads[2] = {NULL, NULL}, *output;
    int64_t n = 0;
    for (; (output = mxc_executor_output(e, n)) != NULL; n++) {
        const mxc_shape *s = mxc_ndarray_shape(output);
        assert_ok(mxc_ndarray_create(s->ndim, s->dim, mxc_ndarray_dtype(output), context, &heads[n]));
        net_fill(heads[n], 99 + (uint64_t)n, -1, 1);
    }
    assert_ok(mxc_executor_backward(e, n, heads));
    for (int64_t i = 0; i < n; i++)
        mxc_ndarray_release(heads[i]);
}

static void compare(mxc_executor *a, mxc_executor *b, int with_gradients) {
    const mxc_names *args = mxc_executor_arg_names(a), *aux = mxc_executor_aux_names(a);
    for (int64_t i = 0; mxc_executor_output(a, i); i++)
        assert_close(mxc_executor_output(a, i), mxc_executor_output(b, i), "output");
    for (int64_t i = 0; i < aux->n; i++)
        assert_close(mxc_executor_aux(a, i), mxc_executor_aux(b, i), aux->items[i]);
    for (int64_t i = 0; i < args->n && with_gradients; i++)
        if (mxc_executor_grad(a, i))
            assert_close(mxc_executor_grad(a, i), mxc_executor_grad(b, i), args->items[i]);
}

/* Both run, several times where gradients are added to; then they are destroyed. */
static void run_both(mxc_executor *a, mxc_executor *b, mxc_req req) {
    for (int run = 0; run < (req == MXC_REQ_ADD ? 2 : 1); run++) {
        net_fill_all(a, 7 + (uint64_t)run, 5);
        net_fill_all(b, 7 + (uint64_t)run, 5);
        assert_ok(mxc_executor_forward(a, req != MXC_REQ_NULL));
        assert_ok(mxc_executor_forward(b, req != MXC_REQ_NULL));
        if (req != MXC_REQ_NULL) {
            backward(a);
            backward(b);
        }
    }
    compare(a, b, req != MXC_REQ_NULL);
    mxc_executor_destroy(a);
    mxc_executor_destroy(b);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Two transposes of data, and one of its gradient; each weight's. */
static void test_residual(void **state) {
    static const mxc_req reqs[] = {MXC_REQ_WRITE, MXC_REQ_ADD};
    mxc_symbol *s = net_residual();
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_executor *e = bind(s, reqs[i]), *written = bind_as_written(s, reqs[i]);
        assert_int_equal(count_turns(e, 0, 0), 2);
        assert_int_equal(count_turns(e, 1, 0), 1);
        assert_int_equal(count_turns(e, 0, 1), 6);
        assert_int_equal(count_turns(e, 1, 1), 6);
        assert_int_equal(count_turns(written, 0, 0) + count_turns(written, 1, 0), 0);
        run_both(e, written, reqs[i]);
    }
    mxc_symbol_release(s);
}

/* With the norms moved into the layers, whose new weights are what is transposed. */
static void test_inference(void **state) {
    mxc_symbol *s = net_residual();
    mxc_executor *e = bind(s, MXC_REQ_NULL);
    (void)state;
    assert_int_equal(count_turns(e, 0, 0), 2);
    assert_int_equal(count_turns(e, 0, 1), 6);
    assert_true(e->bound->program->is_folded);
    run_both(e, bind_as_written(s, MXC_REQ_NULL), MXC_REQ_NULL);
    mxc_symbol_release(s);
}

static void test_recompute(void **state) {
    mxc_symbol *s = net_residual();
    (void)state;
    for (int mode = MXC_RECOMPUTE_CHEAP; mode <= MXC_RECOMPUTE_ALL; mode++) {
        mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
        options.recompute = (mxc_recompute)mode;
        run_both(bind_with(s, options, MXC_REQ_WRITE), bind_as_written(s, MXC_REQ_WRITE), MXC_REQ_WRITE);
    }
    mxc_symbol_release(s);
}

static void test_random_nets(void **state) {
    static const mxc_req reqs[] = {MXC_REQ_WRITE, MXC_REQ_ADD, MXC_REQ_NULL};
    int n = TEST_SCALE(40), rearranged = 0;
    (void)state;
    for (int round = 0; round < n; round++) {
        mxc_symbol *s = net_of_seed((uint64_t)round * 31 + 5);
        mxc_executor *e = bind(s, reqs[round % 3]);
        rearranged += count_turns(e, 0, 0) > 0;
        run_both(e, bind_as_written(s, reqs[round % 3]), reqs[round % 3]);
        mxc_symbol_release(s);
    }
    assert_true(rearranged > n / 3);
}

/* Transposes of data that the net is given; it is released. */
static int turns_of(mxc_symbol *s) {
    mxc_executor *e = bind(s, MXC_REQ_NULL);
    int n = count_turns(e, 0, 0);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
    return n;
}

/* One convolution by itself saves what its two transposes cost, which is no gain. */
static void test_where_it_pays(void **state) {
    static const char *const conv = "kernel=(3,3) pad=(1,1) num_filter=4 no_bias=True";
    static const char *const off = "kernel=(3,3) pad=(1,1) num_filter=4 no_bias=True cudnn_off=True";
    mxc_symbol *s = net_on("Convolution", "conv", conv, net_variable("data"));
    (void)state;
    assert_int_equal(turns_of(share(s)), is_always ? 2 : 0);
    assert_int_equal(turns_of(net_on("BatchNorm", "bn", "", share(s))), is_always ? 2 : 0);
    assert_int_equal(turns_of(net_on("Convolution", "conv2", conv, share(s))), 2);
    assert_int_equal(turns_of(net_on("Pooling", "p", "kernel=(2,2) stride=(2,2) pool_type=max", share(s))), 2);
    assert_int_equal(turns_of(net_on("LRN", "lrn", "nsize=3", s)), is_always ? 2 : 0);
    s = net_on("Convolution", "conv", off, net_variable("data"));
    assert_int_equal(turns_of(net_on("Convolution", "conv2", off, s)), is_always ? 2 : 0);
    s = net_on("transpose", "turn", "axes=(0,2,3,1)", net_variable("data")); /* the net's own */
    s = net_on("Convolution", "conv", "kernel=(3,3) num_filter=4 layout=NHWC", s);
    s = net_on("BatchNorm", "bn", "axis=3", s);
    assert_int_equal(turns_of(net_on("Convolution", "conv2", "kernel=(3,3) num_filter=4 layout=NHWC", s)), 1);
}

/* Operators along axes follow between two convolutions: data is transposed before the first one and behind the second.
 */
static void test_axes(void **state) {
    static const char *const conv = "kernel=(1,1) num_filter=4";
    static const struct {
        const char *op, *params;
    } follows[] = {
        {"slice_axis", "axis=1 begin=1 end=3"},
        {"slice_axis", "axis=-1 begin=2 end=None"},
        {"softmax", "axis=1"},
        {"log_softmax", "axis=-2"},
        {"softmin", "axis=0"},
        {"sum", "axis=(2,3) keepdims=True"},
        {"max", "axis=-3 keepdims=True"},
        {"prod", "axis=2 exclude=True keepdims=True"},
        {"mean", "keepdims=True"},
        {"min", "axis=(0,1,-1) keepdims=True"},
        {"SliceChannel", "num_outputs=2 axis=1"},
        {"SliceChannel", "num_outputs=2 axis=-1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof follows / sizeof *follows; i++) {
        mxc_symbol *s = net_on("Convolution", "conv", conv, net_variable("data"));
        s = net_on(follows[i].op, "along", follows[i].params, s);
        if (mxc_symbol_n_outputs(s) == 2)
            s = exchange("swapped", "num_args=2 dim=1", s);
        s = net_on("Convolution", "conv2", conv, s);
        assert_int_equal(turns_of(share(s)), 2);
        run_both(bind(s, MXC_REQ_WRITE), bind_as_written(s, MXC_REQ_WRITE), MXC_REQ_WRITE);
        mxc_symbol_release(s);
    }
}

static void check_shape(const char *name, mxc_ndarray *array, void *user) {
    const mxc_shape *s = mxc_ndarray_shape(array);
    if (!strcmp(name, "relu2_output")) /* channels second */
        *(int *)user += s->ndim == 4 && s->dim[1] == 8 && s->dim[2] == SIDE / 2;
}

/* A monitor sees what is written; another shape is bound as the first one. */
static void test_monitor_and_reshape(void **state) {
    static const char *const names[] = {"data"};
    mxc_symbol *s = net_residual();
    mxc_executor *e = bind(s, MXC_REQ_WRITE), *small;
    mxc_shape shape = net_shape(4, 1, CHANNELS, SIDE, SIDE);
    int seen = 0;
    (void)state;
    assert_ok(mxc_executor_reshape(e, 0, 0, 1, names, &shape, &small));
    assert_int_equal(count_turns(small, 0, 0), 2);
    net_fill_all(small, 3, 5);
    assert_ok(mxc_executor_forward(small, 1));
    backward(small);
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(small, "conv0_weight")));
    assert_ok(mxc_executor_set_monitor(e, check_shape, &seen));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_ok(mxc_executor_set_monitor(e, NULL, NULL));
    assert_int_equal(seen, 1);
    mxc_executor_destroy(small);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

static void bind_once(mxc_symbol *s, mxc_status *status) {
    static const char *const names[] = {"data"};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_shape shape = net_shape(4, BATCH, CHANNELS, SIDE, SIDE);
    mxc_memory_report report;
    options.context = context;
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 1, .names = names, .shapes = &shape, .types = &type, .req = MXC_REQ_WRITE};
    *status = mxc_executor_plan(s, &options, &spec, &report);
}

/* Each allocation of planning fails once. */
static void test_no_memory(void **state) {
    mxc_symbol *s = net_residual();
    mxc_status status;
    int64_t n = mxci_alloc_count(), live;
    (void)state;
    bind_once(s, &status);
    assert_ok(status);
    n = mxci_alloc_count() - n;
    live = mxci_alloc_live();
    for (int64_t at = 1; at <= n; at += TEST_SANITIZED ? 7 : 1) {
        mxci_test_fail_alloc(at, 0);
        bind_once(s, &status);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
    }
    bind_once(s, &status);
    assert_ok(status);
    assert_in_range(mxci_alloc_live(), live - 16, live + 16);
    mxc_symbol_release(s);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_random_nets),
        cmocka_unit_test(test_where_it_pays),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_monitor_and_reshape),
        cmocka_unit_test(test_no_memory),
    };
    if (argc > 3 && mxc_context_parse(argv[1], &context) != MXC_OK)
        return 2;
    type = argc > 3 ? mxc_dtype_from_name(argv[2]) : MXC_F32;
    is_always = argc <= 3 || !strcmp(argv[3], "2");
    setenv("MXC_GPU_LAYOUT", argc > 3 ? argv[3] : "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
