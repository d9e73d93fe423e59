/* SPDX-License-Identifier: Apache-2.0 */
/* What cases cannot hold: masks of another dtype than the data, and what is never computed. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>
#include <mxc/storage.h>

enum { HEADS = 2, QUERIES = 3, KEYS = 5, WIDTH = 4 };

static mxc_ndarray *array_of(int ndim, const int64_t *dims, float scale) {
    float values[HEADS * KEYS * WIDTH];
    mxc_ndarray *array;
    for (int i = 0; i < HEADS * KEYS * WIDTH; i++)
        values[i] = scale * (float)(i * 7 % 11 - 5);
    assert_ok(mxc_ndarray_from_data(ndim, dims, MXC_F32, values, &array));
    return array;
}

/* Attention with this mask of (QUERIES, KEYS): out[HEADS * QUERIES * WIDTH]. */
static void attend(mxc_dtype dtype, const void *mask, float *out) {
    static const char *const keys[] = {"use_mask"}, *const values[] = {"True"};
    mxc_ndarray *in[4] =
        {
            array_of(3, (int64_t[]){HEADS, QUERIES, WIDTH}, 0.3f),
            array_of(3, (int64_t[]){HEADS, KEYS, WIDTH}, 0.2f),
            array_of(3, (int64_t[]){HEADS, KEYS, WIDTH}, 0.1f),
        },
                *attended = NULL;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){QUERIES, KEYS}, dtype, mask, &in[3]));
    assert_ok(mxc_invoke("scaled_dot_product_attention", 4, in, 1, keys, values, 1, &attended));
    assert_ok(mxc_ndarray_get(attended, out, sizeof(float) * HEADS * QUERIES * WIDTH));
    for (int i = 0; i < 4; i++)
        mxc_ndarray_release(in[i]);
    mxc_ndarray_release(attended);
}

static const uint8_t seen[QUERIES * KEYS] = {1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};

/* A mask that hides is one that adds -inf; a query that sees nothing gives 0. */
static void test_hiding_masks(void **state) {
    float added[QUERIES * KEYS], expected[HEADS * QUERIES * WIDTH], found[HEADS * QUERIES * WIDTH];
    int32_t whole[QUERIES * KEYS];
    (void)state;
    for (int i = 0; i < QUERIES * KEYS; i++) {
        added[i] = seen[i] ? 0 : -INFINITY;
        whole[i] = seen[i] * 7;
    }
    attend(MXC_F32, added, expected);
    attend(MXC_BOOL, seen, found);
    assert_memory_equal(found, expected, sizeof expected);
    attend(MXC_I32, whole, found);
    assert_memory_equal(found, expected, sizeof expected);
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < WIDTH; i++) {
            assert_true(found[(h * QUERIES + 1) * WIDTH + i] == 0);
            assert_true(found[h * QUERIES * WIDTH + i] != 0);
        }
}

static int64_t bytes_peak(void) {
    mxc_storage_stats stats;
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &stats));
    return stats.bytes_peak;
}

static mxc_ndarray *zeros(const int64_t *dims) {
    mxc_ndarray *array;
    float *values = calloc((size_t)(dims[0] * dims[1] * dims[2]), sizeof *values);
    assert_non_null(values);
    assert_ok(mxc_ndarray_from_data(3, dims, MXC_F32, values, &array));
    free(values);
    return array;
}

/* The scores of 2 heads of 2048 queries and keys would take 32 MiB; a thread's tiles take less than one. */
static void test_scores_are_never_whole(void **state) {
    const int64_t dims[] = {2, 2048, 8};
    mxc_ndarray *in[3], *out[2] = {NULL}, *grad[3];
    mxc_engine *engine;
    mxc_op *op;
    (void)state;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxc_op_create("scaled_dot_product_attention", 0, NULL, NULL, &op));
    for (int i = 0; i < 3; i++) {
        in[i] = zeros(dims);
        grad[i] = zeros(dims);
    }
    assert_ok(mxc_op_invoke(op, 3, in, 2, out, NULL, 1));
    assert_ok(mxc_op_invoke_backward(op, out, in, out, grad, (mxc_req[]){MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_WRITE}));
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_ndarray_wait_to_read(grad[i]));
    assert_true(bytes_peak() < (int64_t)(6 + mxc_engine_parallelism(engine)) << 20);
    for (int i = 0; i < 3; i++) {
        mxc_ndarray_release(in[i]);
        mxc_ndarray_release(grad[i]);
    }
    mxc_ndarray_release(out[0]);
    mxc_ndarray_release(out[1]);
    mxc_op_release(op);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hiding_masks),
        cmocka_unit_test(test_scores_are_never_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
