/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of matrices for float and double. */
#include "math/triangle_kernels.h"

#define BODY "math/triangle_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_triangle_fn mxci_triangle_clear[MXC_F64 + 1] = {[MXC_F32] = clear_f32, [MXC_F64] = clear_f64};
const mxci_triangle_fn mxci_triangle_mirror[MXC_F64 + 1] = {[MXC_F32] = mirror_f32, [MXC_F64] = mirror_f64};
const mxci_packed_triangle_fn mxci_triangle_pack[MXC_F64 + 1] = {[MXC_F32] = pack_f32, [MXC_F64] = pack_f64};
const mxci_packed_triangle_fn mxci_triangle_unpack[MXC_F64 + 1] = {[MXC_F32] = unpack_f32, [MXC_F64] = unpack_f64};
