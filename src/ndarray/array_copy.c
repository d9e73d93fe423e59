/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between host memory and arrays, which block, and between arrays, which are queued. */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "engine/device/run_memory.h"
#include "math/cast_kernels.h"
#include "ndarray/array_task.h"

/* ---- host memory ------------------------------------------------------------------------------------------------- */

/* One call of mxc_ndarray_set or _get; lies on the caller's stack, which outlives the task since the caller waits
 * (MXC_TASK_AWAITED: in the child of a fork that lacks the caller it does not run). */
typedef struct host_copy {
    mxc_ndarray *array;
    const void *from; /* set */
    void *to;         /* get */
    int done;
} host_copy;

static mxc_status host_copy_run(const mxc_run *run, void *arg) {
    host_copy *copy = arg;
    mxc_context where = copy->array->chunk->context, host = mxc_cpu(0);
    size_t bytes = mxci_array_bytes(copy->array);
    void *data;
    MXC_TRY(mxci_array_data(copy->array, &data));
    if (mxci_on_host(where)) {
        memcpy(copy->to ? copy->to : data, copy->to ? data : copy->from, bytes);
    } else {
        MXC_TRY(copy->to ? mxci_run_copy_async(run, host, copy->to, where, data, bytes)
                         : mxci_run_copy_async(run, where, data, host, copy->from, bytes));
    }
    copy->done = 1;
    return MXC_OK;
}

/* The variable that a get changes and waits for. Waiting for a read of the array's own variable is impossible, and
 * changing that would wait for all other readers. Created once per chunk; of two threads that create it, one wins. */
static mxc_status reading_var(mxci_chunk *chunk, mxc_var **out) {
    mxc_var *none = NULL, *var = atomic_load(&chunk->reading);
    if (!var) {
        MXC_TRY(mxc_var_create(mxc_var_engine(chunk->var), &var));
        if (!atomic_compare_exchange_strong(&chunk->reading, &none, var)) {
            mxc_var_delete(var, NULL, NULL);
            var = none;
        }
    }
    *out = var;
    return MXC_OK;
}

/* Queue the copy and wait for it. The engine skips it if the array is in the error state, which another thread may
 * clear before this thread's wait sees it; the copy is then queued again. */
static mxc_status host_copy_wait(host_copy *copy, const char *name, mxc_property property) {
    mxci_chunk *chunk = copy->array->chunk;
    mxc_var *var = chunk->var, *changed = chunk->var;
    mxc_task task = MXC_TASK_INIT;
    mxc_status status;
    if (copy->to)
        MXC_TRY(reading_var(chunk, &changed));
    task.name = name;
    task.fn = host_copy_run;
    task.arg = copy;
    task.context = chunk->context;
    task.property = mxci_on_host(chunk->context) ? MXC_PROP_NORMAL : property;
    task.flags = MXC_TASK_AWAITED | MXC_TASK_HELPED | MXC_TASK_CHEAP; /* this thread has nothing else to do */
    if (!copy->to && mxci_array_bytes(copy->array) < chunk->bytes)
        task.flags |= MXC_TASK_UPDATES; /* a part of the chunk: does not clear an earlier error */
    do {
        MXC_TRY(mxc_engine_push(mxc_var_engine(var), &task, copy->to != NULL, &var, 1, &changed, 0));
        status = mxc_wait_to_read(changed);
    } while (status == MXC_OK && !copy->done);
    return copy->done ? MXC_OK : status;
}

static mxc_status check_bytes(const char *caller, const mxc_ndarray *array, const void *data, size_t bytes) {
    char text[MXC_SHAPE_TEXT];
    if (bytes != mxci_array_bytes(array))
        return MXC_FAIL(MXC_EINVAL, "%s: %zu bytes given, but an array of shape %s and dtype %s has %zu", caller, bytes,
                        mxc_shape_format(&array->shape, text, sizeof text), mxc_dtype_name(array->dtype),
                        mxci_array_bytes(array));
    if (bytes > 0 && !data)
        return MXC_FAIL(MXC_EINVAL, "%s: data is NULL, expected %zu bytes", caller, bytes);
    return MXC_OK;
}

mxc_status mxc_ndarray_set(mxc_ndarray *array, const void *data, size_t bytes) {
    host_copy copy = {array, data, NULL, 0};
    void *memory;
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    MXC_TRY(check_bytes("mxc_ndarray_set", array, data, bytes));
    MXC_TRY(mxci_array_data(array, &memory));
    return bytes ? host_copy_wait(&copy, "set", MXC_PROP_COPY_TO_DEVICE) : MXC_OK;
}

