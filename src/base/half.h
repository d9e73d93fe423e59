/* SPDX-License-Identifier: Apache-2.0 */
/* The library's names for the 16-bit formats of mxc/half.h. */
#ifndef MXCI_BASE_HALF_H
#define MXCI_BASE_HALF_H

#include <mxc/half.h>

typedef mxc_f16 mxci_f16;
typedef mxc_bf16 mxci_bf16;

#define mxci_f16_to_float mxc_f16_to_float
#define mxci_bf16_to_float mxc_bf16_to_float
#define mxci_float_to_f16 mxc_float_to_f16
#define mxci_float_to_bf16 mxc_float_to_bf16

#endif
