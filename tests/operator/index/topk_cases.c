/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of topk, sort and argsort. NaNs come last; NaNs of either sign and signed zeros are in test_order.c. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

typedef struct item {
    double value;
    int64_t index;
} item;

/* NaNs last, equals by their indices. */
static int compare(const item *x, const item *y, double sign) {
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (!isnan(x->value) && x->value != y->value)
        return sign * x->value < sign * y->value ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int ascending(const void *a, const void *b) {
    return compare(a, b, 1);
}

static int descending(const void *a, const void *b) {
    return compare(a, b, -1);
}

/* Data as (outer, n, inner), ordered along n; k elements of each row come out. */
typedef struct rows {
    int64_t outer, n, k, inner;
    int (*compare)(const void *a, const void *b);
} rows;

static rows rows_of(const op_run *r, int is_ascend, int64_t k) {
    const mxc_shape *data = &r->in_shape[0];
    rows s = {.outer = 1, .n = case_size(data), .k = k, .inner = 1, .compare = is_ascend ? ascending : descending};
    int axis = (int)case_number(r, "axis", -1);
    axis += axis < 0 ? data->ndim : 0;
    if (!case_is(r, "axis", "None")) {
        s.n = data->dim[axis];
        for (int i = 0; i < data->ndim; i++)
            *(i < axis ? &s.outer : &s.inner) *= i == axis ? 1 : data->dim[i];
    }
    s.k = k >= 1 ? k : s.n;
    return s;
}

/* values, indices, mask: NULL where not wanted. source: for each value the element of data it is; or NULL. */
static void order(const op_run *r, rows s, double *values, double *indices, double *mask, int64_t *source) {
    item *items = malloc(((size_t)s.n + 1) * sizeof *items);
    for (int64_t o = 0; o < s.outer; o++)
        for (int64_t i = 0; i < s.inner; i++) {
            for (int64_t j = 0; j < s.n; j++)
                items[j] = (item){r->in[0][(o * s.n + j) * s.inner + i], j};
            qsort(items, (size_t)s.n, sizeof *items, s.compare);
            for (int64_t j = 0; j < s.k; j++) {
                int64_t to = (o * s.k + j) * s.inner + i, from = (o * s.n + items[j].index) * s.inner + i;
                if (values)
                    values[to] = items[j].value;
                if (indices)
                    indices[to] = (double)items[j].index;
                if (mask)
                    mask[from] = 1;
                if (source)
                    source[to] = from;
            }
        }
    free(items);
}

static rows topk_rows(const op_run *r) {
    return rows_of(r, (int)case_number(r, "is_ascend", 0), (int64_t)case_number(r, "k", 1));
}

static rows sort_rows(const op_run *r) {
    return rows_of(r, (int)case_number(r, "is_ascend", 1), 0);
}

static void ref_topk(const op_run *r) {
    if (case_is(r, "ret_typ", "mask"))
        order(r, topk_rows(r), NULL, NULL, r->out[0], NULL);
    else if (case_is(r, "ret_typ", "value") || case_is(r, "ret_typ", "both"))
        order(r, topk_rows(r), r->out[0], r->out[1], NULL, NULL);
    else
        order(r, topk_rows(r), NULL, r->out[0], NULL, NULL);
}

static void ref_sort(const op_run *r) {
    order(r, sort_rows(r), r->out[0], r->out[1], NULL, NULL);
}

static void ref_argsort(const op_run *r) {
    order(r, sort_rows(r), NULL, r->out[0], NULL, NULL);
}

/* Each value's gradient to its element, in whatever order equals stand. */
static void grad_values(const op_run *r, rows s) {
    int64_t n = case_size(&r->out_shape[0]), *source = malloc(((size_t)n + 1) * sizeof *source);
    order(r, s, NULL, NULL, NULL, source);
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][source[i]] = r->out_grad[0][i];
    free(source);
}

