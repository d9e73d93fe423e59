/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of the SimpleOps of this directory, one constant each: mxci_simple_<id>. */
#ifndef MXCI_SIMPLEOP_FAMILIES_H
#define MXCI_SIMPLEOP_FAMILIES_H

#include <mxc/simpleop.h>

#include "math/tile_kernels.h"

/* Options of functions that read an element before they write it. */
#define MXCI_ELEMWISE_INPLACE \
    .inplace_forward = MXC_SIMPLE_INPLACE_IN_OUT, .inplace_backward = MXC_SIMPLE_INPLACE_IN_OUT
#define MXCI_BINARY_INPLACE .inplace_forward = MXC_SIMPLE_INPLACE_BOTH, .inplace_backward = MXC_SIMPLE_INPLACE_BOTH

/* The output's shape of functions of two arrays that are broadcast to each other. Unlike the functions that programs
 * register it may be called with shapes of which only the rank is known, and leaves axes of -1. */
mxc_status mxci_broadcast_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out);

#define SIMPLE(symbol) extern const mxc_simple_def mxci_simple_##symbol;
#define UNARY(id, ...) SIMPLE(id)
#define ELEMWISE(symbol, ...) SIMPLE(symbol)
#define BROADCAST(symbol, ...) SIMPLE(symbol)
#define SCALAR(symbol, ...) SIMPLE(symbol)
#include "simpleop/binary_names.def"
#include "simpleop/simple_list.def"
#include "simpleop/unary.def"
#undef SIMPLE
#undef UNARY

#endif
