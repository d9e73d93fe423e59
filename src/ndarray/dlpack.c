/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack: exporting arrays to other libraries and importing their tensors, without a copy where the strides allow. */
#include <string.h>

#include <mxc/dlpack.h>

#include "base/device.h"
#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "ndarray/array.h"

/* ---- types and devices ------------------------------------------------------------------------------------------- */

static const struct dlpack_type {
    mxc_dtype dtype;
    uint8_t code, bits;
} types[] = {
    {MXC_F32, kDLFloat, 32}, {MXC_F64, kDLFloat, 64}, {MXC_F16, kDLFloat, 16},
    {MXC_U8, kDLUInt, 8},    {MXC_I32, kDLInt, 32},   {MXC_I8, kDLInt, 8},
    {MXC_I64, kDLInt, 64},   {MXC_BOOL, kDLBool, 8},  {MXC_BF16, kDLBfloat, 16},
};
enum { TYPES = sizeof types / sizeof *types, VERSION_MAJOR = 1 };

static DLDataType type_of(mxc_dtype dtype) {
    int i = 0;
    while (types[i].dtype != dtype)
        i++;
    return (DLDataType){types[i].code, types[i].bits, 1};
}

static mxc_status dtype_of(const char *caller, DLDataType type, mxc_dtype *out) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].code == type.code && types[i].bits == type.bits && type.lanes == 1) {
            *out = types[i].dtype;
            return MXC_OK;
        }
    return MXC_FAIL(MXC_EDTYPE, "%s: type code %d, %d bits, %d lanes is not supported", caller, type.code, type.bits,
                    type.lanes);
}

/* DLPack and libmxc number the kinds of devices alike. */
_Static_assert((int)kDLCPU == MXC_CPU && (int)kDLCUDA == MXC_GPU && (int)kDLCUDAHost == MXC_CPU_PINNED, "device kinds");

/* ---- exporting ----------------------------------------------------------------------------------------------- */

typedef struct exported {
    union {
        DLManagedTensor managed;
        struct DLManagedTensorVersioned versioned;
    }; /* first, so that all have one address */
    mxc_ndarray *array;
    int64_t shape[MXC_MAX_NDIM], strides[MXC_MAX_NDIM];
} exported;

static void exported_free(exported *e) {
    mxc_ndarray_release(e->array);
    mxci_free(e);
}

static void exported_delete(DLManagedTensor *self) {
    exported_free(self->manager_ctx);
}

static void exported_delete_versioned(struct DLManagedTensorVersioned *self) {
    exported_free(self->manager_ctx);
}

/* Waits for writes of array, and describes it in tensor, which lies in *out. */
static mxc_status export_array(const char *caller, mxc_ndarray *array, exported **out, DLTensor *tensor) {
    mxc_context context = array->chunk->context;
    int64_t stride = 1;
    void *data;
    exported *e;
    MXC_TRY(mxc_ndarray_wait_to_read(array));
    MXC_TRY(mxci_array_data(array, &data));
    *out = e = mxci_calloc(1, sizeof *e);
    if (!e)
        return MXCI_NO_MEMORY(caller, "a tensor");
    e->array = mxc_ndarray_retain(array);
    for (int i = array->shape.ndim; i-- > 0;) {
        e->shape[i] = array->shape.dim[i];
        e->strides[i] = stride;
        stride *= array->shape.dim[i] > 0 ? array->shape.dim[i] : 1;
    }
    *tensor = (DLTensor){.data = data,
                         .device = {(DLDeviceType)context.device, context.id},
                         .ndim = array->shape.ndim,
                         .dtype = type_of(array->dtype),
                         .shape = e->shape,
                         .strides = e->strides};
    return MXC_OK;
}

mxc_status mxc_ndarray_to_dlpack(mxc_ndarray *array, struct DLManagedTensor **out) {
    exported *e;
    DLTensor tensor;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(export_array("mxc_ndarray_to_dlpack", array, &e, &tensor));
    e->managed = (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = e, .deleter = exported_delete};
    *out = &e->managed;
    return MXC_OK;
}

