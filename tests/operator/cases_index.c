/* Cases of operators that index: take, pick, batch_take, gather_nd, scatter_nd, one_hot, _onehot_encode,
 * fill_element_0index, where, softmax_cross_entropy. */
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

static void ref_one_hot(const op_run *r) {
    int64_t depth = r->out_shape[0].dim[r->out_shape[0].ndim - 1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = trunc(r->in[0][i / depth]) == (double)(i % depth) ? case_number(r, "on_value", 1)
                                                                         : case_number(r, "off_value", 0);
}

/* Where slice i of those that the columns of indices name begins in an array of this shape. */
static int64_t named_slice(const op_run *r, const mxc_shape *array, int64_t i) {
    int64_t m = r->in_shape[1].dim[0], n = count_from(&r->in_shape[1], 1), place = 0;
    for (int axis = 0; axis < m; axis++) {
        int64_t index = (int64_t)r->in[1][axis * n + i];
        place = place * array->dim[axis] + (index < 0 ? index + array->dim[axis] : index);
    }
    return place * count_from(array, (int)m);
}

static void ref_gather_nd(const op_run *r) {
    int64_t length = count_from(&r->in_shape[0], (int)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][named_slice(r, &r->in_shape[0], i / length) + i % length];
}

/* Slices that are named twice add up. */
static void ref_scatter_nd(const op_run *r) {
    int64_t length = count_from(&r->out_shape[0], (int)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][named_slice(r, &r->out_shape[0], i / length) + i % length] += r->in[0][i];
}

static void ref_onehot_encode(const op_run *r) {
    int64_t k = r->out_shape[0].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = trunc(r->in[0][i / k]) == (double)(i % k);
}

static void ref_fill_element(const op_run *r) {
    int64_t k = r->in_shape[0].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = place_of(r, r->in[2][i / k], k) == i % k ? r->in[1][i / k] : r->in[0][i];
}

static void ref_where(const op_run *r) {
    int64_t n = case_size(&r->out_shape[0]), inner = n ? n / case_size(&r->in_shape[0]) : 1;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][i / inner] != 0 ? r->in[1][i] : r->in[2][i];
}

static void ref_cross_entropy(const op_run *r) {
    int64_t k = r->in_shape[0].dim[1];
    for (int64_t i = 0; i < r->in_shape[0].dim[0]; i++) {
        const double *x = r->in[0] + i * k;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < k; j++)
            most = fmax(most, x[j]);
        for (int64_t j = 0; j < k; j++)
            sum += exp(x[j] - most);
        r->out[0][0] += log(sum) + most - x[place_of(r, r->in[1][i], k)];
    }
}

#define INDEXED(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .constant = 2, .reference = ref }
#define WHERE(shapes) \
    { .op = "where", .in = shapes, .constant = 1, .reference = ref_where, .flags = CASE_ONE_OF_FORMS }
#define CROSS_ENTROPY(shapes) \
    { .op = "softmax_cross_entropy", .in = shapes, .constant = 2, .reference = ref_cross_entropy, .tolerance = 4 }
#define ONE_HOT(given, shapes) \
    { .op = "one_hot", .params = given, .in = shapes, .reference = ref_one_hot, .gradient = case_zero_gradient }
#define ENCODE(shapes) \
    { .op = "_onehot_encode", .in = shapes, .reference = ref_onehot_encode, .gradient = case_zero_gradient }
/* index with the axis */
#define PICK_KEPT(given, shapes) \
    { .op = "pick", .params = given, .in = shapes, .constant = 2, .reference = ref_pick, .flags = CASE_ONE_OF_FORMS }

