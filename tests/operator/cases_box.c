/* Cases of operators that cut boxes out of arrays or replace them: slice with steps, slice_like, _slice_assign,
 * _crop_assign_scalar. slice without steps is in cases_shape.c. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* Places along one axis, as Python's slices name them. */
typedef struct places {
    int64_t n, at[2000];
} places;

static int64_t entry(const mxc_tuple *t, int axis, int64_t dim, int64_t initial) {
    if (axis >= t->n || t->value[axis] == MXC_PARAM_UNSET)
        return initial;
    return t->value[axis] < 0 ? t->value[axis] + dim : t->value[axis];
}

static places places_of(const op_run *r, int axis, int64_t dim) {
    mxc_tuple begins = case_tuple(r, "begin"), ends = case_tuple(r, "end"), steps = case_tuple(r, "step");
    int64_t step = axis < steps.n && steps.value[axis] != MXC_PARAM_UNSET ? steps.value[axis] : 1;
    int64_t begin = entry(&begins, axis, dim, step > 0 ? 0 : dim - 1);
    int64_t end = entry(&ends, axis, dim, step > 0 ? dim : -1);
    places p = {0};
    for (int64_t at = 0; at < dim; at++) { /* each place of the axis in the order of the step */
        int64_t place = step > 0 ? at : dim - 1 - at, from_begin = step > 0 ? place - begin : begin - place;
        int is_before_end = step > 0 ? place < end : place > end;
        int64_t first = step > 0 ? (begin < 0 ? 0 : begin) : (begin >= dim ? dim - 1 : begin);
        if (from_begin >= 0 && is_before_end && llabs(place - first) % llabs(step) == 0)
            p.at[p.n++] = place;
    }
    return p;
}

/* For each element of the box (up to limit of them) its element in the array; returns how many there are. */
static int64_t box_of(const op_run *r, const mxc_shape *array, int64_t *element) {
    int64_t n = case_size(array) > 0;
    element[0] = 0;
    for (int axis = 0; axis < array->ndim; axis++) {
        places p = places_of(r, axis, array->dim[axis]);
        for (int64_t i = n - 1; i >= 0; i--) /* from the last, so that nothing is overwritten too early */
            for (int64_t k = p.n - 1; k >= 0; k--)
                element[i * p.n + k] = element[i] * array->dim[axis] + p.at[k];
        n *= p.n;
    }
    return n;
}

static void ref_slice(const op_run *r) {
    int64_t *element = malloc(((size_t)case_size(&r->in_shape[0]) + 1) * sizeof *element);
    int64_t n = box_of(r, &r->in_shape[0], element);
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][element[i]];
    free(element);
}

/* rhs: NULL for the scalar */
static void assign(const op_run *r, const double *rhs) {
    int64_t size = case_size(&r->in_shape[0]), *element = malloc(((size_t)size + 1) * sizeof *element);
    int64_t n = box_of(r, &r->in_shape[0], element);
    double scalar = case_number(r, "scalar", 0);
    for (int64_t i = 0; i < size; i++)
        r->out[0][i] = r->in[0][i];
    for (int64_t i = 0; i < n; i++)
        r->out[0][element[i]] = rhs ? rhs[i] : scalar;
    free(element);
}

static void ref_assign(const op_run *r) {
    assign(r, r->in[1]);
}

static void ref_assign_scalar(const op_run *r) {
    assign(r, NULL);
}

/* Element i of out stands at the same indices in data. */
static void ref_slice_like(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0], *out = &r->out_shape[0];
    for (int64_t i = 0; i < case_size(out); i++) {
        int64_t rest = i, step = 1, element = 0;
        for (int axis = out->ndim - 1; axis >= 0; axis--) {
            element += rest % out->dim[axis] * step;
            rest /= out->dim[axis];
            step *= data->dim[axis];
        }
        r->out[0][i] = r->in[0][element];
    }
}

#define SLICE(given, shape) \
    { .op = "slice", .params = given, .in = shape, .reference = ref_slice }
#define LIKE(given, shapes) \
    { .op = "slice_like", .params = given, .in = shapes, .constant = 2, .reference = ref_slice_like }
#define ASSIGN(given, shapes) \
    { .op = "_slice_assign", .params = given, .in = shapes, .reference = ref_assign }
#define SCALAR(given, shape) \
    { .op = "_crop_assign_scalar", .params = given, .in = shape, .reference = ref_assign_scalar }