mxc_status mxc_ndarray_to_dlpack_versioned(mxc_ndarray *array, int read_only, struct DLManagedTensorVersioned **out) {
    exported *e;
    DLTensor tensor;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(export_array("mxc_ndarray_to_dlpack_versioned", array, &e, &tensor));
    e->versioned = (struct DLManagedTensorVersioned){.version = {VERSION_MAJOR, 0},
                                                     .manager_ctx = e,
                                                     .deleter = exported_delete_versioned,
                                                     .flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
                                                     .dl_tensor = tensor};
    *out = &e->versioned;
    return MXC_OK;
}

/* ---- importing ----------------------------------------------------------------------------------------------- */

/* Shape, and whether the elements are dense in C order. Axes of size 1 may have any stride. */
static mxc_status read_shape(const char *caller, const DLTensor *t, mxc_shape *shape, int *dense) {
    int64_t expected = 1;
    if (t->ndim < 0 || t->ndim > MXC_MAX_NDIM || (t->ndim > 0 && !t->shape))
        return MXC_FAIL(MXC_EINVAL, "%s: %d axes%s, expected 0 to %d", caller, (int)t->ndim,
                        t->ndim > 0 && !t->shape ? " without a shape" : "", MXC_MAX_NDIM);
    shape->ndim = t->ndim;
    *dense = 1;
    for (int i = t->ndim; i-- > 0;) {
        shape->dim[i] = t->shape[i];
        if (t->shape[i] < 0)
            return MXC_FAIL(MXC_EINVAL, "%s: axis %d has size %lld", caller, i, (long long)t->shape[i]);
        if (t->strides && t->shape[i] > 1 && t->strides[i] != expected)
            *dense = 0;
        expected = t->shape[i] > 0 ? mxci_dim_mul(expected, t->shape[i]) : expected;
    }
    if (!mxci_shape_fits(shape))
        return MXC_FAIL(MXC_EINVAL, "%s: more elements than memory can have", caller);
    *dense = *dense || mxc_shape_size(shape) == 0;
    return MXC_OK;
}

/* The address of the first element, NULL if there is none. Refuses addresses and strides that cannot be valid. Strides
 * of 0 repeat elements; negative ones are refused as other libraries do, since they reach before data. */
static mxc_status check_memory(const char *caller, const DLTensor *t, const mxc_shape *shape, mxc_dtype dtype,
                               char **out) {
    int64_t element = (int64_t)mxc_dtype_size(dtype), reach = 0;
    *out = NULL;
    if (mxc_shape_size(shape) == 0)
        return MXC_OK;
    if (!t->data || t->byte_offset > PTRDIFF_MAX / 2 || ((uintptr_t)t->data + t->byte_offset) % (uint64_t)element != 0)
        return MXC_FAIL(MXC_EINVAL,
                        "%s: data at %p, byte offset %llu: expected memory aligned to "
                        "%lld bytes",
                        caller, t->data, (unsigned long long)t->byte_offset, (long long)element);
    *out = (char *)t->data + t->byte_offset;
    for (int i = 0; t->strides && i < shape->ndim; i++) {
        if (shape->dim[i] == 1)
            continue;
        reach = mxci_dim_add(reach, mxci_dim_mul(shape->dim[i] - 1, t->strides[i]));
        if (t->strides[i] < 0 || !mxci_size_fits(mxci_size_of(reach, (size_t)element)))
            return MXC_FAIL(MXC_EINVAL, "%s: stride %lld of axis %d with %lld items", caller, (long long)t->strides[i],
                            i, (long long)shape->dim[i]);
    }
    return MXC_OK;
}

