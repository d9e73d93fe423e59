/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose sizes overflow: each is refused when it is planned, bound or called, with a message that says where. */
#include "executor/nets.h"

static const char *const data_name[] = {"data"};

/* The symbol can be neither planned nor bound, in training or not; each message holds both texts. Released. */
static void refused_with(mxc_symbol *s, const mxc_shape *data, const char *text, const char *other) {
    const mxc_req reqs[] = {MXC_REQ_NULL, MXC_REQ_WRITE};
    const int n = data != NULL;
    for (int i = 0; i < 4; i++) {
        mxc_executor *e = NULL;
        mxc_memory_report report;
        mxc_status status;
        if (i < 2)
            status = mxc_executor_plan(
                s, NULL, NET_SPEC(.n = n, .names = data_name, .shapes = data, .req = reqs[i % 2]), &report);
        else
            status = mxc_executor_simple_bind(
                s, NULL, NET_SPEC(.n = n, .names = data_name, .shapes = data, .req = reqs[i % 2]), &e);
        if ((status != MXC_ESHAPE && status != MXC_ENOMEM) || !strstr(mxc_last_error(), text) ||
            !strstr(mxc_last_error(), other))
            fail_msg("%s: %s, expected \"%s\" and \"%s\"", mxc_status_name(status),
                     status == MXC_OK ? "accepted" : mxc_last_error(), text, other);
        assert_null(e);
    }
    mxc_symbol_release(s);
}

static mxc_symbol *on_data(const char *op, const char *params) {
    return net_on(op, "node", params, net_variable("data"));
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* Operators whose output, of 2^59 elements or far more, is refused where it is inferred. Elements wrap to few. */
static const struct large {
    const char *op, *params;
    int ndim;
    int64_t dim[4];
} large[] = {
    {"tile", "reps=(2147483648,2147483648)", 2, {1, 1}},
    {"tile", "reps=(1024,4503599627370497)", 2, {1, 1}},
    {"tile", "reps=(9000000000000000,9000000000000000)", 2, {1, 1}},
    {"tile", "reps=(1024,1125899906842624)", 2, {1, 1}},
    {"repeat", "repeats=9000000000000000 axis=0", 2, {4096, 1}},
    {"repeat", "repeats=9000000000000000", 2, {4096, 1}},
    {"broadcast_to", "shape=(4294967296,4294967296)", 2, {1, 1}},
    {"broadcast_axis", "axis=(0,1) size=(4294967296,4294967296)", 2, {1, 1}},
    {"one_hot", "depth=1000000000000", 1, {1000000000}},
    {"_contrib_fft", "", 1, {MXC_MAX_ELEMENTS}},
    {"UpSampling", "scale=1000 sample_type=nearest num_args=1", 4, {1, 1, 1 << 29, 1 << 29}},
    {"depth_to_space", "block_size=65536", 4, {0, 0, (int64_t)1 << 28, (int64_t)1 << 28}},
    {"space_to_depth", "block_size=65536", 4, {1, (int64_t)1 << 40, 0, 0}},
    {"Pad", "mode=constant pad_width=(0,0,0,0,2147483647,0,2147483647,0)", 4, {1, 1, 1, 1}},
    {"Correlation", "pad_size=1048576 max_displacement=0", 4, {(int64_t)1 << 30, 1, 1, 1}},
};

static void test_shapes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        mxc_shape data = {large[i].ndim, {large[i].dim[0], large[i].dim[1], large[i].dim[2], large[i].dim[3]}};
        mxc_symbol *node = on_data(large[i].op, large[i].params);
        refused_with(net_on("sum", "whole", "", net_on("tanh", "inner", "", node)), &data, "larger than memory can be",
                     "(");
    }
}

static void test_shape_of_a_source(void **state) {
    const char *const keys[] = {"shape"}, *const values[] = {"(1024,4503599627370497)"};
    mxc_symbol *zeros;
    (void)state;
    assert_ok(mxc_symbol_op("_zeros", "zeros", 1, keys, values, 0, NULL, NULL, &zeros));
    refused_with(net_on("sum", "sum", "", zeros), NULL, "_zeros: shape: (1024,4503599627370497)",
                 "larger than memory can be");
}

/* The message names node, operator, slot and shape. */
static void test_message(void **state) {
    mxc_shape data = net_shape(2, 1, 1, 0, 0);
    (void)state;
    refused_with(on_data("tile", "reps=(2147483648,2147483648)"), &data, "node \"node\": tile: output 'output'",
                 "shape (2147483648,2147483648) is larger than memory can be");
}

/* Every node doubles: the sizes reach the limit and inference ends there. */
static void test_doubling(void **state) {
    mxc_shape data = net_shape(2, 1, 1, 0, 0);
    mxc_symbol *s = net_variable("data");
    (void)state;
    for (int i = 0; i < 64; i++)
        s = net_on2("Concat", NULL, "num_args=2 dim=0", mxc_symbol_retain(s), s);
    refused_with(s, &data, "Concat", "(576460752303423488,1)");
}