static const op_case cases[] = {
    SLICE("begin=(0,) end=(1,)", "1; 7x1; 1x7; 1x1; 5x9@-1:1nf"),
    SLICE("begin=(1,) end=(9,) step=(2,)", "10"),
    SLICE("begin=(None,) end=(None,) step=(-1,)", "7"),
    SLICE("begin=(5,) end=(1,) step=(-2,)", "8x3"),
    SLICE("begin=(None,None) end=(None,None) step=(2,-3)", "5x10"),
    SLICE("begin=(0,1,2) end=(None,None,-1) step=(3,None,2)", "7x4x9"),
    SLICE("begin=(20,) end=(-20,) step=(-4,)", "10x2"),
    SLICE("begin=(1,2) end=(2,3) step=(50,-7)", "4x6"),
    SLICE("begin=(2,) end=(3,) step=(1000000000000,)", "4x2"),
    SLICE("begin=() end=() step=(2,2,2)", "30x40x50"),
    SLICE("begin=(3,) end=(0,) step=(1,)", "5x2"),
    SLICE("begin=(None,) end=(None,) step=(-2,)", "0x3"),
    FAILS("slice", "begin=(0,) end=(1,) step=(0,)", "2x3", MXC_EINVAL, "slice: entry 0 of step is 0"),
    FAILS("slice", "begin=() end=() step=(1,1,1)", "2x3", MXC_ESHAPE, "begin, end and step name 0, 0 and 3 axes"),
    INFERS("slice", "begin=(None,None) end=(None,None) step=(-1,2)", "?x6 -> 4x? => ?x6 -> 4x3"),

    LIKE("", "5 3"),
    LIKE("", "4x6 2x3; 7 7; 7x1 1x1; 1x7 1x3; 65x3 2x3; 3x129 3x5; 2x3x4 1x2x3; 2x1x3x1x2 1x1x2x1x1; 0x3 0x2; "
             "4x6@-1:1nf 3x5; 33 17"),
    LIKE("", "4x6 4x6"),
    LIKE("axes=(1,)", "4x6 9x2"),
    LIKE("", "3x4x5 2x4"),
    LIKE("axes=(-1,0)", "5x2x6 3x9x4"),
    LIKE("", "4x6 0x3"),
    LIKE("axes=(0,)", "70x300 41"),
    LIKE("", "1x1 1x1"),
    LIKE("", "60x70x3 50x66x2"),
    FAILS("slice_like", "", "4x6 5x3", MXC_ESHAPE, "'shape_like': axis 0 has 5 elements, expected at most the 4"),
    FAILS("slice_like", "", "4 2x2", MXC_ESHAPE, "argument 'shape_like' has 2 axes, expected at most the 1 of data"),
    FAILS("slice_like", "axes=(2,)", "4x6 2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("slice_like", "axes=(1,)", "4x6 2", MXC_ESHAPE, "axis 1 is not in [-1, 1)"),
    INFERS("slice_like", "axes=(1,)", "4x?,?x3 -> ? => 4x?,?x3 -> 4x3"),
    INFERS("slice_like", "", "4x6,2x? -> ? => 4x6,2x? -> 2x?"),

    ASSIGN("begin=(1,) end=(4,)", "5 3"),
    ASSIGN("begin=(1,2) end=(3,5)", "4x6 2x3"),
    ASSIGN("begin=(0,0) end=(4,6)", "4x6 4x6"),
    ASSIGN("begin=(None,-2) end=(2,None)", "4x6 2x2"),
    ASSIGN("begin=(1,) end=(3,)", "4x2x3 2x2x3; 3 2; 7x1 2x1; 4x0 2x0; 65x3 2x3; 5x1x3x1x2 2x1x3x1x2; 3x129 2x129; "
                                  "4x9@-1:1nf 2x9@-1:1nf"),
    ASSIGN("begin=(2,0) end=(2,6)", "4x6 0x6"),
    ASSIGN("begin=(0,1) end=(None,None) step=(2,3)", "5x10 3x3"),
    ASSIGN("begin=(None,None) end=(None,None) step=(-1,-2)", "3x6 3x3"),
    ASSIGN("begin=(0,0,1) end=(2,3,3)", "2x3x4 2x3x2"),
    ASSIGN("begin=() end=()", "s s; 2x1x2x1x2x1x2x2 2x1x2x1x2x1x2x2"),
    ASSIGN("begin=(20,10) end=(60,200)", "80x300 40x190"),
    ASSIGN("begin=(0,) end=(0,)", "0x3 0x3"),
    ASSIGN("begin=(0,0) end=(1,1)", "1x1 1x1"),
    FAILS("_slice_assign", "begin=(1,) end=(4,)", "5 2", MXC_ESHAPE, "argument 'rhs': expected shape (3,), found (2,)"),
    FAILS("_crop_assign", "begin=(1,) end=(4,) step=(0,)", "5 3", MXC_EINVAL, "_slice_assign: entry 0 of step is 0"),
    FAILS("_slice_assign", "begin=(1,1) end=(2,2)", "5 1", MXC_ESHAPE, "expected at most the 1 of the array"),
    FAILS("_slice_assign", "begin=(1,1)", "5 1", MXC_EINVAL, "\"end\" is missing"),
    INFERS("_slice_assign", "begin=(1,) end=(3,)", "?,? -> 4x5 => 4x5,2x5 -> 4x5"),
    INFERS("_slice_assign", "begin=(1,) end=(3,)", "4x?,2x5 -> ? => 4x?,2x5 -> 4x?"),

    SCALAR("begin=(1,) end=(4,) scalar=3", "5"),
    SCALAR("begin=(1,2) end=(3,5)", "4x6"),
    SCALAR("begin=(0,0) end=(4,6) scalar=-2", "4x6"),
    SCALAR("begin=(None,-2) end=(2,None) scalar=1.5", "4x6"),
    SCALAR("begin=(1,) end=(3,) scalar=7", "4x2x3; 3; 7x1; 4x0; 65x3; 5x1x3x1x2; 3x129; 4x9@-1:1nf; 3x3; 1031"),
    SCALAR("begin=(2,0) end=(2,6) scalar=7", "4x6"),
    SCALAR("begin=(0,1) end=(None,None) step=(2,3) scalar=4", "5x10"),
    SCALAR("begin=(20,10) end=(60,1300) scalar=0.25", "80x2000"),
    SCALAR("begin=() end=() scalar=2", "s"),
    SCALAR("begin=(0,) end=(0,) scalar=2", "0x3"),
    SCALAR("begin=(0,) end=(1,) scalar=2", "1"),
    FAILS("_slice_assign_scalar", "begin=(1,1) end=(2,2)", "5", MXC_ESHAPE, "expected at most the 1 of the array"),
    FAILS("_crop_assign_scalar", "begin=(1,) end=(2,) scalar=x", "5", MXC_EINVAL, "scalar"),
    INFERS("_crop_assign_scalar", "begin=(1,) end=(3,)", "4x? -> ?x5 => 4x5 -> 4x5"),
};

MXC_CASES(box_cases, cases);
