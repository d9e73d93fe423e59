/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse arrays of the adapter: dense ones that front ends have for sparse. */
#ifndef MXNET_SPARSE_H
#define MXNET_SPARSE_H

#include "compat/mxnet.h"

enum { MXNET_DENSE = 0, MXNET_ROW_SPARSE = 1, MXNET_CSR = 2 }; /* MXNet's numbers of storage types */

/** Set a part of a sparse array: -1 data, 0 and 1 indices. The array has its contents when all are set. */
int mxnet_sparse_set_part(mxnet_ndarray *to, mxc_ndarray *from, int i);
/** Copy the rows that indices names; the others become 0. */
int mxnet_sparse_retain(mxc_ndarray *from, mxc_ndarray *indices, mxc_ndarray *to);
/** The number of a storage type; -1: there is none of that name. */
int mxnet_storage_number(const char *name);
/** The storage type of what an operator makes of its inputs. */
int mxnet_storage_of_result(const mxnet_op *op, int n_in, NDArrayHandle const *inputs, int n, const char *const *keys,
                            const char *const *values);

enum { MXNET_MAX_UPDATED = 8 };
/** 1 for updates of a weight and its states that leave rows alone which the gradient, inputs[1], does not have. */
int mxnet_updates_rows(const mxnet_op *op, int n_in, NDArrayHandle const *inputs, int n, const char *const *keys,
                       const char *const *values);
/** Around such an update: copies of what it changes, from which those rows come back. The end takes the update's result
 *  and frees the copies. */
int mxnet_update_begin(int n_in, mxc_ndarray *const *in, mxc_ndarray **before);
int mxnet_update_end(int result, int n_in, mxc_ndarray *const *in, mxc_ndarray **before);

#endif
