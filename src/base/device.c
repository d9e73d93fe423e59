/* SPDX-License-Identifier: Apache-2.0 */
/* The table of device kinds, with the CPU built in. */
#include "base/device.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/module.h"
#include "base/sys.h"
#include "base/text.h"

/* ---- the CPU ----------------------------------------------------------------------------------------------------- */

static int cpu_count(void) {
    return MXC_MAX_DEVICE_ID + 1; /* contexts, not processors: a program may separate its work */
}

/* No array has memory before this call, so no kernel runs on a processor that would raise SIGILL. */
static mxc_status cpu_alloc(mxc_context context, size_t bytes, void **out) {
    char name[32];
    *out = NULL;
    MXC_TRY(mxci_cpu_check());
    *out = mxci_pages_alloc(bytes);
    if (*out)
        return MXC_OK;
    return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %zu bytes", mxc_context_format(context, name, sizeof name), bytes);
}

static void cpu_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    mxci_pages_free(block, bytes);
}

static mxc_status cpu_copy_now(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes) {
    (void)to;
    (void)from;
    if (bytes)
        memcpy(destination, source, bytes);
    return MXC_OK;
}

static const mxci_device cpu = {
    .name = "cpu",
    .count = cpu_count,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .copy_now = cpu_copy_now,
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Entries are set once, so readers need no lock. */
static _Atomic(const mxci_device *) devices[MXC_DEVICE_LIMIT] = {[MXC_CPU] = &cpu};

static int is_kind(int kind) {
    return kind >= MXC_CPU && kind < MXC_DEVICE_LIMIT;
}

/* The functions of a kind of device; if none are registered, its module is loaded. Pinned memory is there for copies to
 * GPUs: without a module for these, it is the host's. */
static mxc_status table_of(mxc_context context, const mxci_device **out) {
    const mxci_module *module;
    char name[32], why[MXC_ERROR_MAX];
    *out = is_kind(context.device) ? atomic_load(&devices[context.device]) : NULL;
    if (*out)
        return MXC_OK;
    if (context.device == MXC_CPU_PINNED && mxci_module_get(MXC_CPU_PINNED, &module) != MXC_OK) {
        *out = &cpu;
        return MXC_OK;
    }
    mxc_context_format(context, name, sizeof name);
    if (!is_kind(context.device) || mxci_module_get(context.device, &module) != MXC_OK) {
        mxci_format(why, sizeof why, "%s", is_kind(context.device) ? mxc_last_error() : "no such kind");
        return MXC_FAIL(MXC_EDEVICE, "%s: no support for this kind of device is loaded: %s", name, why);
    }
    *out = module->devices[context.device];
    if (!*out)
        return MXC_FAIL(MXC_EDEVICE, "%s: the module for it is built without this kind of device", name);
    MXC_IGNORE(mxci_device_register(context.device, *out)); /* another thread may have done it */
    return MXC_OK;
}

mxc_status mxci_device_get(mxc_context context, const mxci_device **out) {
    const mxci_device *device;
    char name[32];
    int count;
    *out = NULL;
    MXC_TRY(table_of(context, &device));
    count = device->count();
    if (context.id < 0 || context.id >= count)
        return MXC_FAIL(MXC_EDEVICE, "%s: no such device; there are %d of kind %s, counted from 0",
                        mxc_context_format(context, name, sizeof name), count, device->name);
    *out = device;
    return MXC_OK;
}

mxc_status mxci_device_register(mxc_device kind, const mxci_device *device) {
    const mxci_device *none = NULL;
    if (!is_kind((int)kind))
        return MXC_FAIL(MXC_EINVAL, "device kind %d: expected 1 to %d", (int)kind, MXC_DEVICE_LIMIT - 1);
    if (!atomic_compare_exchange_strong(&devices[kind], &none, device))
        return MXC_FAIL(MXC_EEXIST, "device %s: a table for this kind is registered already", device->name);
    return MXC_OK;
}

mxc_status mxc_device_count(mxc_device kind, int *out) {
    MXC_TRY(MXCI_OUT(out));
    const mxci_device *device;
    MXC_TRY(table_of((mxc_context){(int32_t)kind, 0}, &device));
    *out = device->count();
    return MXC_OK;
}
