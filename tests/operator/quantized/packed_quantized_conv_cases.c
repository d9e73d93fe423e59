/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _pack_quantized_conv and _packed_quantized_conv that fail. The size of a packed weight depends on the
 * processor; tests/operator/test_packed_quantized_conv.c compares results with those of other operators. */
#include "operator/cases.h"

#define PACKED "_packed_quantized_conv"
#define NONE " 1 1 1 1"

static const op_case cases[] = {
    FAILS("_pack_quantized_conv", "kernel=(3,3) num_filter=6", "5x3x3x2", MXC_ESHAPE, "argument 'weight'"),
    FAILS("_pack_quantized_conv", "kernel=(3,3) num_filter=5", "5x3x3x0", MXC_ESHAPE, "0 channels"),
    FAILS("_pack_quantized_conv", "kernel=() num_filter=5", "5x3x3x2", MXC_EINVAL, "kernel"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1", "2x7x9x2 100" NONE, MXC_ESHAPE, "argument 'weight'"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1", "2x7x9x0 100" NONE, MXC_ESHAPE, "0 channels"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1", "2x2x9x4 100" NONE, MXC_ESHAPE, "fewer than"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6", "2x7x9x4 100 5 1 1 1 1 1 1", MXC_ESHAPE, "argument 'bias'"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 out_type=int8", "2x7x9x4 100" NONE, MXC_EINVAL,
          "codes need min_calib_range"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 out_type=float32 codes_type=int8", "2x7x9x4 100" NONE,
          MXC_EINVAL, "codes need min_calib_range"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 slope=0", "2x7x9x4 100" NONE, MXC_EINVAL, "go with out_type"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 with_addend=1", "2x7x9x4 100" NONE " 1", MXC_EINVAL,
          "go with out_type"),
    FAILS(PACKED, "kernel=(3,3) num_filter=6 no_bias=1 out_type=float32 with_addend=1", "2x7x9x4 100" NONE " 2x5x7x5",
          MXC_ESHAPE, "addend"),
    /* hostile sizes: taps, rows and padding that overflow when multiplied */
    FAILS(PACKED,
          "kernel=(2147483647,2147483647,2147483647) pad=(1073741823,1073741823,1073741823) num_filter=2 no_bias=1",
          "1x1x1x1x1 2" NONE, MXC_ESHAPE, "argument 'weight'"),
    FAILS(PACKED, "kernel=(1,2147483647) pad=(0,2147483647) num_filter=100000 no_bias=1", "1x1x1x16 2" NONE, MXC_ESHAPE,
          "argument 'weight'"),
    FAILS("_pack_quantized_conv", "kernel=(1,3) num_filter=1", "1x1x3x3000000000000000000", MXC_ESHAPE, ""),
};

MXC_CASES(quantized_packed_quantized_conv_cases, cases);
