/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways to bind share. */
#ifndef MXNET_SIMPLE_BIND_H
#define MXNET_SIMPLE_BIND_H

#include "compat/mxnet.h"

/** Defaults as front ends expect them. */
void mxnet_bind_options_set(mxc_bind_options *options);
/** Put device groups into options; *out holds their contexts and is freed with mxnet_free after binding. */
int mxnet_groups_read(uint32_t n, const char *const *names, const int *dev_types, const int *dev_ids,
                      mxc_bind_options *options, mxc_context **out);
/** Handles of the arrays that an executor is bound to. */
int mxnet_executor_return_arrays(const mxc_executor *executor, uint32_t *n_args, NDArrayHandle **args,
                                 NDArrayHandle **grads, uint32_t *n_aux, NDArrayHandle **aux);

#endif
