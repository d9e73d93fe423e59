/* Cases of SequenceLast, SequenceMask, SequenceReverse, Crop, SVMOutput and LRN. */
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

/* ---- Crop -------------------------------------------------------------------------------------------------------- */

static void ref_crop(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    mxc_tuple offset = case_tuple(r, "offset");
    int center = case_is(r, "center_crop", "True");
    int64_t y = center ? (in[2] - out[2]) / 2 : offset.n ? offset.value[0] : 0;
    int64_t x = center ? (in[3] - out[3]) / 2 : offset.n ? offset.value[1] : 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t plane = i / (out[2] * out[3]), row = i / out[3] % out[2] + y, column = i % out[3] + x;
        r->out[0][i] = r->in[0][(plane * in[2] + row) * in[3] + column];
    }
}

/* ---- SVMOutput --------------------------------------------------------------------------------------------------- */

static void ref_svm(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void grad_svm(const op_run *r) {
    int64_t k = r->in_shape[0].dim[r->in_shape[0].ndim - 1];
    double margin = case_number(r, "margin", 1), factor = case_number(r, "regularization_coefficient", 1);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double sign = (double)(i % k) == r->in[1][i / k] ? 1 : -1, hinge = fmax(0, margin - sign * r->in[0][i]);
        r->in_grad[0][i] = -sign * factor * (case_is(r, "use_linear", "True") ? hinge > 0 : 2 * hinge);
    }
}

/* ---- LRN --------------------------------------------------------------------------------------------------------- */

static void ref_lrn(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, size = (int64_t)case_number(r, "nsize", 1);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t i = 0; i < case_size(s); i++) {
        int64_t c = i / inner % s->dim[1];
        double sum = 0;
        for (int64_t k = -(size / 2); k <= size / 2; k++)
            if (c + k >= 0 && c + k < s->dim[1])
                sum += r->in[0][i + k * inner] * r->in[0][i + k * inner];
        r->out[1][i] = case_number(r, "knorm", 2) + case_number(r, "alpha", 1e-4) / (double)size * sum;
        r->out[0][i] = r->in[0][i] * pow(r->out[1][i], -case_number(r, "beta", 0.75));
    }
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }
#define WITH(name, given, shapes, ref) \
    { .op = name, .params = "use_sequence_length=True " given, .in = shapes, .constant = 2, .reference = ref }
