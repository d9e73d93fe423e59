/* SPDX-License-Identifier: Apache-2.0 */
/* Results of so many bytes that operators store them past the caches: what the cases' small arrays do not reach. */
#include "support.h"

#include <mxc/op.h>

#include "math/assign.h"

/* Odd, so that parts of loops and the last tile end anywhere. */
enum { N = MXCI_STREAM_BYTES / 4 + 4321, HALF_N = MXCI_STREAM_BYTES / 2 + 4321 };

static float value_of(int64_t i) {
    return (float)(i % 2003) - 1000;
}

static mxc_ndarray *array_of(int64_t n) {
    mxc_ndarray *array;
    float *data;
    void *memory;
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &array));
    assert_ok(mxc_ndarray_data(array, &memory));
    data = memory;
    for (int64_t i = 0; i < n; i++)
        data[i] = value_of(i);
    return array;
}

static mxc_ndarray *invoke(const char *op, int n_in, mxc_ndarray **in, const char *key, const char *value) {
    mxc_ndarray *out[1] = {NULL};
    assert_ok(mxc_invoke(op, n_in, in, key != NULL, &key, &value, 1, out));
    assert_ok(mxc_ndarray_wait_to_read(out[0]));
    return out[0];
}

/* out[i] = factor * max(value, low) + shift */
static void expect(mxc_ndarray *out, float factor, float low, float shift) {
    int64_t n = mxc_ndarray_size(out);
    void *data;
    assert_ok(mxc_ndarray_data(out, &data));
    for (int64_t i = 0; i < n; i++) {
        float x = value_of(i), expected = factor * (x < low ? low : x) + shift;
        if (((const float *)data)[i] != expected)
            fail_msg("element %lld: found %g, expected %g", (long long)i, ((const float *)data)[i], expected);
    }
    mxc_ndarray_release(out);
}

static void test_elementwise(void **state) {
    mxc_ndarray *x = array_of(N), *both[] = {x, x};
    (void)state;
    expect(invoke("_copy", 1, &x, NULL, NULL), 1, -2000, 0);
    expect(invoke("relu", 1, &x, NULL, NULL), 1, 0, 0);
    expect(invoke("Activation", 1, &x, "act_type", "relu"), 1, 0, 0);
    expect(invoke("elemwise_add", 2, both, NULL, NULL), 2, -2000, 0);
    expect(invoke("_plus_scalar", 1, &x, "scalar", "3"), 1, -2000, 3);
    expect(invoke("add_n", 2, both, "num_args", "2"), 2, -2000, 0);
    expect(invoke("ones_like", 1, &x, NULL, NULL), 0, 0, 1);
    mxc_ndarray_release(x);
}

/* To f16, which holds these values exactly, and back. */
static void test_conversion(void **state) {
    mxc_ndarray *x = array_of(HALF_N), *half = invoke("Cast", 1, &x, "dtype", "float16"),
                *positive = invoke("relu", 1, &half, NULL, NULL);
    (void)state;
    expect(invoke("Cast", 1, &half, "dtype", "float32"), 1, -2000, 0);
    expect(invoke("Cast", 1, &positive, "dtype", "float32"), 1, 0, 0);
    mxc_ndarray_release(positive);
    mxc_ndarray_release(half);
    mxc_ndarray_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elementwise), cmocka_unit_test(test_conversion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
