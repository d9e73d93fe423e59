/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of SequenceLast, SequenceMask and SequenceReverse. */
#include <math.h>

#include "operator/cases.h"

/* ---- sequences --------------------------------------------------------------------------------------------------- */

typedef struct place {
    int64_t t, n, length, row; /* of an element of data; where its row begins in a (N,...) array is n row */
    int64_t at;                /* of the element in its row */
} place;

static int64_t element(const op_run *r, int64_t t, int64_t n, int64_t row, int64_t at) {
    int axis = (int)case_number(r, "axis", 0);
    return ((axis ? n * r->in_shape[0].dim[1] + t : t * r->in_shape[0].dim[1] + n)) * row + at;
}

static place place_of(const op_run *r, int64_t i) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", 0);
    place p = {.row = 1};
    for (int k = 2; k < s->ndim; k++)
        p.row *= s->dim[k];
    p.at = i % p.row;
    p.t = axis ? i / p.row % s->dim[1] : i / p.row / s->dim[1];
    p.n = axis ? i / p.row / s->dim[1] : i / p.row % s->dim[1];
    p.length = r->n_in > 1 ? (int64_t)fmax(0, fmin(r->in[1][p.n], (double)s->dim[axis])) : s->dim[axis];
    return p;
}

static void ref_last(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        place p = place_of(r, i);
        if (p.t == p.length - 1)
            r->out[0][p.n * p.row + p.at] = r->in[0][i];
    }
}

static void ref_mask(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        place p = place_of(r, i);
        r->out[0][i] = p.t < p.length ? r->in[0][i] : case_number(r, "value", 0);
    }
}

static void ref_reverse(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        place p = place_of(r, i);
        r->out[0][i] = r->in[0][p.t < p.length ? element(r, p.length - 1 - p.t, p.n, p.row, p.at) : i];
    }
}

/* ---- LRN --------------------------------------------------------------------------------------------------------- */

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }
#define WITH(name, given, shapes, ref) \
    { .op = name, .params = "use_sequence_length=True " given, .in = shapes, .constant = 2, .reference = ref }
#define SEQUENCE(name, ref)                                                                                           \
    ROUGH(name, "", "3x2x4; 7x1; 1x7; 65x2; 2x3x4x5; 17x1x3; 129x2; 3x2x9@-1:1nf", ref), ROUGH(name, "", "5x1", ref), \
        ROUGH(name, "axis=1", "2x3x2x2", ref), ROUGH(name, "", "1x1", ref), ROUGH(name, "", "3x0x2", ref),            \
        ROUGH(name, "", "3x2x0", ref), WITH(name, "", "3x2x4 2@1:3i", ref),                                           \
        WITH(name, "", "7x5 5@1:7i; 1x1 1; 9x2x3 2; 65x3 3", ref), WITH(name, "axis=1", "3x4x2 3@1:4i", ref),         \
        WITH(name, "", "4x3x700 3@0:5i", ref), WITH(name, "", "2x9x3x3 9@0:2i", ref),                                 \
        WITH(name, "axis=1", "6x1x3 6@0:1i", ref),                                                                    \
        FAILS(name, "", "3", MXC_ESHAPE, "expected at least 2 axes, found 1"),                                        \
        FAILS(name, "axis=2", "3x2x4", MXC_EINVAL, "axis"),                                                           \
        FAILS(name, "use_sequence_length=True", "3x2x4 3", MXC_ESHAPE,                                                \
              "argument 'sequence_length': expected shape (2,), found (3,)")

static const op_case cases[] = {
    SEQUENCE("SequenceLast", ref_last),
    INFERS("SequenceLast", "use_sequence_length=True", "3x?x4,2 -> ?x? => 3x2x4,2 -> 2x4"),
    INFERS("SequenceLast", "axis=1", "? -> 5x4 => 5x?x4 -> 5x4"),
    SEQUENCE("SequenceMask", ref_mask),
    WITH("SequenceMask", "value=-1.5", "4x3x2 3@0:4i", ref_mask),
    WITH("SequenceMask", "value=7 axis=1", "3x4x600 3@0:4i", ref_mask),
    INFERS("SequenceMask", "use_sequence_length=True", "3x?x4,2 -> ? => 3x2x4,2 -> 3x2x4"),
    SEQUENCE("SequenceReverse", ref_reverse),
    INFERS("SequenceReverse", "use_sequence_length=True axis=1", "?x3,? -> 2x? => 2x3,2 -> 2x3"),
};

MXC_CASES(nn_sequence_cases, cases);
