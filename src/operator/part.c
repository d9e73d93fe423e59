/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators in parts: implementations registered apart from their descriptors, and libraries of operators.
 *
 * Parts are in a list per kind of device that only grows at its head, so that every call can search it without a lock.
 * Programs have few.
 */
#include "operator/part.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/sys.h"
#include "operator/op_impl.h"

typedef struct part_entry {
    const struct part_entry *next;
    const mxc_op_def *def;
    const mxc_op_part *part;
} part_entry;

static _Atomic(const part_entry *) parts[MXC_DEVICE_LIMIT];
static mxci_global_mutex part_lock = MXCI_GLOBAL_MUTEX_INIT; /* over insertions */

const mxc_op_part *mxci_part_find(const mxc_op_def *def, mxc_device device) {
    const part_entry *e = atomic_load_explicit(&parts[device], memory_order_acquire);
    while (e && e->def != def)
        e = e->next;
    return e ? e->part : NULL;
}

/* Refuses a part that contradicts the operator's descriptor. */
static mxc_status check_part(const mxc_op_part *part, const mxc_op_def *def, const char *device) {
    if (part->version != def->version)
        return MXC_FAIL(
            MXC_EINVAL,
            "mxc_op_register_part: %s on %s is of version %d, expected %d, that of the operator's descriptor",
            def->name, device, part->version, def->version);
    if (part->param_size && part->param_size != def->param_size)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_register_part: %s on %s reads parameters of %zu bytes, expected %zu, as the operator's "
                        "descriptor has them",
                        def->name, device, part->param_size, def->param_size);
    if (!part->forward)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register_part: %s on %s has no forward function", def->name, device);
    if (!part->backward && (part->state_create || def->state_create) && mxci_op_has_backward(def))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_register_part: %s on %s has no backward function, which the host cannot replace: the "
                        "operator keeps state",
                        def->name, device);
    if (def->flags & MXC_OP_CALLBACK)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register_part: %s is an operator of MXC_OP_CALLBACK, which has no parts",
                        def->name);
    return MXC_OK;
}

static mxc_status add_part(const mxc_op_part *part, const mxc_op_def *def, const char *device) {
    part_entry *e;
    if (def->forward[part->device] || mxci_part_find(def, part->device))
        return MXC_FAIL(MXC_EEXIST, "mxc_op_register_part: %s has an implementation on %s already", def->name, device);
    e = mxci_alloc(sizeof *e);
    if (!e)
        return MXCI_NO_MEMORY("mxc_op_register_part", def->name);
    *e = (part_entry){.next = parts[part->device], .def = def, .part = part};
    atomic_store_explicit(&parts[part->device], e, memory_order_release);
    return MXC_OK;
}

mxc_status mxc_op_register_part(const mxc_op_part *part) {
    MXC_TRY(MXCI_SIZED(part, "{ .size = sizeof(mxc_op_part), ... }"));
    const char *device = part->device == MXC_GPU ? "gpu" : "cpu";
    const mxc_op_def *def;
    mxc_status status;
    if (!part->op)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register_part: part->op must not be NULL");
    if (part->device != MXC_CPU && part->device != MXC_GPU)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register_part: %s: device is %d, expected MXC_CPU or MXC_GPU", part->op,
                        (int)part->device);
    def = mxc_op_find(part->op);
    if (!def)
        return MXC_FAIL(
            MXC_ENOTFOUND,
            "mxc_op_register_part: no operator is called '%s': register its descriptor, or load the library "
            "that does, before its part for %s",
            part->op, device);
    MXC_TRY(check_part(part, def, device));
    mxci_global_lock(&part_lock);
    status = add_part(part, def, device);
    mxci_global_unlock(&part_lock);
    return status;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

typedef struct loaded_library {
    struct loaded_library *next;
    const mxc_op_library *library;
} loaded_library;

static loaded_library *loaded;                                  /* libraries that are being or have been opened */
static mxci_global_mutex library_lock = MXCI_GLOBAL_MUTEX_INIT; /* over the list; not held while a library registers */

/* Enters a library in the list. */
static mxc_status remember(const mxc_op_library *library, const char *path) {
    loaded_library *entry = mxci_alloc(sizeof *entry), *found;
    if (!entry)
        return MXCI_NO_MEMORY("mxc_op_load", path);
    mxci_global_lock(&library_lock);
    for (found = loaded; found && found->library != library; found = found->next)
        ;
    if (!found) {
        *entry = (loaded_library){loaded, library};
        loaded = entry;
    }
    mxci_global_unlock(&library_lock);
    if (!found)
        return MXC_OK;
    mxci_free(entry);
    return MXC_FAIL(MXC_EEXIST, "mxc_op_load: %.300s is loaded already", path);
}

/* Takes a library out of the list again. */
static void forget(const mxc_op_library *library) {
    loaded_library *entry, **at;
    mxci_global_lock(&library_lock);
    for (at = &loaded; (*at)->library != library; at = &(*at)->next)
        ;
    entry = *at;
    *at = entry->next;
    mxci_global_unlock(&library_lock);
    mxci_free(entry);
}

mxc_status mxc_op_load(const char *path) {
    MXC_TRY(MXCI_NON_NULL(path));
    const mxc_op_library *library;
    void *handle;
    MXC_TRY(mxci_library_open(path, &handle));
    if (mxci_library_symbol(handle, "mxc_operators", (void **)&library) != MXC_OK)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_load: %.300s is not a library of operators: it exports no mxc_operators",
                        path);
    if (library->size != sizeof *library || library->version != MXC_VERSION_NUMBER)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_load: %.300s was compiled for version %d of libmxc, expected %d: compile it again",
                        path, library->size >= sizeof *library ? library->version : 0, MXC_VERSION_NUMBER);
    if (!library->open)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_load: %.300s: MXC_OP_LIBRARY has no function", path);
    MXC_TRY(remember(library, path));
    const mxc_status status = library->open();
    if (status != MXC_OK) /* it may be loaded again when what it misses is there */
        forget(library);
    return status;
}
