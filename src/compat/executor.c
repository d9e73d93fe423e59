/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: running, outputs, monitors, text. Binding is in executor_bind.c. */
#include "compat/executor.h"

#include <stdio.h>
#include <string.h>

int mxnet_executor_new(mxc_executor *executor, ExecutorHandle *out) {
    mxnet_executor *handle = mxnet_alloc(1, sizeof *handle);
    if (!handle) {
        mxc_executor_destroy(executor);
        return -1;
    }
    handle->executor = executor;
    *out = handle;
    return 0;
}

mxc_executor *mxnet_executor_of(ExecutorHandle handle) {
    const mxnet_executor *executor = handle;
    if (!executor)
        mxnet_fail("an executor's handle is NULL");
    return executor ? executor->executor : NULL;
}

int MXExecutorFree(ExecutorHandle handle) {
    mxnet_executor *executor = handle;
    if (!executor)
        return 0;
    mxc_executor_destroy(executor->executor);
    mxnet_monitor_clear(&executor->monitor);
    mxnet_free(executor);
    return 0;
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback, void *callback_handle,
                                   bool monitor_all) {
    mxnet_executor *executor = handle;
    MXNET_NEED(handle);
    return mxnet_monitor_set(&executor->monitor, executor->executor, callback, callback_handle, monitor_all);
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback, void *callback_handle) {
    return MXExecutorSetMonitorCallbackEX(handle, callback, callback_handle, false);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

int MXExecutorForward(ExecutorHandle handle, int is_train) {
    mxnet_executor *executor = handle;
    MXNET_NEED(handle);
    MXNET_TRY(mxc_executor_forward(executor->executor, is_train));
    return mxnet_monitor_show(&executor->monitor, executor->executor);
}

int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle const *head_grads, int is_train) {
    mxnet_executor *executor = handle;
    mxc_ndarray **heads = mxnet_buffer(MXNET_SLOT_SCRATCH, len, sizeof *heads);
    MXNET_NEED(handle);
    (void)is_train; /* what the forward run was for decides */
    if (!heads)
        return -1;
    MXNET_CALL(mxnet_arrays(len, head_grads, heads));
    MXNET_TRY(mxc_executor_backward(executor->executor, len, heads));
    return mxnet_monitor_show(&executor->monitor, executor->executor);
}

int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle const *head_grads) {
    return MXExecutorBackwardEx(handle, len, head_grads, 1);
}

int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out) {
    const mxc_executor *executor = mxnet_executor_of(handle);
    MXNET_NEED(out_size);
    MXNET_NEED(out);
    if (!executor)
        return -1;
    int64_t n = mxc_symbol_n_outputs(mxc_executor_symbol(executor));
    mxc_ndarray **outputs = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)n, sizeof *outputs);
    if (!outputs)
        return -1;
    for (int64_t i = 0; i < n; i++)
        outputs[i] = mxc_ndarray_retain(mxc_executor_output(executor, i));
    *out_size = (uint32_t)n;
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, n, outputs, out);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

int MXExecutorPrint(ExecutorHandle handle, const char **out_str) {
    const mxc_executor *executor = mxnet_executor_of(handle);
    mxc_memory_report report;
    char *text, total[128];
    MXNET_NEED(out_str);
    if (!executor)
        return -1;
    MXNET_TRY(mxc_executor_get_report(executor, &report));
    MXNET_TRY(mxc_executor_print(executor, &text));
    /* Front ends read these two lines, the last ones. */
    snprintf(total, sizeof total, "Total %lld MB allocated\nTotal %d TempSpace resource requested\n",
             (long long)((report.outputs + report.internal_planned) >> 20), report.temp > 0);
    char *both = mxnet_buffer(MXNET_SLOT_TEXT, strlen(text) + strlen(total) + 2, 1);
    if (both) {
        size_t length = strlen(text);
        memcpy(both, text, length);
        if (length > 0 && both[length - 1] != '\n')
            both[length++] = '\n';
        memcpy(both + length, total, strlen(total) + 1);
    }
    mxc_free(text);
    *out_str = both;
    return both ? 0 : -1;
}

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out) {
    const mxc_executor *executor = mxnet_executor_of(handle);
    mxc_symbol *copy;
    MXNET_NEED(out);
    if (!executor)
        return -1;
    MXNET_TRY(mxc_symbol_copy(mxc_executor_symbol(executor), &copy));
    return mxnet_symbol_new(copy, out);
}