static const op_case cases[] = {
    INDEXED("take", "", "5 4@0:4i", ref_take),
    INDEXED("take", "", "5x3 2x3@0:4i; 5 7; 1x3 1; 5x1 7; 5x0 3; 5x2x3 2x1x2; 65x2 s; 5 0; 5x3@-1:1nf 4", ref_take),
    INDEXED("take", "", "5x3 s@3:3.5", ref_take),
    INDEXED("take", "", "4x7 9@-3:8i", ref_take), /* cut to the rows that there are */
    INDEXED("take", "mode=wrap", "4x7 12@-9:9i", ref_take),
    INDEXED("take", "mode=raise", "4x3 6@0:3i", ref_take),
    INDEXED("take", "axis=1", "3x5x2 4@0:4i", ref_take),
    INDEXED("take", "axis=-1", "3x5 2x2@0:4i", ref_take),
    INDEXED("take", "axis=1 mode=wrap", "2x3x2x2 7@-4:5i", ref_take),
    INDEXED("take", "axis=1", "1x1x1 1@0:0.5", ref_take),
    INDEXED("take", "", "30x130 3x50@0:29i", ref_take),
    INDEXED("take", "axis=1", "40x3x6 70@0:2i", ref_take),
    INDEXED("take", "", "3x600@-0.5:0.5 70@0:2i", ref_take),
    INDEXED("take", "", "5x3 0x2", ref_take),
    INDEXED("take", "axis=1", "0x3 4@0:2i", ref_take),
    FAILS("take", "axis=2", "5x3 4", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("take", "mode=none", "5x3 4", MXC_EINVAL, "mode"),
    FAILS("take", "", "0x3 2", MXC_ESHAPE, "argument 'a': axis 0 has no elements"),
    FAILS("take", "", "5x2x2x2x2x2x2x2 2x2", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("take", "axis=1", "2x3x?,4x? -> ?x?x5x6 => 2x3x6,4x5 -> 2x4x5x6"),

    INDEXED("pick", "", "5 1@0:4", ref_pick),
    INDEXED("pick", "", "5x4 5@0:3i", ref_pick),
    PICK_KEPT("axis=1", "5x4 5x1@0:3i"),
    INDEXED("pick", "axis=0", "5x4 4@0:4i", ref_pick),
    INDEXED("pick", "axis=1 keepdims=true", "3x5x4 3x4@0:4i", ref_pick),
    PICK_KEPT("axis=-2", "3x5x4 3x1x4@0:4i"),
    INDEXED("pick", "",
            "6x4 6@-3:7i; 7x1 7; 1x7 1; 65x3 65; 2x3x4 2x3; 3x1x2x5 3x1x2; 3x129 3; 17x2 17; 5x9@-1:1nf 5; "
            "0x3 0",
            ref_pick),
    INDEXED("pick", "mode=wrap", "6x4 6@-9:9i", ref_pick),
    PICK_KEPT("axis=0 keepdims=true", "1x1 1x1@0:1"),
    INDEXED("pick", "axis=1", "60x3x50 60x50@0:2i", ref_pick),
    INDEXED("pick", "", "0x4 0", ref_pick),
    INDEXED("choose_element_0index", "", "7x9 7@0:8i", ref_pick),
    FAILS("pick", "axis=2", "5x3 5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("pick", "", "5x3 4", MXC_ESHAPE, "argument 'index': expected shape (5,), found (4,)"),
    FAILS("pick", "", "5x0 5", MXC_ESHAPE, "argument 'data': axis 1 has no elements"),
    INFERS("pick", "axis=1", "2x3x?,? -> ?x5 => 2x3x5,2x5 -> 2x5"),
    INFERS("pick", "axis=1 keepdims=true", "?x3x?,2x5 -> ? => 2x3x5,2x5 -> 2x1x5"),

    INDEXED("batch_take", "",
            "5x4 5@0:3i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 3x129 3; 17x2 17@0:1i; "
            "33x5 33; 2x2 2@0:1i; 64x4 64; 5x9@-1:1nf 5; 0x3 0; 1x2 1@0:1i; 9x6 9@0:5i",
            ref_pick),
    INDEXED("batch_take", "", "1x1 1@0:0", ref_pick),
    INDEXED("batch_take", "", "1x9 1@4:5i", ref_pick),
    INDEXED("batch_take", "", "7x3 7@0:2i", ref_pick),
    INDEXED("batch_take", "", "3x700 3@0:699i", ref_pick),
    INDEXED("batch_take", "", "2000x3 2000@0:2i", ref_pick),
    INDEXED("batch_take", "", "0x4 0", ref_pick),
    FAILS("batch_take", "", "5 5", MXC_ESHAPE, "argument 'a': expected shape"),
    FAILS("batch_take", "", "5x4 4", MXC_ESHAPE, "argument 'indices': expected shape (5,), found (4,)"),
    INFERS("batch_take", "", "?x3,? -> 5 => 5x3,5 -> 5"),

    INDEXED("gather_nd", "", "5 1x4@0:4i", ref_gather_nd),
    INDEXED("gather_nd", "",
            "5x3 1x4@0:4i; 5 1x1; 5x1 1x7; 5x0 1x2; 65x3 1x5; 5x2x3 1x2x3; 5x2 1x0; 7x1x2x3 1x9; "
            "129x2 1x3; 5x3@-1:1nf 1x4",
            ref_gather_nd),
    INDEXED("gather_nd", "", "5x3 2x9@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "4x3x5 2x2x3@-3:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "4x3x5 3@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "1x1 2x1@0:0.1", ref_gather_nd),
    INDEXED("gather_nd", "", "40x30x7 2x700@-30:29i", ref_gather_nd),
    INDEXED("gather_nd", "", "3x700 1x50@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "5x3 2x0", ref_gather_nd),
    INDEXED("gather_nd", "", "5x0 1x3@0:4i", ref_gather_nd),
    INDEXED("gather_nd", "", "2x2x2x2 4x3x2@0:1i", ref_gather_nd),
    FAILS("gather_nd", "", "5x3 3x4", MXC_ESHAPE, "argument 'indices': has 3 places in axis 0, expected at most the 2"),
    FAILS("gather_nd", "", "5x0 2x3", MXC_ESHAPE, "axis 1, which indices name places in, has no elements"),
    FAILS("gather_nd", "", "5x3 s", MXC_ESHAPE, "argument 'indices' has no axes"),
    FAILS("gather_nd", "", "2x2x2x2x2x2x2x2 1x1x1", MXC_ESHAPE, "would have 9 axes"),
    INFERS("gather_nd", "", "?x3x?,1x4 -> ?x?x6 => ?x3x6,1x4 -> 4x3x6"),
    INFERS("gather_nd", "", "5x3x?,2x? -> 4x6 => 5x3x6,2x4 -> 4x6"),

    INDEXED("scatter_nd", "shape=(5,)", "4 1x4@0:4i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)",
            "4x3 1x4@0:4i; 1x3 1x1; 7x3 1x7; 0x3 1x0; 2x3x3 1x2x3; 65x3 1x65; "
            "1x1x3 1x1x1; "
            "3 1; 17x3 1x17; 2x1x2x3 1x2x1x2; 33x3 1x33; 4x3@-1:1nf 1x4",
            ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)", "9 2x9@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(4,3,5)", "2x3x5 2x2x3@-3:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(4,3,5)", "s 3@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(1,1)", "1 2x1@0:0.1", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(40,30,7)", "700x7 2x700@-30:29i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(3,700)", "50x700 1x50@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)", "0 2x0", ref_scatter_nd),
    FAILS("scatter_nd", "shape=(5,3)", "4x2 1x4", MXC_ESHAPE, "argument 'data': expected shape (4,3), found (4,2)"),
    FAILS("scatter_nd", "shape=(5,)", "4 2x4", MXC_ESHAPE, "argument 'indices': has 2 places in axis 0"),
    FAILS("scatter_nd", "", "4 1x4", MXC_EINVAL, "\"shape\" is missing"),
    FAILS("scatter_nd", "shape=(1,1,1,1,1,1,1,1,1)", "4 1x4", MXC_ESHAPE, "9 axes"),
    INFERS("scatter_nd", "shape=(5,3)", "4x?,1x? -> ? => 4x3,1x4 -> 5x3"),

    ENCODE("4@0:4i 4x5; 1 1x1; 7 7x1; 1 1x7; 65 65x3; 0 0x3; 17 17x9; 33 33x2; 3 3x129; 64 64x5; 2 2x2; 129 129x3; "
           "5 5x65"),
    ENCODE("4@0:4i 4x2"),
    ENCODE("1@0:0.5 1x1"),
    ENCODE("9@-4:6i 9x4"),
    ENCODE("30@0:120i 30x700"),
    ENCODE("9000@0:2i 9000x3"),
    ENCODE("0 0x3"),
    ENCODE("3 3x0"),
    FAILS("_onehot_encode", "", "4 5x3", MXC_ESHAPE, "argument 'rhs': expected shape (4,?), found (5,3)"),
    FAILS("_onehot_encode", "", "4x2 4x3", MXC_ESHAPE, "argument 'lhs': expected shape"),
    INFERS("_onehot_encode", "", "?,? -> 4x3 => 4,4x3 -> 4x3"),

    ONE_HOT("depth=5", "4@0:4i"),
    ONE_HOT("depth=3", "2x3@0:2i; 1; 7; 0; 1x1; 7x1; 2x3x2; 65; 2x1x3x1x2"),
    ONE_HOT("depth=4", "9@-4:6i"), /* outside: off */
    ONE_HOT("depth=4 on_value=3 off_value=-2", "7@0:3i"),
    ONE_HOT("depth=4 dtype=int32", "2x2@0:3i"),
    ONE_HOT("depth=4 dtype=uint8", "5@0:3i"),
    ONE_HOT("depth=4 dtype=float64 on_value=0.5", "5@0:3i"),
    ONE_HOT("depth=4 dtype=float16", "5@0:3i"),
    ONE_HOT("depth=700", "30@0:120i"),
    ONE_HOT("depth=3", "9000@0:2i"),
    ONE_HOT("depth=1", "s@0:0.5"),
    ONE_HOT("depth=3", "0x2"),
    ONE_HOT("depth=0", "3"),
    FAILS("one_hot", "", "3", MXC_EINVAL, "\"depth\" is missing"),
    FAILS("one_hot", "depth=-1", "3", MXC_EINVAL, "depth"),
    FAILS("one_hot", "depth=3", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("one_hot", "depth=3", "? -> 2x4x? => 2x4 -> 2x4x3"),

    INDEXED("fill_element_0index", "",
            "5x4 5 5@0:3i; 7x1 7 7@0:0; 1x7 1 1; 65x3 65 65@0:2i; 129x2 129 129@0:1i; "
            "3x129 3 3; 17x2 17 17@0:1i; 33x5 33 33; 2x2 2 2@0:1i; 64x4 64 64; "
            "5x9@-1:1nf 5@-1:1nf 5; 0x3 0 0; 1x2 1 1@0:1i; 9x6 9 9@0:5i",
            ref_fill_element),
    INDEXED("fill_element_0index", "", "1x1 1 1@0:0", ref_fill_element),
    INDEXED("fill_element_0index", "", "7x3 7 7@0:2i", ref_fill_element),
    INDEXED("fill_element_0index", "", "3x700 3 3@0:699i", ref_fill_element),
    INDEXED("fill_element_0index", "", "9000x3 9000 9000@0:2i", ref_fill_element),
    INDEXED("fill_element_0index", "", "1x9 1 1@3:4i", ref_fill_element),
    INDEXED("fill_element_0index", "", "0x4 0 0", ref_fill_element),
    FAILS("fill_element_0index", "", "5x4 4 5", MXC_ESHAPE, "argument 'mhs': expected shape (5,), found (4,)"),
    FAILS("fill_element_0index", "", "5x0 5 5", MXC_ESHAPE, "argument 'lhs': axis 1 has no elements"),
    INFERS("fill_element_0index", "", "?x3,5,? -> ? => 5x3,5,5 -> 5x3"),

    WHERE("5@0:1i 5 5"),
    WHERE("3x4@0:1i 3x4 3x4; 1x1 1x1 1x1; 7 7x1 7x1; 7x1 7x1 7x1; 65 65 65; 2x3x4 2x3x4 2x3x4; 0 0 0; "
          "17 17x3x2 17x3x2; 1x129 1x129 1x129; 5x9 5x9@-1:1nf 5x9@-1:1nf; 5x9@-1:1nf 5x9 5x9"),
    WHERE("3@0:1i 3x4 3x4"),
    WHERE("2x3x4@-1:1i 2x3x4 2x3x4"),
    WHERE("4@-1:1i 4x1x2 4x1x2"),
    WHERE("1@0:1i 1 1"),
    WHERE("s@0:1i s s"),
    WHERE("20@0:1i 20x700 20x700"),
    WHERE("9000@0:1i 9000x3 9000x3"),
    WHERE("30x700@0:1i 30x700 30x700"),
    WHERE("0 0x3 0x3"),
    WHERE("3 3x0 3x0"),
    FAILS("where", "", "4 3x4 3x4", MXC_ESHAPE, "expected shape"),
    FAILS("where", "", "3x4 3x4 3x5", MXC_ESHAPE, "argument 'y': expected shape (3,4), found (3,5)"),
    FAILS("where", "", "3x4 3x4x5 3x4x5", MXC_ESHAPE, "argument 'condition': expected shape (3,)"),
    INFERS("where", "", "2x?,?,?x3 -> ? => 2x3,2x3,2x3 -> 2x3"),
    INFERS("where", "", "2,?,?x3 -> ? => 2,2x3,2x3 -> 2x3"),

    CROSS_ENTROPY("3x4@-2:2 3@0:3i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 3x129 3; 17x2 17@0:1i; 33x5 33; "
                  "2x2 2@0:1i; 64x4 64; 0x9 0; 1x2 1@0:1i; 5x9@-2:2nf 5; 9x6 9@0:5i; 6x11 6"),
    CROSS_ENTROPY("1x1 1@0:0.5"),
    CROSS_ENTROPY("1x9@-9:9 1@4:5"),
    CROSS_ENTROPY("2x700@-4:4 2@0:699i"),
    CROSS_ENTROPY("40x110@-4:4 40@0:109i"),
    CROSS_ENTROPY("0x3 0"),
    FAILS("softmax_cross_entropy", "", "3x4 4", MXC_ESHAPE, "argument 'label': expected shape (3,), found (4,)"),
    FAILS("softmax_cross_entropy", "", "3x0 3", MXC_ESHAPE, "argument 'data': axis 1 has no elements"),
    FAILS("softmax_cross_entropy", "", "3 3", MXC_ESHAPE, "argument 'data': expected shape"),
    INFERS("softmax_cross_entropy", "", "?x4,5 -> ? => 5x4,5 -> 1"),
};

MXC_CASES(index_cases, cases);
