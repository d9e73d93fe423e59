#include "operator/kernels/pad.h"

#include "operator/kernels/loop.h"

enum { COLUMNS = 512 }; /* of a row of the gradient that are added up at a time */

/* The element of in that element o of out along an axis is; -1: none, it is the constant. */
static int64_t source(const mxci_pad_shape *s, int axis, int64_t o) {
    int64_t i = o - s->before[axis], last = s->in[axis] - 1;
    if (i >= 0 && i <= last)
        return i;
    if (s->mode == MXCI_PAD_CONSTANT)
        return -1;
    if (s->mode == MXCI_PAD_EDGE)
        return i < 0 ? 0 : last;
    return i < 0 ? -i : 2 * last - i;
}

#define BODY "operator/kernels/pad.inc"
#include "operator/kernels/for_floats.inc"

const mxci_pad_fn mxci_pad_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_pad_fn mxci_pad_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
