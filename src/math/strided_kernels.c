/* SPDX-License-Identifier: Apache-2.0 */
/* Strided iteration: cursors, gathering and scatter-add. */
#include "math/strided_kernels.h"

#include <string.h>

#include "base/simd.h"
#include "math/loop.h"

/* ---- cursors ---------------------------------------------------------------------------------------------------- */

/* From the last axis to the first; axes of size 0 have no elements, but their cursor is defined. */
void mxci_cursor_seek(const mxci_strided *s, int64_t index, mxci_cursor *out) {
    out->offset = 0;
    for (int i = s->n - 1; i >= 0; i--) {
        out->index[i] = s->dim[i] ? index % s->dim[i] : 0;
        index = s->dim[i] ? index / s->dim[i] : 0;
        out->offset += out->index[i] * s->step[i];
    }
}

int64_t mxci_cursor_run(const mxci_strided *s, const mxci_cursor *cursor, int64_t n) {
    int64_t rest = s->dim[s->n - 1] - cursor->index[s->n - 1];
    return rest < n ? rest : n;
}

/* Carries over to outer axes, and goes back along the axis that is done. */
void mxci_cursor_advance(const mxci_strided *s, mxci_cursor *cursor, int64_t run) {
    int axis = s->n - 1;
    cursor->index[axis] += run;
    cursor->offset += run * s->step[axis];
    while (axis > 0 && cursor->index[axis] == s->dim[axis]) {
        cursor->offset += s->step[axis - 1] - s->dim[axis] * s->step[axis];
        cursor->index[axis--] = 0;
        cursor->index[axis]++;
    }
}

/* ---- gathering -------------------------------------------------------------------------------------------------- */

#define SQUARE 16
#define V mxci_v_u8
#define TRANSPOSE mxci_transpose_u8
#define T uint8_t
#define NAME(f) f##_1
#include "math/strided_kernels.inc"

#define SQUARE 8
#define V mxci_v_u16
#define TRANSPOSE mxci_transpose_u16
#define T uint16_t
#define NAME(f) f##_2
#include "math/strided_kernels.inc"

#define SQUARE 8
#define V mxci_v_f32
#define TRANSPOSE mxci_transpose_f32
#define T uint32_t
#define NAME(f) f##_4
#include "math/strided_kernels.inc"

#define SQUARE 4
#define V mxci_v_f64
#define TRANSPOSE mxci_transpose_f64
#define T uint64_t
#define NAME(f) f##_8
#include "math/strided_kernels.inc"

void mxci_gather(const mxci_strided *s, size_t element, const void *from, int64_t begin, int64_t n, void *to) {
    switch (element) {
    case 1:
        gather_1(s, from, begin, n, to);
        break;
    case 2:
        gather_2(s, from, begin, n, to);
        break;
    case 4:
        gather_4(s, from, begin, n, to);
        break;
    default:
        gather_8(s, from, begin, n, to);
    }
}

void mxci_gather_block(const mxci_strided *s, size_t element, const void *from, int64_t to_step, void *to) {
    switch (element) {
    case 1:
        gather_block_1(s, from, to_step, to);
        break;
    case 2:
        gather_block_2(s, from, to_step, to);
        break;
    case 4:
        gather_block_4(s, from, to_step, to);
        break;
    default:
        gather_block_8(s, from, to_step, to);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Rows of at least as many bytes as the constant `width`, by pieces of these, the last of which may overlap the one
 * before. */
MXCI_INLINE void copy_pieces(const size_t width, int64_t n, size_t bytes, const char *from, int64_t from_step, char *to,
                             int64_t to_step) {
    for (int64_t i = 0; i < n; i++, from += from_step, to += to_step) {
        for (size_t at = 0; at + width < bytes; at += width)
            memcpy(to + at, from + at, width);
        memcpy(to + bytes - width, from + bytes - width, width);
    }
}

/* Short rows without a call for each. */
void mxci_copy_rows(int64_t n, size_t bytes, const void *from, int64_t from_step, void *to, int64_t to_step) {
    enum { LONG = 1024 };
    if (bytes > LONG)
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)to + i * to_step, (const char *)from + i * from_step, bytes);
    else if (bytes >= 32)
        copy_pieces(32, n, bytes, from, from_step, to, to_step);
    else if (bytes >= 16)
        copy_pieces(16, n, bytes, from, from_step, to, to_step);
    else if (bytes >= 8)
        copy_pieces(8, n, bytes, from, from_step, to, to_step);
    else if (bytes >= 4)
        copy_pieces(4, n, bytes, from, from_step, to, to_step);
    else if (bytes > 0)
        copy_pieces(1, n, bytes, from, from_step, to, to_step);
}

/* ---- adding up -------------------------------------------------------------------------------------------------- */

#define BODY "math/scatter_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
