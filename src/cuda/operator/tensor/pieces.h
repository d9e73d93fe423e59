/* Where a piece of an array that others stand beside along one axis has its elements. */
#ifndef MXCI_CUDA_OPERATOR_TENSOR_PIECES_H
#define MXCI_CUDA_OPERATOR_TENSOR_PIECES_H

#include "cuda/runtime/kernel.h"

/* Its rows of n elements in the whole's rows of row elements. */
struct mxcu_piece {
    int64_t offset, n, row;
    MXCU_DEVICE int64_t operator()(int64_t at) const {
        const int64_t outer = at / n;
        return outer * row + offset + (at - outer * n);
    }
};

/* outer: elements of the axes before the one; offset: elements of the pieces before in a row. A piece may lack the
 * axis. */
static inline mxcu_piece mxcu_piece_of(const mxc_tensor *whole, const mxc_tensor *piece, int64_t outer,
                                       int64_t offset) {
    return {offset, outer ? mxcu_size(piece) / outer : 0, outer ? mxcu_size(whole) / outer : 0};
}

#endif
