/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of CTCLoss, for C and GPU modules. */
#ifndef MXCI_OPERATOR_LOSS_CTC_LOSS_H
#define MXCI_OPERATOR_LOSS_CTC_LOSS_H

#include <stdint.h>

enum { MXCI_CTC_BLANK_FIRST, MXCI_CTC_BLANK_LAST };

typedef struct mxci_ctc_params {
    int32_t use_data_lengths, use_label_lengths, blank_label;
} mxci_ctc_params;

#endif
