/* Cases of operators that index: take, pick, batch_take. */
#include <math.h>

#include "operator/cases.h"

/* The whole part of an index as one of 0..size-1: the nearest, or modulo size. */
static int64_t place_of(const op_run *r, double index, int64_t size) {
    index = trunc(index);
    if (case_is(r, "mode", "wrap"))
        return (int64_t)(index - (double)size * floor(index / (double)size));
    return (int64_t)fmin(fmax(index, 0), (double)size - 1);
}

static int axis_of(const op_run *r, double initial) {
    int axis = (int)case_number(r, "axis", initial);
    return axis < 0 ? axis + r->in_shape[0].ndim : axis;
}

static int64_t count_from(const mxc_shape *s, int axis) {
    int64_t n = 1;
    for (int i = axis; i < s->ndim; i++)
        n *= s->dim[i];
    return n;
}

/* The element of in[0] that out's element i is. */
static int64_t source_of_take(const op_run *r, int64_t i) {
    const mxc_shape *a = &r->in_shape[0];
    int axis = axis_of(r, 0);
    int64_t inner = count_from(a, axis + 1), n = case_size(&r->in_shape[1]), size = a->dim[axis];
    return (i / inner / n * size + place_of(r, r->in[1][i / inner % n], size)) * inner + i % inner;
}

static int64_t source_of_pick(const op_run *r, int64_t i) {
    const mxc_shape *a = &r->in_shape[0];
    int axis = axis_of(r, -1);
    int64_t inner = count_from(a, axis + 1), size = a->dim[axis];
    return (i / inner * size + place_of(r, r->in[1][i], size)) * inner + i % inner;
}

static void select_by(const op_run *r, int64_t (*source)(const op_run *r, int64_t i)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][source(r, i)];
}

static void ref_take(const op_run *r) {
    select_by(r, source_of_take);
}

static void ref_pick(const op_run *r) {
    select_by(r, source_of_pick);
}

#define RUN(name, given, shapes, ref) {.op = name, .params = given, .in = shapes, .constant = 2, .reference = ref}
/* index with the axis */
#define PICK_KEPT(given, shapes) \
    {.op = "pick", .params = given, .in = shapes, .constant = 2, .reference = ref_pick, .flags = CASE_ONE_OF_FORMS}
#define FAILS(name, given, shapes, code, text) \
    {.op = name, .params = given, .in = shapes, .status = code, .error = text}
#define INFERS(name, given, text) {.op = name, .params = given, .infer = text}

static const op_case cases[] = {
    RUN("take", "", "5 4@0:4i", ref_take),
    RUN("take", "", "5x3 2x3@0:4i", ref_take),
    RUN("take", "", "5x3 s@3:3.5", ref_take),
    RUN("take", "", "4x7 9@-3:8i", ref_take), /* cut to the rows that there are */
    RUN("take", "mode=wrap", "4x7 12@-9:9i", ref_take),
    RUN("take", "mode=raise", "4x3 6@0:3i", ref_take),
    RUN("take", "axis=1", "3x5x2 4@0:4i", ref_take),
    RUN("take", "axis=-1", "3x5 2x2@0:4i", ref_take),
    RUN("take", "axis=1 mode=wrap", "2x3x2x2 7@-4:5i", ref_take),
    RUN("take", "axis=1", "1x1x1 1@0:0.5", ref_take),
    RUN("take", "", "30x130 3x50@0:29i", ref_take),
    RUN("take", "axis=1", "40x3x6 70@0:2i", ref_take),
    RUN("take", "", "3x600@-0.5:0.5 70@0:2i", ref_take),
    RUN("take", "", "5x3 0x2", ref_take),
    RUN("take", "axis=1", "0x3 4@0:2i", ref_take),
    FAILS("take", "axis=2", "5x3 4", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("take", "mode=none", "5x3 4", MXC_EINVAL, "mode"),
    FAILS("take", "", "0x3 2", MXC_ESHAPE, "argument 'a': axis 0 has no elements"),
    FAILS("take", "", "5x2x2x2x2x2x2x2 2x2", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("take", "axis=1", "2x3x?,4x? -> ?x?x5x6 => 2x3x6,4x5 -> 2x4x5x6"),

    RUN("pick", "", "5 1@0:4", ref_pick),
    RUN("pick", "", "5x4 5@0:3i", ref_pick),
    PICK_KEPT("axis=1", "5x4 5x1@0:3i"),
    RUN("pick", "axis=0", "5x4 4@0:4i", ref_pick),
    RUN("pick", "axis=1 keepdims=true", "3x5x4 3x4@0:4i", ref_pick),
    PICK_KEPT("axis=-2", "3x5x4 3x1x4@0:4i"),
    RUN("pick", "", "6x4 6@-3:7i", ref_pick),
    RUN("pick", "mode=wrap", "6x4 6@-9:9i", ref_pick),
    PICK_KEPT("axis=0 keepdims=true", "1x1 1x1@0:1"),
    RUN("pick", "axis=1", "60x3x50 60x50@0:2i", ref_pick),
    RUN("pick", "", "0x4 0", ref_pick),
    RUN("choose_element_0index", "", "7x9 7@0:8i", ref_pick),
    FAILS("pick", "axis=2", "5x3 5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("pick", "", "5x3 4", MXC_ESHAPE, "argument 'index': expected shape (5,), found (4,)"),
    FAILS("pick", "", "5x0 5", MXC_ESHAPE, "argument 'data': axis 1 has no elements"),
    INFERS("pick", "axis=1", "2x3x?,? -> ?x5 => 2x3x5,2x5 -> 2x5"),
    INFERS("pick", "axis=1 keepdims=true", "?x3x?,2x5 -> ? => 2x3x5,2x5 -> 2x1x5"),

    RUN("batch_take", "", "5x4 5@0:3i", ref_pick),
    RUN("batch_take", "", "1x1 1@0:1", ref_pick),
    RUN("batch_take", "", "1x9 1@4:5", ref_pick),
    RUN("batch_take", "", "7x3 7@-2:5i", ref_pick),
    RUN("batch_take", "", "3x700 3@0:699i", ref_pick),
    RUN("batch_take", "", "2000x3 2000@0:2i", ref_pick),
    RUN("batch_take", "", "9x1 9@0:3i", ref_pick),
    RUN("batch_take", "", "0x4 0", ref_pick),
    FAILS("batch_take", "", "5 5", MXC_ESHAPE, "argument 'a': expected shape"),
    FAILS("batch_take", "", "5x4 4", MXC_ESHAPE, "argument 'indices': expected shape (5,), found (4,)"),
    INFERS("batch_take", "", "?x3,? -> 5 => 5x3,5 -> 5"),
};

MXC_CASES(index_cases, cases);
