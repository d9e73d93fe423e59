/* SPDX-License-Identifier: Apache-2.0 */
/* Indices that cases cannot hold: NaN, infinities, errors of a kernel's run; outputs of a dtype of
 * their own. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>

static mxc_ndarray *vector(int n, const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){n}, MXC_F32, values, &array));
    return array;
}

static const float numbers[] = {10, 20, 30, 40};
static const float wild[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 2.9f, -0.9f};
enum { WILD = sizeof wild / sizeof *wild };

/* take of numbers by wild indices: out[WILD]. */
static void take_wild(const char *mode, float *out) {
    static const char *const keys[] = {"mode"};
    mxc_ndarray *in[2] = {vector(4, numbers), vector(WILD, wild)}, *taken[1] = {NULL};
    assert_ok(mxc_invoke("take", 2, in, 1, keys, &mode, 1, taken));
    assert_ok(mxc_ndarray_get(taken[0], out, WILD * sizeof *out));
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(taken[0]);
}

static void test_clip(void **state) {
    static const float expected[WILD] = {10, 40, 10, 40, 10, 30, 10};
    float found[WILD];
    (void)state;
    take_wild("clip", found);
    assert_memory_equal(found, expected, sizeof expected);
}

static void test_wrap(void **state) {
    float found[WILD];
    (void)state;
    take_wild("wrap", found);
    assert_true(found[0] == 10 && found[1] == 10 && found[2] == 10 && found[5] == 30 && found[6] == 10);
    assert_true(found[3] == 10 && found[4] == 10); /* numbers so large are multiples of 4 */
}

/* The error of a kernel shows where its output is waited for. */
static void expect_refused(const char *op, int n, mxc_ndarray **in, int n_params, const char *const *keys,
                           const char *const *values, const char *text) {
    mxc_ndarray *out[1] = {NULL};
    assert_ok(mxc_invoke(op, n, in, n_params, keys, values, 1, out));
    assert_int_equal(mxc_ndarray_wait_to_read(out[0]), MXC_EINVAL);
    if (!strstr(mxc_last_error(), op) || !strstr(mxc_last_error(), text))
        fail_msg("%s: \"%s\" does not contain \"%s\"", op, mxc_last_error(), text);
    mxc_ndarray_release(out[0]);
}

static void test_raise(void **state) {
    static const struct {
        float index;
        const char *text;
    } bad[] = {
        {4, "element 1 is 4, expected an index in [0, 4)"},
        {-1, "element 1 is -1"},
        {NAN, "element 1 is"},
    };
    static const char *const keys[] = {"mode"}, *const values[] = {"raise"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_ndarray *in[2] = {vector(4, numbers), vector(2, (float[]){3, bad[i].index})};
        expect_refused("take", 2, in, 1, keys, values, bad[i].text);
        mxc_ndarray_release(in[0]);
        mxc_ndarray_release(in[1]);
    }
}

/* Where an operator does not say what an index outside stands for, it is an error. Rows of 3, indices 0 and another. */
static void test_outside(void **state) {
    static const float rows[] = {1, 2, 3, 4, 5, 6}, bad[] = {3, 7, -1, NAN, INFINITY};
    (void)state;
    for (int i = 0; i < 5; i++) {
        mxc_ndarray *index = vector(2, (float[]){0, bad[i]}), *matrix, *column, *pair;
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 3}, MXC_F32, rows, &matrix));
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){3, 1}, MXC_F32, rows, &column));
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 1}, MXC_F32, rows, &pair));
        expect_refused("batch_take", 2, (mxc_ndarray *[]){matrix, index}, 0, NULL, NULL,
                       "argument 'indices': element 1 is");
        expect_refused("fill_element_0index", 3, (mxc_ndarray *[]){matrix, index, index}, 0, NULL, NULL,
                       "argument 'rhs': element 1 is");
        expect_refused("softmax_cross_entropy", 2, (mxc_ndarray *[]){matrix, index}, 0, NULL, NULL,
                       "argument 'label': element 1 is");
        expect_refused("_contrib_index_copy", 3, (mxc_ndarray *[]){column, index, pair}, 0, NULL, NULL,
                       "argument 'index_vector': element 1 is");
        mxc_ndarray_release(index);
        mxc_ndarray_release(pair);
        mxc_ndarray_release(matrix);
        mxc_ndarray_release(column);
    }
}

