/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two passes of attention share: shapes, tiles, scores. Letters: H heads of all batches (the product of the
 * leading axes), L queries, S keys, D their width, V the values' width. A tile is ROWS queries by KEYS keys; tiles are
 * computed in f32 (f64 where data is f64), 16-bit rows are widened first.
 */
#ifndef MXCI_OPERATOR_NN_ATTENTION_H
#define MXCI_OPERATOR_NN_ATTENTION_H

#include "math/assign.h"
#include "math/strided_kernels.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/attention_kernels.h"

typedef struct mxci_attention_params {
    int32_t use_mask, causal;
    double scale;
} mxci_attention_params;

enum { MXCI_QUERY, MXCI_KEY, MXCI_VALUE, MXCI_MASK }; /* arguments */
enum { MXCI_ATTENDED, MXCI_LOG_SUM };                 /* outputs */
enum { MXCI_ATTENTION_ROWS = 128, MXCI_ATTENTION_KEYS = 256 };

typedef struct mxci_attention {
    const mxc_op_call *call;
    int64_t heads, queries, keys, width, values; /* H, L, S, D, V */
    mxc_dtype dtype, compute;
    size_t element; /* bytes of the compute type */
    double scale;
    int causal;
    int64_t causal_offset;     /* with causal, query i sees the keys up to i + causal_offset */
    mxci_strided mask_strides; /* by (H, L, S) */
    const mxci_attention_kernels *kernel;
    char *scratch;
} mxci_attention;

/* Queries by keys of one head. */
typedef struct mxci_attention_tile {
    int64_t head, query, n_queries, key, n_keys;
} mxci_attention_tile;

void mxci_attention_open(const mxc_op_call *call, mxci_attention *out);

/* Scratch for a copy in the compute type of rows of an array of this dtype: none where they are in it already. */
static inline void *mxci_attention_copy(mxci_scratch *s, mxc_dtype dtype, int64_t rows, int64_t columns) {
    mxc_dtype compute = mxci_compute_type(dtype);
    return mxci_scratch_array(s, dtype == compute ? 0 : mxci_dim_mul(rows, columns), mxc_dtype_size(compute));
}

/* Rows begin..begin+n-1 of a head of an argument or gradient (rows of `columns` elements, `count` in a head) in the
 * compute type: in place, or copied to buffer. */
const void *mxci_attention_rows(const mxci_attention *a, const mxc_tensor *t, int64_t head, int64_t count,
                                int64_t columns, int64_t begin, int64_t n, void *buffer);

/* C (m,n) = or += A (m,k) B (k,n) in the compute type. A is stored (k,m) where ta, B (n,k) where tb; rows of `lda`,
 * `ldb` and `ldc` elements. */
typedef struct mxci_attention_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int ta, tb, add;
} mxci_attention_product;
void mxci_attention_gemm(const mxci_attention *a, const mxci_attention_product *p);

/* How many of the tile's keys query number i of it may see. */
int64_t mxci_attention_visible(const mxci_attention *a, const mxci_attention_tile *t, int64_t i);
/* The mask's row for query i of the tile, as what is added to scores; NULL without mask. row: KEYS elements. */
const void *mxci_attention_bias(const mxci_attention *a, const mxci_attention_tile *t, int64_t i, void *row);

size_t mxci_attention_backward_bytes(const mxc_op_sig *sig);
mxc_status mxci_attention_backward(const mxc_op_call *call);

#endif
