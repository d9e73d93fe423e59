/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the operators that index and sort (take, pick, topk...), for C and GPU modules. Embedding has its own
 * header. */
#ifndef MXCI_OPERATOR_INDEX_INDEXING_H
#define MXCI_OPERATOR_INDEX_INDEXING_H

#include <mxc/param.h>

enum { MXCI_TAKE_RAISE, MXCI_TAKE_WRAP, MXCI_TAKE_CLIP };

typedef struct mxci_take_params {
    int64_t axis;
    int32_t mode;
} mxci_take_params;

typedef struct mxci_pick_params {
    int64_t axis;
    int32_t keepdims, mode; /* mode: not 0 to wrap */
} mxci_pick_params;

typedef struct mxci_one_hot_params {
    int64_t depth;
    double on_value, off_value;
    int32_t dtype;
} mxci_one_hot_params;

typedef struct mxci_sequence_params {
    int32_t use_sequence_length;
    double value;
    int64_t axis;
} mxci_sequence_params;

/* topk, sort, argsort */
enum { MXCI_TOPK_VALUE, MXCI_TOPK_INDICES, MXCI_TOPK_MASK, MXCI_TOPK_BOTH };

typedef struct mxci_topk_params {
    int64_t axis, k; /* k below 1: all */
    int32_t ret_typ, is_ascend, dtype;
} mxci_topk_params;

#endif
