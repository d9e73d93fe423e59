/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of iterators: the handle, and the table of iterators that are created by name. */
#ifndef MXCI_IO_ITER_H
#define MXCI_IO_ITER_H

#include <mxc/io.h>

struct mxc_iter {
    const mxc_iter_methods *methods;
    void *self;
};

/* An iterator that mxc_iter_create creates from keyword arguments. */
typedef struct mxci_iter_def {
    const char *name;
    const char *doc;
    const mxc_param *params;
    size_t param_size;
    mxc_status (*create)(const void *params, mxc_iter **out);
} mxci_iter_def;

/* inner with depth batches prepared ahead, or inner itself where depth is 0. Inner is taken over, also on failure. */
mxc_status mxci_iter_prefetched(mxc_iter *inner, int64_t depth, mxc_iter **out);

#define ITER(name) extern const mxci_iter_def mxci_iter_##name;
#include "io/iter_list.def"
#undef ITER

#endif
