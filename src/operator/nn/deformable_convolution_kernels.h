/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a convolution whose patches are read at positions that move; f32 and f64. */
#ifndef MXCI_OPERATOR_NN_DEFORMABLE_CONVOLUTION_KERNELS_H
#define MXCI_OPERATOR_NN_DEFORMABLE_CONVOLUTION_KERNELS_H

#include <stdint.h>

/* All of one sample: x (C,h,w), offset (groups, K, 2, P): how far element k of the patch at position p is moved down
 * and to the right, for C / groups channels each; columns (C, K, P). K elements of a patch, P positions. */
typedef struct mxci_deformable_shape {
    int64_t channels, groups, in[2], out[2];
    int64_t kernel[2], stride[2], dilate[2], pad[2];
    int add;         /* gradients are added to what is there */
    int zero_border; /* data is surrounded by zeros; otherwise it goes on below and to the right, up to its edge */
} mxci_deformable_shape;

/* columns, offset_grad, mask_grad: elements begin..end-1 of groups * K; data_grad: channels begin..end-1. g: columns'
 * gradient. mask (groups, K, P): factors of the elements of patches; NULL: 1. */
#define MXCI_DEFORMABLE_KERNELS(T, suffix)                                                                            \
    void mxci_deformable_columns_##suffix(const mxci_deformable_shape *s, const T *x, const T *offset, const T *mask, \
                                          T *columns, int64_t begin, int64_t end);                                    \
    void mxci_deformable_data_grad_##suffix(const mxci_deformable_shape *s, const T *offset, const T *mask,           \
                                            const T *g, T *dx, int64_t begin, int64_t end);                           \
    void mxci_deformable_offset_grad_##suffix(const mxci_deformable_shape *s, const T *x, const T *offset,            \
                                              const T *mask, const T *g, T *doffset, int64_t begin, int64_t end);     \
    void mxci_deformable_mask_grad_##suffix(const mxci_deformable_shape *s, const T *x, const T *offset, const T *g,  \
                                            T *dmask, int64_t begin, int64_t end);
MXCI_DEFORMABLE_KERNELS(float, f32)
MXCI_DEFORMABLE_KERNELS(double, f64)
#undef MXCI_DEFORMABLE_KERNELS

#endif
