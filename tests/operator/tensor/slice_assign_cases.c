/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _slice_assign and _slice_assign_scalar. */
#include <stdlib.h>

#include "operator/tensor/tensor_reference.h"

/* rhs: NULL for the scalar */
static void assign(const op_run *r, const double *rhs) {
    int64_t size = case_size(&r->in_shape[0]), *element = malloc(((size_t)size + 1) * sizeof *element);
    int64_t n = case_slice_elements(r, &r->in_shape[0], element);
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

#define ASSIGN(given, shapes) \
    { .op = "_slice_assign", .params = given, .in = shapes, .reference = ref_assign }
#define SCALAR(given, shape) \
    { .op = "_crop_assign_scalar", .params = given, .in = shape, .reference = ref_assign_scalar }

static const op_case cases[] = {
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

MXC_CASES(tensor_slice_assign_cases, cases);