#define SVM(given, shapes) \
    { .op = "SVMOutput", .params = given, .in = shapes, .constant = 2, .reference = ref_svm, .gradient = grad_svm }

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

    ROUGH("Crop", "num_args=1 h_w=(2,3)",
          "2x3x4x5; 1x1x2x3; 7x1x2x4; 1x7x3x3; 1x1x2x65; 1x2x33x3; 2x0x4x5; 3x3x5x7; "
          "1x1x9x9; 17x1x2x3; 1x65x3x4; 2x2x2x3@-1:1nf",
          ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(2,3) offset=(1,2)", "2x3x4x5", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(3,2) center_crop=True", "1x2x6x7", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(4,5)", "2x1x4x5", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(1,1) offset=(3,4)", "1x1x4x5", ref_crop),
    ROUGH("Crop", "num_args=2", "2x3x4x5 2x1x2x3", ref_crop),
    ROUGH("Crop", "num_args=2 center_crop=True", "2x3x9x8 1x1x4x4", ref_crop),
    ROUGH("Crop", "num_args=2 offset=(1,1)", "2x3x40x50 1x7x33x47", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(2,3)", "0x3x4x5", ref_crop),
    FAILS("Crop", "num_args=1 h_w=(5,3)", "2x3x4x5", MXC_ESHAPE, "axis 2 of data has 4 elements"),
    FAILS("Crop", "num_args=1 h_w=(2,3) offset=(0,3)", "2x3x4x5", MXC_ESHAPE, "axis 3 of data has 5 elements"),
    FAILS("Crop", "num_args=1", "2x3x4x5", MXC_EINVAL, "h_w is (0,0)"),
    FAILS("Crop", "num_args=1 h_w=(2)", "2x3x4x5", MXC_EINVAL, "expected 2 each"),
    FAILS("Crop", "num_args=3 h_w=(2,2)", "2x3x4x5", MXC_EINVAL, "num_args"),
    FAILS("Crop", "h_w=(2,2)", "2x3x4x5", MXC_EINVAL, "\"num_args\" is missing"),
    FAILS("Crop", "num_args=1 h_w=(2,2)", "3x4x5", MXC_ESHAPE, "argument 'data'"),
    INFERS("Crop", "num_args=2", "?x3x8x9,?x?x4x5 -> 2x?x?x? => 2x3x8x9,?x?x4x5 -> 2x3x4x5"),

    SVM("", "4x5@-2:2 4@0:4i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 2x1x3 2x1@0:2i; 17x2 17@0:1i; "
            "33x5 33; 2x3x2x4 2x3x2@0:3i; "
            "1x1x9 1x1; 64x4 64@0:3i"),
    SVM("margin=0.5 regularization_coefficient=0.1", "7x3@-2:2 7@0:2i"),
    SVM("use_linear=True", "4x5@-2:2 4@0:4i"),
    SVM("use_linear=True margin=2 regularization_coefficient=3", "9x4@-3:3 9@0:3i"),
    SVM("", "1x1@-2:2 1@0:0"),
    SVM("", "6x11@-2:2 6@0:10i"),
    SVM("", "2x3x4@-2:2 2x3@0:3i"),
    SVM("", "3x1100@-2:2 3@0:1099i"),
    SVM("", "0x3 0"),
    SVM("", "3x0 3"),
    FAILS("SVMOutput", "", "3 3", MXC_ESHAPE, "expected at least 2 axes"),
    FAILS("SVMOutput", "", "4x5 5", MXC_ESHAPE, "argument 'label': expected shape (4,), found (5,)"),
    INFERS("SVMOutput", "", "?x3,4 -> ? => 4x3,4 -> 4x3"),

    ROUGH("LRN", "nsize=3", "2x5x3; 1x7; 7x1; 1x65; 2x1x3; 3x2x2x2; 1x3x1x2x3; 17x4; 2x33x2; 1x2x129; 2x5x9@-1:1nf",
          ref_lrn),
    ROUGH("LRN", "nsize=5 alpha=0.5 beta=0.6 knorm=1", "2x7x3x2", ref_lrn),
    ROUGH("LRN", "nsize=1 alpha=1", "3x4", ref_lrn),
    ROUGH("LRN", "nsize=3 alpha=2 beta=1 knorm=0.5", "1x1x5", ref_lrn),
    ROUGH("LRN", "nsize=9 alpha=0.9", "2x4x3", ref_lrn),
    ROUGH("LRN", "nsize=3 alpha=0.3", "1x3x23x31", ref_lrn),
    ROUGH("LRN", "nsize=5 alpha=0.3", "2x96x7x7", ref_lrn),
    ROUGH("LRN", "nsize=3", "1x1", ref_lrn),
    ROUGH("LRN", "nsize=3", "0x4x3", ref_lrn),
    ROUGH("LRN", "nsize=3", "2x4x0", ref_lrn),
    FAILS("LRN", "nsize=4", "2x5x3", MXC_EINVAL, "nsize is 4, expected an odd number"),
    FAILS("LRN", "", "2x5x3", MXC_EINVAL, "\"nsize\" is missing"),
    FAILS("LRN", "nsize=3", "5", MXC_ESHAPE, "expected at least 2 axes"),
    INFERS("LRN", "nsize=3", "2x? -> ?x3,? => 2x3 -> 2x3,2x3"),
};

MXC_CASES(sequence_cases, cases);
