/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs of DLPack 0.8, for the exchange of arrays between libraries in one process, with the names of
 * dlpack/dlpack.h of the DMLC project. A program that uses that header includes it first; this header then declares
 * nothing.
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
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: dense in C order */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;                             /* the producer's */
    void (*deleter)(struct DLManagedTensor *self); /* called once by the consumer; may be NULL */
} DLManagedTensor;

#endif

#endif
