/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a front end with a backward of their own, recorded as one node of the graph. */
#include <string.h>

#include "compat/mxnet.h"

enum { FUNCTION_BACKWARD = 0, FUNCTION_DELETE = 1 };

typedef int (*backward_fn)(int n_out_grad, int n_in_grad, void **arrays, const int *reqs, int is_train, void *context);
typedef int (*delete_fn)(void *context);

typedef struct custom_function {
    struct MXCallbackList functions;
} custom_function;

static void destroy(void *arg) {
    custom_function *function = arg;
    const int entered = mxnet_callback_enter();
    if (!entered && function->functions.num_callbacks > FUNCTION_DELETE)
        ((delete_fn)function->functions.callbacks[FUNCTION_DELETE])(function->functions.contexts[FUNCTION_DELETE]);
    mxnet_callback_leave(entered);
    mxnet_free(function);
}

/* The front end frees the handles that it is given, also if it fails. A gradient that nobody asks for has none. */
static mxc_status give_arrays(int n, mxc_ndarray *const *arrays, void **handles, int *reqs) {
    for (int i = 0; i < n; i++) {
        if (reqs)
            reqs[i] = arrays[i] ? MXC_REQ_WRITE : MXC_REQ_NULL;
        if (mxnet_ndarray_new(arrays[i] ? mxc_ndarray_retain(arrays[i]) : NULL, &handles[i]))
            return MXC_FAIL(MXC_ENOMEM, "a function of the front end: out of memory");
    }
    return MXC_OK;
}

static mxc_status backward(int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad, void *arg) {
    const custom_function *function = arg;
    void **handles = mxnet_alloc((size_t)(n_out + n_in), sizeof *handles);
    int *reqs = mxnet_alloc((size_t)n_in, sizeof *reqs), was_called = 0;
    const int entered = mxnet_callback_enter();
    mxc_status status = MXC_OK;
    if (entered || !handles || !reqs)
        status = MXC_FAIL(MXC_ENOMEM, "a function of the front end: out of memory");
    if (status == MXC_OK)
        status = give_arrays(n_out, out_grad, handles, NULL);
    if (status == MXC_OK)
        status = give_arrays(n_in, in_grad, handles + n_out, reqs);
    if (status == MXC_OK) {
        backward_fn fn = (backward_fn)function->functions.callbacks[FUNCTION_BACKWARD];
        was_called = 1;
        if (!fn(n_out, n_in, handles, reqs, mxc_autograd_is_training(), function->functions.contexts[0]))
            status = MXC_FAIL(MXC_EUSER, "the backward of a function of the front end failed; it has printed why");
    }
    mxnet_callback_leave(entered);
    for (int i = 0; handles && !was_called && i < n_out + n_in; i++)
        MXNDArrayFree(handles[i]);
    mxnet_free(handles);
    mxnet_free(reqs);
    return status;
}

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle const *inputs, int num_outputs, NDArrayHandle const *outputs,
                           struct MXCallbackList *callbacks) {
    mxc_ndarray **in = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)num_inputs, sizeof *in);
    mxc_ndarray **out = mxnet_buffer(MXNET_SLOT_SCRATCH2, (size_t)num_outputs, sizeof *out);
    custom_function *function;
    mxc_status status;
    MXNET_NEED(callbacks);
    if (!in || !out || callbacks->num_callbacks < 1)
        return mxnet_fail("MXCustomFunctionRecord: %d functions, expected 2", callbacks->num_callbacks);
    MXNET_CALL(mxnet_arrays(num_inputs, inputs, in));
    MXNET_CALL(mxnet_arrays(num_outputs, outputs, out));
    function = mxnet_alloc(1, sizeof *function);
    if (!function)
        return -1;
    function->functions = *callbacks;
    status = mxc_autograd_function("_CustomFunction", num_inputs, in, num_outputs, out, backward, destroy, function);
    if (status != MXC_OK)
        mxnet_free(function);
    return mxnet_result(status);
}
