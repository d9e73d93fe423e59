/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _pack_quantized_conv and _packed_quantized_conv whose parameters are refused. The size of a packed weight
 * depends on the processor; tests/operator/test_packed_quantized_conv.c has shapes that are refused, and compares
 * results with those of other operators. */
#include "operator/cases.h"

#define PACKED "_packed_quantized_conv"
#define NONE " 1 1 1 1"

static const op_case cases[] = {
    FAILS("_pack_quantized_conv", "kernel=() num_filter=5", "5x3x3x2", MXC_EINVAL, "kernel has 0 entries"),
    FAILS("_pack_quantized_conv", "kernel=(3,3) num_filter=5", "5x3x3x2", MXC_EDTYPE, "expected one of int8"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 out_type=int8", "2x7x9x4 100" NONE, MXC_EINVAL,
          "codes need min_calib_range"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 out_type=float32 codes_type=int8", "2x7x9x4 100" NONE,
          MXC_EINVAL, "codes need min_calib_range"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 slope=0", "2x7x9x4 100" NONE, MXC_EINVAL, "go with out_type"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 with_addend=1", "2x7x9x4 100" NONE " 1", MXC_EINVAL,
          "go with out_type"),
};

MXC_CASES(quantized_packed_quantized_conv_cases, cases);
