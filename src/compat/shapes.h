/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of shapes as MXNet's functions take them. */
#ifndef MXNET_SHAPES_H
#define MXNET_SHAPES_H

#include "compat/mxnet.h"

/** What a list of numbers is made of. */
typedef enum mxnet_number { MXNET_U32, MXNET_I32, MXNET_I64 } mxnet_number;

/** n shapes: shape i is dims[offsets[i]] to dims[offsets[i + 1] - 1]. */
typedef struct mxnet_shape_list {
    int64_t n;
    const void *offsets, *dims;
    mxnet_number offset_kind, dim_kind;
} mxnet_shape_list;

/** Read shapes into scratch memory (MXNET_SLOT_SCRATCH). */
int mxnet_shapes_read(const mxnet_shape_list *list, mxc_shape **out);

#endif
