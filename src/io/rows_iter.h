/* Batches of rows of arrays in memory: what NDArrayIter and MNISTIter share. */
#ifndef MXCI_IO_ROWS_ITER_H
#define MXCI_IO_ROWS_ITER_H

#include <mxc/io.h>

/* One array of the batch. */
typedef struct mxci_rows {
    mxc_ndarray *array; /* (N, ...) on the host; retained by the iterator */
    const char *name;   /* copied */
    mxc_dtype dtype;    /* of the batch: that of array, or MXC_F32 from MXC_U8 */
    float scale;        /* MXC_U8 to MXC_F32: value = scale * byte */
    int n_tail;         /* row shape in the batch: n_tail sizes; -1: as in array */
    int64_t tail[MXC_MAX_NDIM];
} mxci_rows;

/* Data first, then labels. Status: MXC_EINVAL, MXC_ESHAPE, MXC_EDEVICE, MXC_ENOMEM. */
mxc_status mxci_rows_iter_create(const char *owner, const mxc_array_iter_options *options, int n_data, int n_label,
                                 const mxci_rows *rows, mxc_iter **out);

#endif
