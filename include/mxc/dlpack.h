/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs of DLPack, for the exchange of arrays between libraries in one process, with the names of dlpack/dlpack.h
 * of the DMLC project: DLManagedTensor as in version 0.8, and DLManagedTensorVersioned as in version 1.0. A program
 * that uses that header includes it first; this header then declares only what that one lacks.
 */
#ifndef MXC_DLPACK_H
#define MXC_DLPACK_H

#include <mxc/ndarray.h>

#if !defined(DLPACK_DLPACK_H_) && !defined(DLPACK_VERSION) && !defined(DLPACK_MAJOR_VERSION)

typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;

typedef struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;

typedef struct DLDataType {
    uint8_t code; /* DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes; /* 1 but for vectors */
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;   /* @length ndim */
    int64_t *strides; /* in elements; NULL: dense in C order. @length ndim */
    uint64_t byte_offset;
} DLTensor;

/** A tensor with the function that frees it. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx; /* the producer's */
    /* Called once by the consumer; may be NULL. @thread any */
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#endif

#if !defined(DLPACK_MAJOR_VERSION)

/** The version of DLPack that a producer follows. A consumer that does not know major may only call the deleter. */
typedef struct {
    uint32_t major, minor;
} DLPackVersion;

#define DLPACK_FLAG_BITMASK_READ_ONLY 1UL /* the consumer must not write to the memory */
#define DLPACK_FLAG_BITMASK_IS_COPIED 2UL /* the memory is a copy that the producer made for the consumer */

/** A tensor with the function that frees it, the version of DLPack and flags. */
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx; /* the producer's */
    /* Called once by the consumer; may be NULL. @thread any */
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags; /* DLPACK_FLAG_BITMASK_... */
    DLTensor dl_tensor;
};

#endif

#endif
