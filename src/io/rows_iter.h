/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of rows of arrays in memory: the common implementation of NDArrayIter, MNISTIter, CSVIter and LibSVMIter. */
#ifndef MXCI_IO_ROWS_ITER_H
#define MXCI_IO_ROWS_ITER_H

#include <mxc/io.h>

/* One array of the batch. */
typedef struct mxci_row_array {
    mxc_ndarray *array; /* (N, ...) on the host; retained by the iterator, as all arrays here */
    const char *name;   /* copied */
    mxc_dtype dtype;    /* of the batch: that of array, or MXC_F32 from MXC_U8 */
    float scale;        /* MXC_U8 to MXC_F32: value = scale * byte */
    int n_tail;         /* row shape in the batch: n_tail sizes; -1: as in array */
    int64_t tail[MXC_MAX_NDIM];
    /* Sparse rows in CSR form, or both NULL: row i has array[k] at element column[k] for begin[i] <= k < begin[i + 1],
     * and zeros elsewhere. */
    mxc_ndarray *begin;  /* (N + 1) int64, ascending, from 0 to the size of array, which has one axis */
    mxc_ndarray *column; /* int32, one for each element of array, inside the row */
} mxci_row_array;

/* Data first, then labels. Status: MXC_EINVAL, MXC_ESHAPE, MXC_EDEVICE, MXC_ENOMEM. */
mxc_status mxci_rows_iter_create(const char *owner, const mxc_array_iter_options *options, int n_data, int n_label,
                                 const mxci_row_array *rows, mxc_iter **out);

#endif
