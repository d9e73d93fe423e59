/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of khatri_rao. */
#ifndef MXCI_OPERATOR_LINALG_KHATRI_RAO_H
#define MXCI_OPERATOR_LINALG_KHATRI_RAO_H

#include <stdint.h>

enum { MXCI_KHATRI_RAO_MOST = 32 }; /* arguments, which a GPU kernel takes by value */

typedef struct mxci_khatri_rao_params {
    int64_t num_args;
} mxci_khatri_rao_params;

#endif
