/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_op for the library's own layers: copies with other parameters, the descriptor's answers to graph passes,
 * parameters that change from step to step, and the block kept between calls. */
#ifndef MXCI_OPERATOR_OP_H
#define MXCI_OPERATOR_OP_H

#include <mxc/op.h>

/* custom/custom.c: mxc_op_create replaces it by the operator that op_type names. */
extern const mxc_op_def mxci_op_custom;

/* Of one operator; and how deep operators with subgraphs may be in subgraphs of others. Each level at least doubles the
 * time of inference, which runs over a subgraph once for shapes and once for types, so untrusted files need a limit. */
enum { MXCI_MAX_SUBGRAPHS = 3, MXCI_SUBGRAPH_DEPTH = 4 };

struct mxc_symbol;
/* mxc_op_create for a descriptor with n_subgraphs: its params_open finds the subgraphs at the beginning of params,
 * where it retains them. */
mxc_status mxci_op_create_with_subgraphs(const char *name, int n_params, const char *const *keys,
                                         const char *const *values, int n_subgraphs,
                                         struct mxc_symbol *const *subgraphs, mxc_op **out);
/* Subgraph number index, borrowed; NULL past the last. */
struct mxc_symbol *mxci_op_subgraph(const mxc_op *op, int index);

/* A new operator called `name` with the parameters of `of`, except that key has this value (value NULL: key is left
 * out; key NULL: all parameters are copied). MXC_ENOMEM, and mxc_op_create's errors. */
mxc_status mxci_op_like(const mxc_op *of, const char *name, const char *key, const char *value, mxc_op **out);

/* Properties that graph passes ask for: the members of mxc_op_def of these names, or 0 where the descriptor has none.
 */
int mxci_op_get_elementwise(const mxc_op *op, mxc_elementwise *out);
/* mxc_op_def.rectifier, and those known by their function, relu. */
int mxci_op_get_rectifier(const mxc_op *op, mxc_epilogue *out);
int mxci_op_get_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out);
/* For descriptors: the channels-last form of an operator along the axis or axes of images that the parameter key names,
 * 1. */
int mxci_axes_channels_last(const char *key, const mxc_tuple *axes, int ndim, mxc_channels_last *out);
int mxci_axis_channels_last(const char *key, int64_t axis, int ndim, mxc_channels_last *out);
int mxci_op_get_quantized(const mxc_op *op, mxc_quantized *out);
int mxci_op_get_linear(const mxc_op *op, mxc_linear *out);
int mxci_op_get_norm(const mxc_op *op, int ndim, mxc_norm *out);
/* In-place options of a pass, up to MXC_INPLACE_END; NULL: none. */
const mxc_inplace *mxci_op_get_inplace(const mxc_op *op, mxc_pass pass);

/* Change a MXC_PARAM_FLOATS parameter in place, for settings that change from step to step such as learning rates. Only
 * where the caller's reference is the only one, so that no queued run reads it: returns 0 otherwise, or if there is no
 * such parameter. The texts that mxc_op_given returns do not change. */
int mxci_op_set_floats(mxc_op *op, const char *name, const mxc_floats *value);

/* One block of memory that an operator keeps for its next call, so that repeated calls do not allocate. take: the
 * caller owns the block, NULL if there is none; keep: the operator owns it, and frees the one it had. Thread-safe. */
void *mxci_op_take_spare(mxc_op *op);
void mxci_op_keep_spare(mxc_op *op, void *block);

#endif