mxc_status mxc_ndarray_get(mxc_ndarray *array, void *data, size_t bytes) {
    host_copy copy = {array, NULL, data, 0};
    void *memory;
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    MXC_TRY(check_bytes("mxc_ndarray_get", array, data, bytes));
    MXC_TRY(mxci_array_data(array, &memory));
    return bytes ? host_copy_wait(&copy, "get", MXC_PROP_COPY_FROM_DEVICE) : mxc_ndarray_wait_to_read(array);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

mxc_status mxc_ndarray_wait_to_read(mxc_ndarray *array) {
    MXC_TRY(MXCI_NON_NULL(array));
    return mxc_wait_to_read(array->chunk->var);
}

mxc_status mxc_ndarray_wait_to_write(mxc_ndarray *array) {
    MXC_TRY(MXCI_NON_NULL(array));
    return mxc_wait_to_write(array->chunk->var);
}

mxc_status mxc_ndarray_data(mxc_ndarray *array, void **out) {
    char name[32];
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    if (!mxci_on_host(array->chunk->context))
        return MXC_FAIL(MXC_EDEVICE, "mxc_ndarray_data: the array is on %s, out of the host's reach",
                        mxc_context_format(array->chunk->context, name, sizeof name));
    MXC_TRY(mxc_ndarray_wait_to_read(array));
    return mxci_array_data(array, out);
}

/* ---- between arrays ---------------------------------------------------------------------------------------------- */

/* The same dtype on both sides. */
static void produce_copy(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out) {
    size_t element = mxc_dtype_size(task->to->dtype);
    memcpy(out, (const char *)source + (size_t)begin * element, (size_t)(end - begin) * element);
}

static void produce_converted(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out) {
    mxc_dtype from = task->from->dtype;
    mxci_convert(from, (const char *)source + (size_t)begin * mxc_dtype_size(from), task->to->dtype, out, end - begin);
}

/* Two views of one chunk, which may overlap. */
static mxc_status move_within(const mxc_run *run, void *arg) {
    mxci_array_task *task = arg;
    void *to, *from;
    mxc_context where = task->to->chunk->context;
    MXC_TRY(mxci_array_data(task->to, &to));
    MXC_TRY(mxci_array_data(task->from, &from));
    if (mxci_on_host(where)) {
        memmove(to, from, mxci_array_bytes(task->to));
        return MXC_OK;
    }
    return mxci_run_copy_async(run, where, to, where, from, mxci_array_bytes(task->to));
}

/* The same dtype, with at least one of the arrays in device memory: the device copies. */
static mxc_status copy_by_device(const mxc_run *run, void *arg) {
    mxci_array_task *task = arg;
    mxc_context to_context = task->to->chunk->context, from_context = task->from->chunk->context;
    void *to, *from;
    MXC_TRY(mxci_array_data(task->to, &to));
    MXC_TRY(mxci_array_data(task->from, &from));
    return mxci_run_copy_async(run, to_context, to, from_context, from, mxci_array_bytes(task->to));
}

/* Choose the function that copies, and the queue that it runs on: that of the device that is not the host. */
static mxc_status push_copy(mxci_array_task *task, int priority) {
    mxc_context to = task->to->chunk->context, from = task->from->chunk->context;
    int cheap = mxci_array_bytes(task->to) <= MXCI_CHEAP_BYTES && mxci_array_bytes(task->from) <= MXCI_CHEAP_BYTES;
    mxc_property property = !mxci_on_host(from) ? MXC_PROP_COPY_FROM_DEVICE
                            : !mxci_on_host(to) ? MXC_PROP_COPY_TO_DEVICE
                                                : MXC_PROP_NORMAL;
    mxc_context runs_on = mxci_on_host(from) ? to : from;
    int same_dtype = task->to->dtype == task->from->dtype;
    task->produce = same_dtype ? produce_copy : produce_converted;
    task->grain = same_dtype ? (int64_t)((1 << 20) / mxc_dtype_size(task->to->dtype)) : 1 << 15;
    if (task->to->chunk == task->from->chunk)
        return mxci_array_task_push(task, "copy", move_within, MXC_PROP_NORMAL, to, priority, cheap);
    if (same_dtype && property != MXC_PROP_NORMAL)
        return mxci_array_task_push(task, "copy", copy_by_device, property, runs_on, priority, 0);
    return mxci_array_task_push(task, "copy", mxci_array_task_run, property, runs_on, priority,
                                cheap && property == MXC_PROP_NORMAL);
}

mxc_status mxc_ndarray_copy_to(mxc_ndarray *from, mxc_ndarray *to, int priority) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    mxci_array_task *task = NULL;
    void *memory;
    MXC_TRY(MXCI_NON_NULL(from));
    MXC_TRY(MXCI_NON_NULL(to));
    if (!mxc_shape_equal(&from->shape, &to->shape))
        return MXC_FAIL(MXC_ESHAPE, "mxc_ndarray_copy_to: from has shape %s, but to has %s",
                        mxc_shape_format(&from->shape, have, sizeof have),
                        mxc_shape_format(&to->shape, want, sizeof want));
    if (to->size == 0 || (from->chunk == to->chunk && from->offset == to->offset))
        return MXC_OK;
    MXC_TRY(mxci_array_data(from, &memory));
    MXC_TRY(mxci_array_data(to, &memory));
    MXC_TRY(mxci_array_task_create(to, from, &task));
    const mxci_array_recorder *recorder = mxci_array_recorder_for(from);
    mxc_status status = recorder ? recorder->copy(from, to) : MXC_OK;
    if (status != MXC_OK) {
        mxci_array_task_drop(task);
        return status;
    }
    status = push_copy(task, priority);
    if (status != MXC_OK && recorder)
        mxci_array_set_link(to, NULL, 0);
    return status;
}

mxc_status mxc_ndarray_copy(mxc_ndarray *array, mxc_context context, mxc_dtype dtype, mxc_ndarray **out) {
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(mxci_ndarray_new("mxc_ndarray_copy", &array->shape, dtype, context, out));
    status = mxc_ndarray_copy_to(array, *out, 0);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

mxc_status mxc_ndarray_copy_on(mxc_ndarray *array, int device_type, int device_id, mxc_dtype dtype, mxc_ndarray **out) {
    return mxc_ndarray_copy(array, (mxc_context){device_type, device_id}, dtype, out);
}
