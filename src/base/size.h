/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on sizes that cannot wrap. What is too large to represent becomes the largest number that the type has and
 * stays that in further sums and products, so a computation is checked once, at its end: mxci_size_fits where memory is
 * requested, mxci_shape_fits where a shape becomes known. This holds for sums and products only: before a difference or
 * a quotient the operands must have been checked.
 *
 * Bytes are size_t. Axes and counts of elements are int64_t, where -1 stands for unknown, as in mxc_shape.
 *
 * In a header, and of plain types, because kernels and GPU modules measure their scratch with it too.
 */
#ifndef MXCI_BASE_SIZE_H
#define MXCI_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include <mxc/types.h>

/* Limit of the bytes of an array, scratch block or pool: differences of its addresses, and sums of two limits, do not
 * overflow. */
#define MXCI_SIZE_LIMIT ((size_t)PTRDIFF_MAX / 2)
/* Every block inside scratch memory or a pool starts at a multiple of this number of bytes, a cache line. */
#define MXCI_SIZE_ALIGN ((size_t)64)

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* a + b and a b, SIZE_MAX where they are larger. */
static inline size_t mxci_size_add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t mxci_size_mul(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* Rounded up to a multiple of MXCI_SIZE_ALIGN; SIZE_MAX where that is larger. */
static inline size_t mxci_size_align(size_t bytes) {
    return bytes > SIZE_MAX - MXCI_SIZE_ALIGN ? SIZE_MAX : (bytes + MXCI_SIZE_ALIGN - 1) & ~(MXCI_SIZE_ALIGN - 1);
}

/* Bytes of count elements; SIZE_MAX where the count is unknown or saturated. */
static inline size_t mxci_size_of(int64_t count, size_t element) {
    return count < 0 || count == INT64_MAX ? SIZE_MAX : mxci_size_mul((size_t)count, element);
}

/* 1 if a block of that size can be requested; 0 above MXCI_SIZE_LIMIT, which includes all sizes that saturated. */
static inline int mxci_size_fits(size_t bytes) {
    return bytes <= MXCI_SIZE_LIMIT;
}

/* ---- axes and elements ------------------------------------------------------------------------------------------- */

/* a + b and a b of axes or counts, INT64_MAX where they are larger; -1 where an operand is unknown. */
static inline int64_t mxci_dim_add(int64_t a, int64_t b) {
    int64_t sum;
    if (a < 0 || b < 0)
        return -1;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t mxci_dim_mul(int64_t a, int64_t b) {
    int64_t product;
    if (a < 0 || b < 0)
        return -1;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Product of axes begin..end-1: -1 if one is unknown, INT64_MAX if it is larger. */
static inline int64_t mxci_shape_count(const mxc_shape *shape, int begin, int end) {
    int64_t product = 1;
    for (int i = begin; i < end; i++)
        product = mxci_dim_mul(product, shape->dim[i]);
    return product;
}

/* Product of the axes that are known and not 0. */
static inline int64_t mxci_shape_extent(const mxc_shape *shape) {
    int64_t product = 1;
    for (int i = 0; i < shape->ndim; i++)
        product = shape->dim[i] > 0 ? mxci_dim_mul(product, shape->dim[i]) : product;
    return product;
}

/* 1 if the shape, as far as it is known, is not too large for memory. Axes of 0 are left out: beside them the others
 * could have any size, and the strides of such a shape would wrap. */
static inline int mxci_shape_fits(const mxc_shape *shape) {
    return mxci_shape_extent(shape) <= MXC_MAX_ELEMENTS;
}

/* Bytes of an array whose elements have element bytes; SIZE_MAX if the shape is not known or does not fit. */
static inline size_t mxci_shape_bytes(const mxc_shape *shape, size_t element) {
    int64_t count = shape->ndim < 0 ? -1 : mxci_shape_count(shape, 0, shape->ndim);
    return mxci_shape_fits(shape) ? mxci_size_of(count, element) : SIZE_MAX;
}

/* ---- blocks one behind the other --------------------------------------------------------------------------------- */

/*
 * Scratch memory, divided into aligned blocks. One function that takes the blocks serves twice: begun with a base of
 * NULL it measures, and bytes is the total in the end (SIZE_MAX if that overflows); begun with the memory it lays out.
 */
typedef struct mxci_scratch {
    char *base; /* NULL: measure only */
    size_t bytes;
} mxci_scratch;

/* Offset of the next block, of so many bytes. */
static inline size_t mxci_scratch_offset(mxci_scratch *s, size_t bytes) {
    size_t offset = s->bytes;
    s->bytes = mxci_size_add(offset, mxci_size_align(bytes));
    return offset;
}

/* The next block, of so many bytes; NULL while measuring. */
static inline void *mxci_scratch_take(mxci_scratch *s, size_t bytes) {
    size_t offset = mxci_scratch_offset(s, bytes);
    return s->base ? s->base + offset : NULL;
}

/* The same for count elements. */
static inline void *mxci_scratch_array(mxci_scratch *s, int64_t count, size_t element) {
    return mxci_scratch_take(s, mxci_size_of(count, element));
}

#endif
