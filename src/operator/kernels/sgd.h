/* Steps of stochastic gradient descent over plain arrays. */
#ifndef MXCI_OPERATOR_KERNELS_SGD_H
#define MXCI_OPERATOR_KERNELS_SGD_H

#include <stdint.h>

#include <mxc/types.h>

enum { MXCI_SGD_NONE, MXCI_SGD_WRITE, MXCI_SGD_ADD }; /* what happens to out */

typedef struct mxci_sgd {
    double lr, momentum, wd, rescale, clip;
    int out;
} mxci_sgd;

/* n elements; mom is NULL for the plain step; out may be weight. By dtype, floats only. */
typedef void (*mxci_sgd_fn)(const mxci_sgd *s, int64_t n, const void *weight, const void *grad, void *mom, void *out);
extern const mxci_sgd_fn mxci_sgd_kernels[MXC_DTYPE_LIMIT];

#endif
