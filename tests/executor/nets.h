/* SPDX-License-Identifier: Apache-2.0 */
/* Nets that the executor's tests bind, and small helpers to make, fill and read arrays. */
#ifndef MXC_TESTS_EXECUTOR_NETS_H
#define MXC_TESTS_EXECUTOR_NETS_H

#include "support.h"

#include <mxc/executor.h>

/* Symbols of which the caller has the only reference. Inputs are released. params: "kernel=(5,5) num_filter=20" or "".
 */
mxc_symbol *net_variable(const char *name);
mxc_symbol *net_on(const char *op, const char *name, const char *params, mxc_symbol *in);
mxc_symbol *net_on2(const char *op, const char *name, const char *params, mxc_symbol *a, mxc_symbol *b);

/* MXNet's LeNet for data (B,1,28,28), and a residual net of 20 layers for data (B,3,32,32); with softmax_label. */
mxc_symbol *net_lenet(void);
mxc_symbol *net_resnet20(void);
/* data (B,D), two hidden layers, softmax_label. */
mxc_symbol *net_mlp(int hidden, int classes);

mxc_shape net_shape(int ndim, int64_t a, int64_t b, int64_t c, int64_t d);
/* A mxc_bind_spec with these members. */
#define NET_SPEC(...) (&(mxc_bind_spec){.size = sizeof(mxc_bind_spec), __VA_ARGS__})
/* simple_bind of data and softmax_label by shapes; grads for everything else where train is set. */
mxc_executor *net_bind(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_shape *data, int train);
mxc_memory_report net_plan(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_shape *data, int train);

/* Pseudo-random numbers in [-1, 1), the same for a seed. */
double net_random(uint64_t *state);
/* Fill with numbers of [low, high); whole ones where step is 1, any where it is 0. */
void net_fill(mxc_ndarray *array, uint64_t seed, double low, double high);
void net_fill_labels(mxc_ndarray *array, int classes);
/* Parameters uniform, data uniform, labels whole numbers, for a net of this file. */
void net_fill_all(mxc_executor *executor, uint64_t seed, int classes);
/* Elements as double; free() it. */
double *net_read(mxc_ndarray *array);
/* The bytes, for comparison bit for bit; free() them. */
void *net_bytes(mxc_ndarray *array);
void assert_same_bits(mxc_ndarray *a, mxc_ndarray *b);

#endif