static void grad_topk(const op_run *r) {
    if (case_is(r, "ret_typ", "value") || case_is(r, "ret_typ", "both"))
        grad_values(r, topk_rows(r));
}

static void grad_sort(const op_run *r) {
    grad_values(r, sort_rows(r));
}

#define TOPK(given, shape) \
    { .op = "topk", .params = given, .in = shape, .reference = ref_topk, .gradient = grad_topk }
#define SORT(given, shape) \
    { .op = "sort", .params = given, .in = shape, .reference = ref_sort, .gradient = grad_sort }
#define ARGSORT(given, shape) \
    { .op = "argsort", .params = given, .in = shape, .reference = ref_argsort, .gradient = case_zero_gradient }
/* gradient by differences: no equals */
#define SMOOTH(name, given, shape, ref) \
    { .op = name, .params = given, .in = shape, .reference = ref, .flags = CASE_FLOAT_ONLY }

static const op_case cases[] = {
    TOPK("", "7"),
    TOPK("", "1"),
    TOPK("k=3; k=3 ret_typ=value axis=0; k=2 ret_typ=mask is_ascend=true", "4x9; 5x9@-1:1nf"),
    TOPK("k=3 is_ascend=true", "4x9"),
    TOPK("k=9", "4x9@0:3i"),
    TOPK("k=2 axis=0", "5x3"),
    TOPK("k=2 axis=1", "3x5x4@0:4i"),
    TOPK("k=0", "3x6"),
    TOPK("k=-1 axis=1", "3x6x2"),
    TOPK("k=4 axis=None", "3x5@0:6i"),
    TOPK("k=3 dtype=int32", "2x8"),
    TOPK("k=3 dtype=int64 axis=0", "8x2"),
    TOPK("k=2 dtype=uint8", "3x200"),
    TOPK("k=2 dtype=float16", "3x40"),
    TOPK("k=2 dtype=float64", "3x40"),
    TOPK("k=20", "2x700"),
    TOPK("k=40 is_ascend=true", "2x700@0:30i"),
    TOPK("k=600", "1x700"),
    TOPK("k=2", "3000x4"),
    TOPK("k=2", "0x4"),
    TOPK("k=0", "3x0"),
    TOPK("k=65", "2x65@0:9i"),
    TOPK("k=3", "2x25"),
    TOPK("k=3", "2x24"),
    TOPK("k=3 ret_typ=mask", "4x9@0:5i"),
    TOPK("k=2 ret_typ=mask axis=1", "2x5x3"),
    TOPK("ret_typ=mask", "1x1"),
    TOPK("k=4 ret_typ=mask axis=None is_ascend=true", "3x5"),
    TOPK("k=30 ret_typ=mask", "2x900"),
    TOPK("k=0 ret_typ=mask", "2x5"),
    TOPK("ret_typ=mask", "0x5"),
    TOPK("k=3 ret_typ=value", "4x9@0:5i"),
    TOPK("k=2 ret_typ=value axis=0", "5x3"),
    TOPK("ret_typ=value", "1"),
    TOPK("k=4 ret_typ=value axis=None", "3x5"),
    TOPK("k=60 ret_typ=value", "3x900"),
    TOPK("k=2 ret_typ=value", "0x9"),
    TOPK("k=3 ret_typ=both", "4x9@0:5i"),
    TOPK("k=2 ret_typ=both axis=1 is_ascend=1", "3x5x2"),
    TOPK("k=4 ret_typ=both axis=None dtype=int32", "3x5"),
    TOPK("k=0 ret_typ=both axis=0", "6x40"),
    SMOOTH("topk", "k=3 ret_typ=value", "4x9", ref_topk),
    SMOOTH("topk", "k=2 ret_typ=value axis=0", "5x3", ref_topk),
    SMOOTH("topk", "k=4 ret_typ=value axis=None", "3x5", ref_topk),
    SMOOTH("topk", "k=2 ret_typ=value axis=1 is_ascend=true", "2x5x3", ref_topk),
    FAILS("topk", "k=6", "3x5", MXC_ESHAPE, "k is 6, expected at most the 5 elements of a row"),
    FAILS("topk", "k=16 axis=None", "3x5", MXC_ESHAPE, "k is 16, expected at most the 15 elements"),
    FAILS("topk", "axis=2", "3x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("topk", "", "3x0", MXC_ESHAPE, "k is 1, expected at most the 0 elements"),
    FAILS("topk", "dtype=uint8", "3x257", MXC_ESHAPE, "dtype uint8 cannot hold the indices of a row of 257 elements"),
    FAILS("topk", "ret_typ=all", "3x5", MXC_EINVAL, "ret_typ"),
    INFERS("topk", "k=2", "3x5 -> ? => 3x5 -> 3x2"),
    INFERS("topk", "k=2 ret_typ=value axis=1", "?x5x4 -> 3x?x?,? => 3x5x4 -> 3x2x4,3x2x4"),
    INFERS("topk", "k=2 ret_typ=mask", "? -> 3x5 => 3x5 -> 3x5"),
    INFERS("topk", "k=0 axis=0", "? -> 3x5 => 3x5 -> 3x5"),
    INFERS("topk", "k=3 axis=None ret_typ=both", "? -> ?,? => ? -> 3,3"),

    SORT("", "7; 2; 17x1; 0; 3x129; 2x1x2x3x1x2; 5x9@-1:1nf"),
    SORT("", "1"),
    SORT("", "4x9@0:4i"),
    SORT("is_ascend=false", "4x9@0:4i"),
    SORT("axis=0", "30x5"),
    SORT("axis=1", "3x8x4"),
    SORT("axis=None", "3x5"),
    SORT("axis=None is_ascend=0", "2x3x5@-2:3i"),
    SORT("", "0x4"),
    SORT("", "4x0"),
    SORT("", "2x2000"),
    SORT("axis=0 is_ascend=false", "600x2@0:90i"),
    SORT("", "3x1"),
    SORT("", "64"),
    SORT("", "65"),
    SORT("", "1x5000@-3e4:3e4"),
    SMOOTH("sort", "", "4x9", ref_sort),
    SMOOTH("sort", "axis=0 is_ascend=false", "5x3", ref_sort),
    SMOOTH("sort", "axis=None", "3x5", ref_sort),
    FAILS("sort", "axis=-3", "3x5", MXC_ESHAPE, "axis -3 is not in [-2, 2)"),
    FAILS("sort", "k=2", "3x5", MXC_EINVAL, "k"),
    INFERS("sort", "", "?x5 -> 3x?,? => 3x5 -> 3x5,3x5"),
    INFERS("sort", "axis=None", "3x5 -> ?,? => 3x5 -> 15,15"),

    ARGSORT("", "7; 2; 65; 1x1; 17x1; 1x17; 0; 3x129; 2x3x4; 2x1x2x3x1x2; 5x9@-1:1nf"),
    ARGSORT("", "1"),
    ARGSORT("", "4x9@0:4i"),
    ARGSORT("is_ascend=false", "4x9@0:4i"),
    ARGSORT("axis=0", "30x5"),
    ARGSORT("axis=1 dtype=int32", "3x8x4"),
    ARGSORT("axis=None", "3x5@0:2i"),
    ARGSORT("", "0x4"),
    ARGSORT("", "4x0"),
    ARGSORT("dtype=float64", "2x2000"),
    ARGSORT("dtype=int64", "4x100@-2:2i"),
    FAILS("argsort", "dtype=float16", "2x2049", MXC_ESHAPE, "dtype float16 cannot hold the indices"),
    FAILS("argsort", "axis=1", "5", MXC_ESHAPE, "axis 1 is not in [-1, 1)"),
    INFERS("argsort", "axis=1", "3x? -> ?x5 => 3x5 -> 3x5"),
};

MXC_CASES(index_topk_cases, cases);
