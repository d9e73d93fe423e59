/* SPDX-License-Identifier: Apache-2.0 */
/* A program with an operator of its own against the installed library; compiled as C and as C++.
 * Prints half of (3 5). */
#include <stdio.h>

#include <mxc/mxc.h>

static mxc_status half_forward(const mxc_op_call *call) {
    const float *in = (const float *)call->in[0].data;
    float *out = (float *)call->out[0].data;
    int64_t n = mxc_shape_size(&call->out[0].shape);
    for (int64_t i = 0; i < n; i++)
        out[i] = in[i] / 2 + (call->req[0] == MXC_REQ_ADD ? out[i] : 0);
    return MXC_OK;
}

static const mxc_op_def half = {
    .size = sizeof(mxc_op_def),
    .name = "half",
    .doc = "y = x / 2",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = MXC_ON_CPU(half_forward),
};

static int complain(void) {
    fprintf(stderr, "%s\n", mxc_last_error());
    return 1;
}

int main(void) {
    const int64_t n = 2;
    const float values[] = {3, 5};
    mxc_ndarray *in, *out;
    float found[2];
    if (mxc_op_register(&half) || mxc_ndarray_from_data(1, &n, MXC_F32, values, &in) ||
        mxc_invoke("half", 1, &in, 0, NULL, NULL, 1, &out) || mxc_ndarray_get(out, found, sizeof found))
        return complain();
    printf("%g %g\n", (double)found[0], (double)found[1]);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
    return found[0] != 1.5f || found[1] != 2.5f;
}
