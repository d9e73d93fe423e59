/* SPDX-License-Identifier: Apache-2.0 */
/* Matching a list of parameters with a network that is not bound yet, for the predictor. */
#ifndef MXCI_EXECUTOR_RUN_LOAD_PARAMS_H
#define MXCI_EXECUTOR_RUN_LOAD_PARAMS_H

#include <mxc/executor.h>

/* The parameters of a network as references called "arg:<argument>" and "aux:<state>", checked as by
 * mxc_executor_bind_params, except that labels of losses need neither a parameter nor to be named among the inputs.
 * inputs: its size and req are not looked at. */
mxc_status mxci_params_match(const mxc_symbol *symbol, const mxc_bind_spec *inputs, const mxc_ndarray_list *params,
                             unsigned flags, mxc_ndarray_list *out);
/* Name of the only argument that has no parameter, is not the label of a loss, and is none of n others. MXC_EINVAL
 * lists them if there is none or more than one. The caller frees it with mxci_free. */
mxc_status mxci_params_only_input(const mxc_symbol *symbol, const mxc_ndarray_list *params, int64_t n,
                                  const char *const *others, char **out);

#endif