/* Copy all elements into C order. */
static void gather(const DLTensor *t, const mxc_shape *shape, size_t element, const char *from, char *to) {
    int64_t index[MXC_MAX_NDIM] = {0}, size = mxc_shape_size(shape);
    for (int64_t i = 0; i < size; i++) {
        int64_t offset = 0; /* in elements */
        for (int axis = 0; axis < shape->ndim; axis++)
            offset += index[axis] * t->strides[axis];
        memcpy(to + (size_t)i * element, from + offset * (int64_t)element, element);
        for (int axis = shape->ndim; axis-- > 0 && ++index[axis] == shape->dim[axis];)
            index[axis] = 0;
    }
}

/* A tensor that is to become an array. */
typedef struct source {
    const char *caller;
    const DLTensor *tensor;
    int read_only;
    void *owner; /* the struct that holds the tensor */
    void (*release)(void *owner);
} source;

static void imported_release(void *arg) {
    DLManagedTensor *tensor = arg;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static void imported_release_versioned(void *arg) {
    struct DLManagedTensorVersioned *tensor = arg;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

/* Copies strided elements, which are in host memory. */
static mxc_status copy_strided(const source *from, const mxc_shape *shape, mxc_dtype dtype, const char *data,
                               mxc_ndarray **out) {
    mxc_status status;
    void *to;
    if (!mxci_on_host((mxc_context){(int32_t)from->tensor->device.device_type, 0}))
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: strides in GPU memory; make it contiguous first", from->caller);
    MXC_TRY(mxci_ndarray_new(from->caller, shape, dtype, mxc_cpu(0), out));
    status = mxci_array_data(*out, &to);
    if (status == MXC_OK)
        gather(from->tensor, shape, mxc_dtype_size(dtype), data, to);
    return status;
}

/* Copies a dense tensor on any device, and waits for that. */
static mxc_status copy_dense(const source *from, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                             void *data, mxc_ndarray **out) {
    mxc_ndarray *shared;
    MXC_TRY(mxci_ndarray_wrap(from->caller, shape, dtype, context, data, NULL, NULL, &shared));
    mxc_status status = mxc_ndarray_copy(shared, context, dtype, out);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(*out);
    mxc_ndarray_release(shared);
    return status;
}

/* Share the memory or copy it and release the tensor; on failure the caller keeps the tensor. */
static mxc_status import_tensor(const source *from, mxc_ndarray **out) {
    const mxci_device *device;
    const DLTensor *t = from->tensor;
    const mxc_context context = {(int32_t)t->device.device_type, t->device.device_id};
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    mxc_status status;
    mxc_shape shape;
    char *data;
    int dense = 0;
    MXC_TRY(mxci_device_get(context, &device));
    MXC_TRY(dtype_of(from->caller, t->dtype, &dtype));
    MXC_TRY(read_shape(from->caller, t, &shape, &dense));
    MXC_TRY(check_memory(from->caller, t, &shape, dtype, &data));
    if (dense && !from->read_only)
        return mxci_ndarray_wrap(from->caller, &shape, dtype, context, data, from->release, from->owner, out);
    status = dense ? copy_dense(from, &shape, dtype, context, data, out) : copy_strided(from, &shape, dtype, data, out);
    if (status == MXC_OK) {
        from->release(from->owner);
        return MXC_OK;
    }
    mxc_ndarray_release(*out);
    *out = NULL;
    return status;
}

mxc_status mxc_ndarray_from_dlpack(struct DLManagedTensor *tensor, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(tensor));
    const source from = {__func__, &tensor->dl_tensor, 0, tensor, imported_release};
    return import_tensor(&from, out);
}

mxc_status mxc_ndarray_from_dlpack_versioned(struct DLManagedTensorVersioned *tensor, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(tensor));
    if (tensor->version.major != VERSION_MAJOR) /* what is behind the deleter may be another struct */
        return MXC_FAIL(MXC_EUNSUPPORTED, "mxc_ndarray_from_dlpack_versioned: DLPack version %u.%u, expected %d.x",
                        tensor->version.major, tensor->version.minor, VERSION_MAJOR);
    const source from = {__func__, &tensor->dl_tensor, (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0, tensor,
                         imported_release_versioned};
    return import_tensor(&from, out);
}