/* Embedding takes the nearest row, as MXNet does. */
static void test_embedding_outside(void **state) {
    static const char *const keys[] = {"input_dim", "output_dim"}, *const values[] = {"3", "1"};
    static const float rows[] = {1, 2, 3}, bad[] = {3, 7, -1, NAN, INFINITY}, found[] = {3, 3, 1, 1, 3};
    (void)state;
    for (int i = 0; i < 5; i++) {
        mxc_ndarray *in[2] = {vector(2, (float[]){1, bad[i]})}, *out;
        float made[2];
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){3, 1}, MXC_F32, rows, &in[1]));
        assert_ok(mxc_invoke("Embedding", 2, in, 2, keys, values, 1, &out));
        assert_ok(mxc_ndarray_get(out, made, sizeof made));
        assert_true(made[0] == 2 && made[1] == found[i]);
        mxc_ndarray_release(in[0]);
        mxc_ndarray_release(in[1]);
        mxc_ndarray_release(out);
    }
}

/* The gradient of a loss for labels 0 and label, of 3 classes; NULL text: it is made. */
static void expect_gradient(const char *name, int n, const char *const *keys, const char *const *values, float label,
                            const char *text) {
    static const float rows[] = {1, 2, 3, 4, 5, 6};
    mxc_ndarray *in[2] = {NULL, vector(2, (float[]){0, label})}, *out[1] = {NULL}, *grads[2] = {NULL, NULL};
    const mxc_req reqs[2] = {MXC_REQ_WRITE, MXC_REQ_NULL};
    mxc_op *op;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 3}, MXC_F32, rows, &in[0]));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 3}, MXC_F32, rows, &grads[0]));
    assert_ok(mxc_op_create(name, n, keys, values, &op));
    assert_ok(mxc_op_invoke(op, 2, in, 1, out, NULL, 1));
    assert_ok(mxc_op_invoke_backward(op, (mxc_ndarray *[]){NULL}, in, out, grads, reqs));
    if (text)
        assert_fails(mxc_ndarray_wait_to_read(grads[0]), MXC_EINVAL, text);
    else
        assert_ok(mxc_ndarray_wait_to_read(grads[0]));
    assert_ok(mxc_ndarray_wait_to_read(out[0])); /* inference does not look at labels */
    mxc_op_release(op);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out[0]);
    mxc_ndarray_release(grads[0]);
}

static void test_labels_outside(void **state) {
    static const char *const keys[] = {"use_ignore", "ignore_label"}, *const values[] = {"true", "255"};
    (void)state;
    expect_gradient("SoftmaxOutput", 0, NULL, NULL, 7, "SoftmaxOutput: argument 'label': element 1 is 7, expected an");
    expect_gradient("SoftmaxOutput", 0, NULL, NULL, -1, "element 1 is -1, expected an index in [0, 3)");
    expect_gradient("SoftmaxOutput", 0, NULL, NULL, NAN, "element 1 is");
    expect_gradient("SoftmaxOutput", 0, NULL, NULL, 2, NULL);
    expect_gradient("SoftmaxOutput", 2, keys, values, 255, NULL);
    expect_gradient("SoftmaxOutput", 2, keys, values, 254, "element 1 is 254");
    expect_gradient("SoftmaxOutput", 1, keys, values, -1, NULL);
    expect_gradient("SVMOutput", 0, NULL, NULL, 3, "SVMOutput: argument 'label': element 1 is 3");
    expect_gradient("SVMOutput", 0, NULL, NULL, 1, NULL);
}

/* A place outside along any axis is an error that names the element. */
static void test_named_outside(void **state) {
    static const char *const keys[] = {"shape"}, *const values[] = {"(2,2)"};
    static const struct {
        float places[4];
        const char *text;
    } bad[] = {
        {{0, 2, 1, 1}, "argument 'indices': element 1 is 2, expected an index in [-2, 2)"},
        {{0, 1, 1, -3}, "argument 'indices': element 3 is -3, expected an index in [-2, 2)"},
        {{NAN, 1, 1, 1}, "argument 'indices': element 0 is"},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_ndarray *in[2] = {NULL}, *square;
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F32, bad[i].places, &in[1]));
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F32, numbers, &square));
        in[0] = square;
        expect_refused("gather_nd", 2, in, 0, NULL, NULL, bad[i].text);
        in[0] = vector(2, numbers);
        expect_refused("scatter_nd", 2, in, 1, keys, values, bad[i].text);
        mxc_ndarray_release(in[0]);
        mxc_ndarray_release(in[1]);
        mxc_ndarray_release(square);
    }
}

