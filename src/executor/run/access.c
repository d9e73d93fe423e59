/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a bound executor: its arrays, names, symbol, memory and program. */
#include "base/error.h"
#include "executor/plan/memory_report.h"
#include "executor/run/executor.h"

static mxc_ndarray *access_at(mxc_ndarray *const *arrays, int64_t n, int64_t index) {
    return index >= 0 && index < n ? arrays[index] : NULL;
}

mxc_ndarray *mxc_executor_output(const mxc_executor *e, int64_t index) {
    return e ? access_at(e->outputs, e->output_names.n, index) : NULL;
}

mxc_ndarray *mxc_executor_arg(const mxc_executor *e, int64_t index) {
    mxc_ndarray *array = e ? access_at(e->args, e->arg_names.n, index) : NULL;
    return array && mxci_constant_cache_lacks(e->constants, index) ? NULL : array;
}

mxc_ndarray *mxc_executor_grad(const mxc_executor *e, int64_t index) {
    return e ? access_at(e->grads, e->arg_names.n, index) : NULL;
}

mxc_ndarray *mxc_executor_aux(const mxc_executor *e, int64_t index) {
    return e ? access_at(e->aux, e->aux_names.n, index) : NULL;
}

mxc_ndarray *mxc_executor_find_arg(const mxc_executor *e, const char *name) {
    return e ? mxc_executor_arg(e, mxc_names_find(&e->arg_names, name)) : NULL;
}

mxc_ndarray *mxc_executor_find_grad(const mxc_executor *e, const char *name) {
    return e ? mxc_executor_grad(e, mxc_names_find(&e->arg_names, name)) : NULL;
}

mxc_ndarray *mxc_executor_find_aux(const mxc_executor *e, const char *name) {
    return e ? mxc_executor_aux(e, mxc_names_find(&e->aux_names, name)) : NULL;
}

const mxc_names *mxc_executor_arg_names(const mxc_executor *e) {
    return e ? &e->arg_names : NULL;
}

const mxc_names *mxc_executor_aux_names(const mxc_executor *e) {
    return e ? &e->aux_names : NULL;
}

mxc_symbol *mxc_executor_symbol(const mxc_executor *e) {
    return e ? e->symbol : NULL;
}

mxc_status mxc_executor_get_report(const mxc_executor *e, mxc_memory_report *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_CHECK_NON_NULL(e, "mxc_executor_get_report: executor"));
    MXC_TRY(mxci_memory_report_make(e->bound->program, out));
    for (int64_t i = 0; i < e->arg_names.n; i++)
        if (mxci_constant_cache_lacks(e->constants, i))
            out->arguments -= mxc_ndarray_size(e->args[i]) * (int64_t)mxc_dtype_size(mxc_ndarray_dtype(e->args[i]));
    return MXC_OK;
}

mxc_status mxc_executor_print(const mxc_executor *e, char **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_CHECK_NON_NULL(e, "mxc_executor_print: executor"));
    return mxci_program_print(e->bound->program, out);
}
