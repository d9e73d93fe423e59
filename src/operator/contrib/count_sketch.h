/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _contrib_count_sketch, for C and GPU modules. */
#ifndef MXCI_OPERATOR_CONTRIB_COUNT_SKETCH_H
#define MXCI_OPERATOR_CONTRIB_COUNT_SKETCH_H

#include <stdint.h>

typedef struct mxci_sketch_params {
    int64_t out_dim, processing_batch_size;
} mxci_sketch_params;

#endif