/* So is a place outside a sketch. */
/* Matches of positive samples and marks of events that count are checked, the others are not read. */
static void test_events_outside(void **state) {
    static const float boxes[] = {0, 0, 1, 1, 0, 0, 2, 1}, ones[] = {1, 1, 1, 1}, samples[] = {-1, 1};
    static const float matches[2][2] = {{7, 1}, {0, -1}}, marks[2][2] = {{0, 9}, {3, 0}}, lengths[] = {1, 1, 3};
    const int64_t pair[] = {1, 2}, rows[] = {1, 2, 4}, one[] = {1};
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *in[6], *out[2] = {NULL};
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, samples, &in[0]));
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, matches[i], &in[1]));
        assert_ok(mxc_ndarray_from_data(3, rows, MXC_F32, boxes, &in[2]));
        assert_ok(mxc_ndarray_from_data(3, rows, MXC_F32, boxes, &in[3]));
        in[4] = vector(4, ones);
        in[5] = vector(4, ones);
        assert_ok(mxc_invoke("_contrib_box_encode", 6, in, 0, NULL, NULL, 2, out));
        if (i)
            assert_fails(mxc_ndarray_wait_to_read(out[0]), MXC_EINVAL, "argument 'matches': element 1 is -1");
        else
            assert_ok(mxc_ndarray_wait_to_read(out[0]));
        for (int k = 0; k < 6; k++)
            mxc_ndarray_release(in[k]);
        mxc_ndarray_release(out[0]);
        mxc_ndarray_release(out[1]);
    }
    for (int i = 0; i < 3; i++) {
        mxc_ndarray *in[8], *out[2] = {NULL};
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, ones, &in[0]));
        in[1] = vector(2, ones);
        in[2] = vector(2, ones);
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, ones, &in[3]));
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, ones, &in[4]));
        assert_ok(mxc_ndarray_from_data(2, pair, MXC_F32, marks[i == 1], &in[5]));
        assert_ok(mxc_ndarray_from_data(1, one, MXC_F32, &lengths[i], &in[6]));
        in[7] = vector(1, ones);
        assert_ok(mxc_invoke("_contrib_hawkesll", 8, in, 0, NULL, NULL, 2, out));
        if (i)
            assert_fails(mxc_ndarray_wait_to_read(out[0]), MXC_EINVAL, i == 1 ? "marks" : "valid_length");
        else
            assert_ok(mxc_ndarray_wait_to_read(out[0]));
        for (int k = 0; k < 8; k++)
            mxc_ndarray_release(in[k]);
        mxc_ndarray_release(out[0]);
        mxc_ndarray_release(out[1]);
    }
}

static void test_sketch_outside(void **state) {
    static const char *const keys[] = {"out_dim"}, *const values[] = {"3"};
    mxc_ndarray *in[3];
    (void)state;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F32, numbers, &in[0]));
    in[1] = vector(2, (float[]){0, 3});
    in[2] = vector(2, numbers);
    expect_refused("_contrib_count_sketch", 3, in, 1, keys, values,
                   "argument 'h': element 1 is 3, expected an index in [0, 3)");
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(in[i]);
}

/* _set_value writes into an array that is given, in its dtype. */
static void test_given_output(void **state) {
    static const char *const keys[] = {"src"}, *const values[] = {"7"};
    mxc_ndarray *out[1];
    int32_t found[4];
    (void)state;
    assert_ok(mxc_ndarray_create(1, (int64_t[]){4}, MXC_I32, mxc_cpu(0), &out[0]));
    assert_ok(mxc_invoke_into("_set_value", 0, NULL, 1, keys, values, 1, out));
    assert_ok(mxc_ndarray_get(out[0], found, sizeof found));
    assert_memory_equal(found, ((int32_t[]){7, 7, 7, 7}), sizeof found);
    mxc_ndarray_release(out[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clip),           cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_outside),        cmocka_unit_test(test_embedding_outside),
        cmocka_unit_test(test_labels_outside), cmocka_unit_test(test_raise),
        cmocka_unit_test(test_named_outside),  cmocka_unit_test(test_events_outside),
        cmocka_unit_test(test_sketch_outside), cmocka_unit_test(test_given_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
