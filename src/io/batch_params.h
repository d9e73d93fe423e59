/* The parameters of batch_params.def. */
#ifndef MXCI_IO_BATCH_PARAMS_H
#define MXCI_IO_BATCH_PARAMS_H

#include "io/text_reader.h"
#include "io/rows_iter.h"

typedef struct mxci_batch_params {
    int64_t batch_size, prefetch_buffer, num_parts, part_index;
    int32_t round_batch, bad_data, ctx;
} mxci_batch_params;

/* Batches of data and of one label, with prefetch. */
mxc_status mxci_batch_iter_create(const char *owner, const mxci_batch_params *params, const mxci_row_array rows[2],
                                  mxc_iter **out);

/* The lines of two files, of which paths[1] may be NULL, that cannot be read, if bad_data says to skip them: see
 * mxci_text_reader_find_bad_lines. To be freed with mxci_free(bad->is_bad), also on failure. A warning tells of them.
 */
mxc_status mxci_batch_find_bad_lines(const char *owner, const mxci_batch_params *params, const char *const paths[2],
                                     char separator,
                                     mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                     void *const args[2], mxci_bad_lines *bad);

/* Elements of a sample of that shape. It becomes the tail of rows, but (1,) no axis at all if flat. MXC_EINVAL. */
mxc_status mxci_batch_sample_shape(const char *owner, const char *name, const mxc_tuple *shape, int flat,
                                   mxci_row_array *rows, int64_t *width);

#endif
