/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling for float and double, of planes and along channels. */
#include "operator/nn/pooling_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "math/loop.h"

#define COLUMNS 512                  /* outputs of a row that are worked on at a time */
#define PHASE_MORE 8                 /* elements that a phase of their inputs has more, */
#define PHASE (COLUMNS + PHASE_MORE) /* and so all of them, with stride 2 */

/* Outputs *first..*last-1, within begin..end-1, whose window has its element k inside the row, not in the padding. */
static void outputs_inside(const mxci_pool_shape *s, int64_t k, int64_t begin, int64_t end, int64_t *first,
                           int64_t *last) {
    int64_t stride = s->stride[2], low = s->pad[2] - k, high = s->in[2] - 1 + s->pad[2] - k;
    *first = low > 0 ? (low + stride - 1) / stride : 0;
    *last = high >= 0 ? high / stride + 1 : 0;
    *first = *first > begin ? *first : begin;
    *last = *last < end ? *last : end;
}

/* Whether a row of outputs is computed output by output: of a window that is wider than the row, most positions are
 * outside, and there may be any number of them; one output, as in global pooling, is no loop. */
static int goes_by_output(const mxci_pool_shape *s, int64_t begin, int64_t end) {
    return s->kernel[2] > s->in[2] || end - begin == 1;
}

/* The windows of most networks, which have loops of their own: maxima of 2 x 2 elements, stride 2, none cut. */
static int is_2x2(const mxci_pool_shape *s) {
    const int64_t *k = s->kernel, *t = s->stride, *p = s->pad;
    return s->kind == MXCI_POOL_MAX && k[0] == 1 && k[1] == 2 && k[2] == 2 && t[0] == 1 && t[1] == 2 && t[2] == 2 &&
           p[0] == 0 && p[1] == 0 && p[2] == 0 && 2 * s->out[1] <= s->in[1] && 2 * s->out[2] <= s->in[2];
}

#define BODY "operator/nn/pooling_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

/* ---- channels last ----------------------------------------------------------------------------------------------- */

/* A window cut to the input. */
typedef struct box {
    int64_t begin[3], end[3];
} box;

static int is_empty(const box *b) {
    return b->begin[0] >= b->end[0] || b->begin[1] >= b->end[1] || b->begin[2] >= b->end[2];
}

#define BODY "operator/nn/pooling_last_kernels.inc"
#include "math/for_vectors.inc"
