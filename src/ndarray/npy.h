/* SPDX-License-Identifier: Apache-2.0 */
/* numpy's .npy contents, shared by .npy files and the members of .npz files. */
#ifndef MXCI_NDARRAY_NPY_H
#define MXCI_NDARRAY_NPY_H

#include <mxc/ndarray.h>

#include "ndarray/byte_source.h"

#define MXCI_NPY_HEADER_MAX 320

/* What the header says. */
typedef struct mxci_npy_header {
    mxc_dtype dtype;
    int fortran;
    mxc_shape shape;
} mxci_npy_header;

/* Parse the header's text, which begins at byte 10 or 12 of source. MXC_EFORMAT, MXC_EUNSUPPORTED. */
mxc_status mxci_npy_parse(mxci_byte_source *source, int64_t at, const char *text, size_t length, mxci_npy_header *out);
/* Read the array that fills all of source, whose at is 0. */
mxc_status mxci_npy_read(mxci_byte_source *source, mxc_ndarray **out);
/* The bytes ahead of the array's data, a multiple of 64; returns how many. */
size_t mxci_npy_make_header(const mxc_ndarray *array, char out[MXCI_NPY_HEADER_MAX]);

#endif
