/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain types shared by all modules: element types, contexts (where the memory of an array is), shapes, tensors. All
 * calls are thread-safe.
 */
#ifndef MXC_TYPES_H
#define MXC_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <mxc/status.h>

typedef enum mxc_dtype {
    MXC_DTYPE_UNKNOWN = -1,
#define MXC_DTYPE(name, flag, bytes, text) name = flag,
#include <mxc/dtype.def>
#undef MXC_DTYPE
    MXC_DTYPE_LIMIT = 13 /* one more than the largest flag */
} mxc_dtype;

/** Bytes of one element; 0 for a number that is not a dtype. */
MXC_API size_t mxc_dtype_size(mxc_dtype dtype);

/** "float32" and so on; "unknown" for a number that is not a dtype. Never NULL. */
MXC_API const char *mxc_dtype_name(mxc_dtype dtype);

/** The dtype of that name, such as "float32"; MXC_DTYPE_UNKNOWN if there is none. */
MXC_API mxc_dtype mxc_dtype_from_name(const char *name);

/** Sets of dtypes, as mxc_op_def.dtypes holds them. */
#define MXC_DTYPE_BIT(dtype) (1u << (dtype))
#define MXC_DTYPES_REAL (MXC_DTYPE_BIT(MXC_F32) | MXC_DTYPE_BIT(MXC_F64))
#define MXC_DTYPES_FLOAT (MXC_DTYPES_REAL | MXC_DTYPE_BIT(MXC_F16) | MXC_DTYPE_BIT(MXC_BF16))
#define MXC_DTYPES_INT (MXC_DTYPE_BIT(MXC_I8) | MXC_DTYPE_BIT(MXC_U8) | MXC_DTYPE_BIT(MXC_I32) | MXC_DTYPE_BIT(MXC_I64))
#define MXC_DTYPES_NUMBER (MXC_DTYPES_FLOAT | MXC_DTYPES_INT)
#define MXC_DTYPES_ALL (MXC_DTYPES_NUMBER | MXC_DTYPE_BIT(MXC_BOOL))

/** Kinds of devices; the numbers are those of MXNet's files. */
typedef enum mxc_device { MXC_CPU = 1, MXC_GPU = 2, MXC_CPU_PINNED = 3, MXC_DEVICE_LIMIT = 4 } mxc_device;

/**
 * Where the memory of an array is, and an operator runs. cpu(0), cpu(1)... are separate contexts on the same processor.
 *
 * Functions that take it by value have a second form, named ..._on, that takes its two members as numbers, for foreign
 * function interfaces that cannot pass structs.
 */
typedef struct mxc_context {
    int32_t device; /* mxc_device */
    int32_t id;     /* 0 to MXC_MAX_DEVICE_ID */
} mxc_context;

#define MXC_MAX_DEVICE_ID 63 /* greatest id of a context */

/** The context of a processor or a GPU. */
MXC_API mxc_context mxc_cpu(int id);
MXC_API mxc_context mxc_gpu(int id);
/** 1 if both name the same device. */
MXC_API int mxc_context_equal(mxc_context a, mxc_context b);
/** Parse "cpu(0)", "gpu(1)", "cpu_pinned(0)", "cpu" or "gpu". Status: MXC_EINVAL. */
MXC_API MXC_MUST_CHECK mxc_status mxc_context_parse(const char *text, mxc_context *out);
/** Write "cpu(0)" and the like to out, truncated to size bytes; returns out. */
MXC_API const char *mxc_context_format(mxc_context context, char *out, size_t size);
MXC_API const char *mxc_context_format_on(int device_type, int device_id, char *out, size_t size);
/** Number of devices of a kind; their ids count from 0. Status: MXC_EDEVICE, with the reason, if the library cannot
 * compute on this kind of device, for example because its GPU module is not found. May block at the first call. */
MXC_API MXC_MUST_CHECK mxc_status mxc_device_count(mxc_device device, int *out);

/** Maximum number of axes of an array. */
#define MXC_MAX_NDIM 8
/** Maximum number of elements of an array: in every dtype it has at most PTRDIFF_MAX / 2 bytes. */
#define MXC_MAX_ELEMENTS ((int64_t)(PTRDIFF_MAX / 2 / 8))

/**
 * The size of each axis, outermost first. ndim -1: the rank is unknown; dim[i] -1: that axis is unknown. ndim 0 is a
 * scalar (one element); a dim of 0 is valid and gives an array without elements.
 */
typedef struct mxc_shape {
    int32_t ndim;
    int64_t dim[MXC_MAX_NDIM];
} mxc_shape;

/** Bytes of the longest text that mxc_shape_format writes, with its terminator. */
#define MXC_SHAPE_TEXT 192

/** Fill a shape; dims may be NULL where ndim <= 0. Status: MXC_EINVAL (ndim below -1 or above MXC_MAX_NDIM, dim below
 *  -1, more than MXC_MAX_ELEMENTS elements, where unknown axes and those of 0 do not count), which leaves the shape
 *  unknown.
 *  @param[out] shape  the shape to fill in
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_shape_set(mxc_shape *shape, int ndim, const int64_t *dims);
/** Number of elements of a fully known shape; -1 if any part is unknown or there are INT64_MAX or more. */
MXC_API int64_t mxc_shape_size(const mxc_shape *shape);
/** 1 if no part is unknown. */
MXC_API int mxc_shape_known(const mxc_shape *shape);
/** 1 if both have the same axes. */
MXC_API int mxc_shape_equal(const mxc_shape *a, const mxc_shape *b);
/** Write "(2,3)", "(5,)", "()" or "?" for an unknown one, unknown axes as "?"; returns out. */
MXC_API const char *mxc_shape_format(const mxc_shape *shape, char *out, size_t size);

/**
 * What a kernel is given of an array: dense memory in C order. Borrowed for the call; data is NULL only if the shape
 * has no elements or the array was not requested.
 */
typedef struct mxc_tensor {
    void *data;
    mxc_dtype dtype;
    mxc_context context;
    mxc_shape shape;
} mxc_tensor;

/** What to do with a result. Every operator honours every request. */
typedef enum mxc_req {
    MXC_REQ_NULL = 0,    /* do not compute; data may be NULL */
    MXC_REQ_WRITE = 1,   /* overwrite */
    MXC_REQ_INPLACE = 2, /* overwrite memory that an input also occupies, as the descriptor's in-place option allows */
    MXC_REQ_ADD = 3      /* add to what is there */
} mxc_req;

#endif
