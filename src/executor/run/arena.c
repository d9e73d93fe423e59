/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas, the memory of pools: see arena.h. */
#include "executor/run/arena.h"

#include <string.h>

#include <mxc/storage.h>

#include "base/device.h"
#include "base/error.h"
#include "base/sys.h"
#include "engine/device/run_memory.h"

/* Allocates memory that work on var uses, zeroed on the host so that its pages are present. */
static mxc_status take_memory(mxc_var *var, mxc_context context, size_t bytes, void **out) {
    mxc_status status;
    MXC_TRY(mxc_storage_alloc(context, bytes, out));
    status = mxci_var_memory_acquired(var, context);
    if (status != MXC_OK) {
        mxc_storage_free(context, *out, bytes);
        *out = NULL;
        return status;
    }
    if (context.device != MXC_GPU && bytes)
        memset(*out, 0, bytes);
    return MXC_OK;
}

mxc_status mxci_arena_create(mxc_engine *engine, mxc_context context, size_t bytes, mxci_arena **out) {
    mxci_arena *a = mxci_calloc(1, sizeof *a);
    mxc_status status;
    *out = NULL;
    if (!a)
        return MXCI_NO_MEMORY("executor", "an arena");
    atomic_init(&a->refs, 1);
    a->context = context;
    a->bytes = bytes;
    status = mxc_var_create(engine, &a->var);
    if (status == MXC_OK)
        status = take_memory(a->var, context, bytes, &a->memory);
    if (status == MXC_OK)
        *out = a;
    else
        mxci_arena_release(a);
    return status;
}

mxci_arena *mxci_arena_retain(mxci_arena *a) {
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

static void destroy(void *arg) {
    mxci_arena *a = arg;
    mxc_storage_free(a->context, a->memory, a->bytes);
    mxci_free(a);
}

void mxci_arena_release(mxci_arena *a) {
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (a->var)
        mxc_var_delete(a->var, destroy, a);
    else
        destroy(a);
}

mxc_status mxci_arena_grow(mxci_arena *a, size_t bytes) {
    const mxci_device *device = NULL;
    void *memory;
    mxc_status status;
    if (bytes <= a->bytes)
        return MXC_OK;
    MXC_TRY(take_memory(a->var, a->context, bytes, &memory));
    MXC_IGNORE(mxc_wait_to_write(a->var)); /* for the old and the new memory; a failed run does not concern this call */
    status = a->bytes ? mxci_device_get(a->context, &device) : MXC_OK;
    if (status == MXC_OK && a->bytes)
        status = device->copy_now(a->context, memory, a->context, a->memory, a->bytes);
    if (status != MXC_OK) {
        mxc_storage_free(a->context, memory, bytes);
        return status;
    }
    mxc_storage_free(a->context, a->memory, a->bytes);
    a->memory = memory;
    a->bytes = bytes;
    return MXC_OK;
}
