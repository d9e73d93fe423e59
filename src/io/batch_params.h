/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that iterators with MXNet's names share (batch_params.def), and what follows from them. */
#ifndef MXCI_IO_BATCH_PARAMS_H
#define MXCI_IO_BATCH_PARAMS_H

#include "io/rows_iter.h"
#include "io/text_reader.h"

typedef struct mxci_batch_params {
    int64_t batch_size, prefetch_buffer, num_parts, part_index;
    int64_t seed;
    int32_t round_batch, bad_data, ctx, shuffle;
} mxci_batch_params;

enum { MXCI_TEXT_PATH = 4096 };

/* Parameters of iterators over text files. */
typedef struct mxci_text_params {
    char data[MXCI_TEXT_PATH], label[MXCI_TEXT_PATH]; /* paths; label "NULL": there is none */
    mxc_tuple data_shape, label_shape;
    int32_t dtype;
    mxci_batch_params batch;
} mxci_text_params;

/* The paths of data and labels (paths[1] is NULL without labels), and the number of elements of one sample of each,
 * whose shapes become the tails of rows. MXC_EINVAL. */
mxc_status mxci_text_params_resolve(const char *owner, const mxci_text_params *params, mxci_row_array rows[2],
                                    const char *paths[2], int64_t width[2]);

/* Batches of data and of one label, with prefetch. */
mxc_status mxci_batch_iter_create(const char *owner, const mxci_batch_params *params, const mxci_row_array rows[2],
                                  mxc_iter **out);

/* Find the lines of two files (paths[1] may be NULL) that cannot be read, if bad_data says to skip them; see
 * mxci_text_reader_find_bad_lines. A warning reports their number. The caller frees bad->is_bad, also on failure. */
mxc_status mxci_batch_find_bad_lines(const char *owner, const mxci_batch_params *params, const char *const *paths,
                                     mxci_text_format format,
                                     mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                     void *const args[2], mxci_bad_lines *bad);

/* Number of elements of a sample of that shape, which becomes the tail of rows; with flat, (1,) becomes a tail without
 * axes. MXC_EINVAL. */
mxc_status mxci_batch_sample_shape(const char *owner, const char *name, const mxc_tuple *shape, int flat,
                                   mxci_row_array *rows, int64_t *width);

#endif
