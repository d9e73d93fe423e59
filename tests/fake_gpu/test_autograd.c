/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of calls on GPU arrays: the same as on the host, through copies in both directions, in-place sums, and
 * cached operators. */
#include "support.h"

#include <mxc/mxc.h>

enum { N = 12 };

static mxc_ndarray *array_on(mxc_context context, double begin) {
    const int64_t dims[] = {3, 4};
    float values[N];
    mxc_ndarray *host, *out;
    for (int i = 0; i < N; i++)
        values[i] = (float)(begin + 0.25 * i);
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &host));
    assert_ok(mxc_ndarray_copy(host, context, MXC_F32, &out));
    mxc_ndarray_release(host);
    return out;
}

/* loss = sum over relu(x w^T) + x, x on the host, w on the context; with the part after x as a cached operator or not.
 */
static void gradients_on(mxc_context context, int is_cached, float *of_x, float *of_w) {
    mxc_ndarray *x = array_on(mxc_cpu(0), -1), *w = array_on(context, -0.5), *there, *product, *positive, *heads[2];
    const char *keys[] = {"num_hidden", "no_bias"}, *values[] = {"3", "True"};
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    assert_ok(mxc_autograd_attach(w, MXC_REQ_WRITE, NULL));
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_ndarray_copy(x, context, MXC_F32, &there));
    mxc_ndarray *in[] = {there, w};
    if (is_cached) {
        mxc_symbol *data, *weight, *fc, *relu;
        mxc_cached_op *op;
        assert_ok(mxc_symbol_variable("data", &data));
        assert_ok(mxc_symbol_variable("weight", &weight));
        assert_ok(mxc_symbol_op("FullyConnected", NULL, 2, keys, values, 2, NULL, (mxc_symbol *[]){data, weight}, &fc));
        assert_ok(mxc_symbol_op("relu", NULL, 0, NULL, NULL, 1, NULL, &fc, &relu));
        assert_ok(mxc_cached_op_create(relu, NULL, &op));
        assert_ok(mxc_cached_op_invoke(op, 2, in, 1, &positive));
        mxc_cached_op_destroy(op);
        mxc_symbol_release(data);
        mxc_symbol_release(weight);
        mxc_symbol_release(fc);
        mxc_symbol_release(relu);
        product = NULL;
    } else {
        assert_ok(mxc_invoke("FullyConnected", 2, in, 2, keys, values, 1, &product));
        assert_ok(mxc_invoke("relu", 1, &product, 0, NULL, NULL, 1, &positive));
    }
    mxc_autograd_leave(scope);
    heads[0] = positive, heads[1] = there;
    assert_ok(mxc_autograd_backward(2, heads, NULL, NULL));
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_autograd_grad(w)), context));
    assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), of_x, N * sizeof *of_x));
    assert_ok(mxc_ndarray_get(mxc_autograd_grad(w), of_w, N * sizeof *of_w));
    mxc_ndarray *all[] = {x, w, there, product, positive};
    for (int i = 0; i < 5; i++)
        mxc_ndarray_release(all[i]);
}

static void gradients_equal_the_hosts(void **state) {
    float x[2][N], w[2][N];
    (void)state;
    for (int is_cached = 0; is_cached < 2; is_cached++) {
        gradients_on(mxc_cpu(0), is_cached, x[0], w[0]);
        gradients_on(mxc_gpu(0), is_cached, x[1], w[1]);
        for (int i = 0; i < N; i++) {
            assert_float_equal(x[0][i], x[1][i], 1e-5);
            assert_float_equal(w[0][i], w[1][i], 1e-5);
        }
        assert_true(w[0][0] != 0);
    }
}

static void gradients_stay_on_their_device(void **state) {
    mxc_ndarray *x = array_on(mxc_gpu(0), 1), *grad = array_on(mxc_cpu(0), 0), *y;
    (void)state;
    assert_fails(mxc_autograd_attach(x, MXC_REQ_WRITE, grad), MXC_EDEVICE,
                 "mxc_autograd_attach: grad: expected an array on gpu(0), found cpu(0)");
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_invoke("square", 1, &x, 0, NULL, NULL, 1, &y));
    mxc_autograd_leave(scope);
    assert_fails(mxc_autograd_backward(1, &y, &grad, NULL), MXC_EDEVICE,
                 "head_grads[0]: expected an array on gpu(0), found cpu(0)");
    assert_ok(mxc_autograd_backward(1, &y, NULL, NULL));
    float values[N];
    assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), values, sizeof values));
    assert_float_equal(values[4], 4, 0);
    mxc_ndarray_release(x);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_the_hosts),
        cmocka_unit_test(gradients_stay_on_their_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
