/* The parameters of batch_params.def. */
#ifndef MXCI_IO_BATCH_PARAMS_H
#define MXCI_IO_BATCH_PARAMS_H

#include "io/rows_iter.h"

typedef struct mxci_batch_params {
    int64_t batch_size, prefetch_buffer, num_parts, part_index;
    int32_t round_batch, ctx;
} mxci_batch_params;

/* Batches of data and of one label, with prefetch. */
mxc_status mxci_batches_of_rows(const char *owner, const mxci_batch_params *params, const mxci_rows rows[2],
                                mxc_iter **out);

/* Elements of a sample of that shape. It becomes the tail of rows, but (1,) no axis at all if flat. MXC_EINVAL. */
mxc_status mxci_sample_shape(const char *owner, const char *name, const mxc_tuple *shape, int flat, mxci_rows *rows,
                             int64_t *width);

#endif