/* Two sides know one axis each, and both together are too many. */
static void test_shape_in_parts(void **state) {
    static const char *const names[] = {"data", "other"};
    mxc_symbol *s = net_on2("elemwise_add", "sum", "", net_variable("data"), net_variable("other"));
    mxc_shape shapes[2] = {{2, {(int64_t)1 << 40, -1}}, {2, {-1, (int64_t)1 << 40}}};
    mxc_inferred out;
    (void)state;
    assert_fails(mxc_symbol_infer(s, 2, names, shapes, NULL, &out), MXC_ESHAPE, "elemwise_add");
    assert_non_null(strstr(mxc_last_error(), "(1099511627776,1099511627776) is larger than memory can be"));
    mxc_symbol_release(s);
}

static void test_shapes_of_the_caller(void **state) {
    const mxc_shape bad[] = {
        {2, {(int64_t)1 << 40, (int64_t)1 << 40}}, {3, {INT64_MAX, 0, 2}}, {9, {1}}, {-2, {0}}, {1, {-2}},
    };
    mxc_symbol *s = on_data("tanh", "");
    mxc_inferred out;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(mxc_symbol_infer(s, 1, data_name, &bad[i], NULL, &out), MXC_EINVAL, "argument \"data\"");
    mxc_symbol_release(s);
}

/* ---- sums of arrays --------------------------------------------------------------------------------------------- */

static void test_sum_of_arrays(void **state) {
    mxc_shape data = net_shape(2, 1, 1, 0, 0);
    mxc_symbol *x = net_variable("data"), *sum = NULL;
    (void)state;
    for (int i = 0; i < 4; i++) { /* 2^60 bytes each */
        mxc_symbol *part = net_on("tile", NULL, "reps=(1024,281474976710656)", mxc_symbol_retain(x));
        part = net_on("sum", NULL, "", part);
        sum = sum ? net_on2("elemwise_add", NULL, "", sum, part) : part;
    }
    mxc_symbol_release(x);
    refused_with(sum, &data, "memory plan", "larger than memory can be");
}

/* What can be counted but not allocated: the plan says how much, and binding fails. */
static void test_too_much_to_allocate(void **state) {
    mxc_shape data = net_shape(2, 1, 1, 0, 0);
    mxc_symbol *s = net_on("sum", "sum", "", on_data("tile", "reps=(1024,549755813888)"));
    mxc_memory_report report;
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_executor_plan(s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &data), &report));
    assert_true(report.internal_planned == (int64_t)1 << 51 && report.internal_unplanned == (int64_t)1 << 51);
    assert_true(report.arguments == 4 && report.outputs == 4 && report.temp >= 0);
    assert_status(mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &data), &e),
                  MXC_ENOMEM);
    mxc_symbol_release(s);
}

/* A batch of a large prime number of rows: planning tries some ways to slice it, not all. */
static void test_many_rows(void **state) {
    mxc_shape data = net_shape(2, 1099511627689, 1, 0, 0);
    mxc_symbol *s = net_variable("data");
    mxc_memory_report report;
    (void)state;
    for (int i = 0; i < 4; i++)
        s = net_on("FullyConnected", NULL, "num_hidden=1", s);
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = data_name, .shapes = &data};
    assert_ok(mxc_executor_plan(s, NULL, &spec, &report));
    assert_true(report.outputs == 4 * data.dim[0]);
    mxc_symbol_release(s);
}

/* ---- scratch ---------------------------------------------------------------------------------------------------- */

#define WIDE_CONVOLUTION \
    "kernel=(1,1) stride=(2147483647,1073741824) pad=(1073741824,536870912) num_filter=1 no_bias=True"
#define WIDE_DECONVOLUTION                                                                                  \
    "kernel=(1073741824,1073741824) stride=(1073741824,1073741824) pad=(536870912,536870912) num_filter=1 " \
    "no_bias=True"

static void test_scratch(void **state) {
    mxc_shape pixel = net_shape(4, 1, 1, 1, 1), image = net_shape(4, 1, 3, 8, 8);
    (void)state;
    refused_with(net_on2("Convolution", "node", WIDE_CONVOLUTION, net_variable("data"), net_variable("w")), &pixel,
                 "node \"node\": Convolution: needs more scratch than memory can have", "(1,1,2,2)");
    refused_with(net_on2("Deconvolution", "node", WIDE_DECONVOLUTION, net_variable("data"), net_variable("w")), &image,
                 "Deconvolution", "larger than memory can be");
}

static void test_scratch_of_a_call(void **state) {
    static const char *const keys[] = {"kernel", "stride", "pad", "num_filter", "no_bias"};
    static const char *const values[] = {"(1,1)", "(2147483647,1073741824)", "(1073741824,536870912)", "1", "True"};
    mxc_ndarray *in[2], *out = NULL;
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_ok(mxc_ndarray_create(4, (int64_t[]){1, 1, 1, 1}, MXC_F32, mxc_cpu(0), &in[i]));
    assert_fails(mxc_invoke("Convolution", 2, in, 5, keys, values, 1, &out), MXC_ENOMEM,
                 "Convolution: needs more scratch than memory can have");
    assert_null(out);
    for (int i = 0; i < 2; i++)
        mxc_ndarray_release(in[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shape_of_a_source),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_shape_in_parts),
        cmocka_unit_test(test_shapes_of_the_caller),
        cmocka_unit_test(test_sum_of_arrays),
        cmocka_unit_test(test_too_much_to_allocate),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_scratch_of_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
