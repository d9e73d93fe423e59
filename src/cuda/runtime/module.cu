/* SPDX-License-Identifier: Apache-2.0 */
/* The module's entry point, the list of all operator implementations, and the module's end of error reporting and
 * options. It links nothing of libmxc: whatever it needs comes in the table mxci_host. */
#include "cuda/runtime/module.h"

#include "cuda/runtime/dnn.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <mxc/version.h>

/* libmxc's table, set once by mxci_module_open before any other function of the module runs. */
static const mxci_host *host;

/* What MXC_FAIL calls in the module: formats the text here, since a va_list cannot cross to a C function pointer with
 * fixed arguments, and hands it to libmxc. */
mxc_status mxc_fail_at(const char *file, int line, mxc_status code, const char *format, ...) {
    char text[MXC_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return host->fail(file, line, code, text);
}

int64_t mxcu_option(mxci_option option) {
    return host->option(option);
}

static const mxcu_op_impl_list *const lists[] = {
#define OP_IMPLS(name) &mxcu_op_impls_##name,
#include "cuda/runtime/op_impl_lists.def"
#undef OP_IMPLS
};

static int by_name(const void *a, const void *b) {
    return strcmp(static_cast<const mxci_op_impl *>(a)->name, static_cast<const mxci_op_impl *>(b)->name);
}

/* All operator implementations in one array, sorted by name. Kept for the life of the process. */
static mxc_status collect_op_impls(mxci_module *module) {
    size_t n = 0;
    mxci_op_impl *impls;
    for (const mxcu_op_impl_list *list : lists)
        n += (size_t)list->n;
    impls = static_cast<mxci_op_impl *>(malloc(n * sizeof *impls));
    if (!impls)
        return MXC_FAIL(MXC_ENOMEM, "GPU module: no memory for %zu operators", n);
    module->op_impls = impls;
    for (const mxcu_op_impl_list *list : lists) {
        memcpy(impls, list->impls, (size_t)list->n * sizeof *impls);
        impls += list->n;
    }
    module->n_op_impls = (int)n;
    qsort(const_cast<mxci_op_impl *>(module->op_impls), n, sizeof *impls, by_name);
    return MXC_OK;
}

extern "C" __attribute__((visibility("default"))) const mxci_module *mxci_module_open(const mxci_host *given);

/* The only exported symbol. Called once per process, under the lock of base/module.c. NULL on failure, after an error
 * has been reported. */
const mxci_module *mxci_module_open(const mxci_host *given) {
    static mxci_module module = {MXC_VERSION, {nullptr}, nullptr, 0, nullptr, nullptr, 0};
    host = given;
    module.devices[MXC_GPU] = &mxcu_gpu;
    module.devices[MXC_CPU_PINNED] = &mxcu_pinned;
    module.prefers_channels_last = mxcu_has_dnn;
    module.communicator = mxcu_communicator_api();
    return collect_op_impls(&module) == MXC_OK ? &module : nullptr;
}
