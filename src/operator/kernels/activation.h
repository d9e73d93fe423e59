/* Activation functions over dense arrays, tables by dtype (the floating ones). */
#ifndef MXCI_KERNELS_ACTIVATION_H
#define MXCI_KERNELS_ACTIVATION_H

#include <stdint.h>

#include <mxc/types.h>

enum {
    MXCI_ACT_RELU,
    MXCI_ACT_SIGMOID,
    MXCI_ACT_TANH,
    MXCI_ACT_SOFTRELU,
    MXCI_ACT_SOFTSIGN,
    MXCI_ACT_LOG_SIGMOID,
    MXCI_ACT_MISH
};

/* y = or += f(x). y may be x. */
typedef void (*mxci_activation_forward_fn)(int kind, int add, int64_t n, const void *x, void *y);
extern const mxci_activation_forward_fn mxci_activation_forward[MXC_DTYPE_LIMIT];

/* dx = or += dy f'(x), from y = f(x), of mish from x in its place. dx may be dy or y. */
typedef void (*mxci_activation_backward_fn)(int kind, int add, int64_t n, const void *dy, const void *y, void *dx);
extern const mxci_activation_backward_fn mxci_activation_backward[MXC_DTYPE_LIMIT];

#endif
