/* SPDX-License-Identifier: Apache-2.0 */
/* The records of .params files, shared by their reader, their writer and the sparse part of the reader. */
#ifndef MXCI_NDARRAY_PARAMS_FORMAT_H
#define MXCI_NDARRAY_PARAMS_FORMAT_H

#include <mxc/ndarray.h>

#include "ndarray/byte_source.h"

#define MXCI_PARAMS_LIST UINT64_C(0x112) /* first number of the file */
#define MXCI_PARAMS_V1 0xF993FAC8u       /* first number of a record; V0 has the number of axes there */
#define MXCI_PARAMS_V2 0xF993FAC9u
#define MXCI_PARAMS_V3 0xF993FACAu

enum { MXCI_DENSE = 0, MXCI_ROW_SPARSE = 1, MXCI_CSR = 2 };

typedef struct mxci_params_record {
    int64_t at;       /* offset in the file */
    uint32_t version; /* one of the above; 0: V0 */
    int32_t storage;  /* MXCI_DENSE... */
    int none;
    mxc_shape shape;  /* of the array */
    mxc_shape stored; /* of its data in the file, if sparse */
    mxc_dtype dtype;
    size_t bytes; /* of the array */
} mxci_params_record;

typedef struct mxci_params_reader {
    mxci_byte_source *source;
    uint64_t expanded; /* bytes of dense arrays made of sparse ones so far */
} mxci_params_reader;

/* Read numbers that say how large something is. what: for messages. */
mxc_status mxci_params_shape(mxci_byte_source *source, const char *what, int ndim_is_signed, mxc_shape *out);
mxc_status mxci_params_dtype(mxci_byte_source *source, const char *what, mxc_dtype *out);
/* Bytes of so many elements; MXC_EFORMAT if that overflows, also where an axis of size 0 hides it. */
mxc_status mxci_params_bytes(mxci_byte_source *source, int64_t at, const mxc_shape *shape, mxc_dtype dtype,
                             size_t *out);

/* Read the rest of a sparse record (from the types of its index arrays on) into a new dense array. */
mxc_status mxci_params_read_sparse(mxci_params_reader *reader, const mxci_params_record *record, mxc_ndarray **out);

#endif
