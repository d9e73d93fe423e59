/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _onehot_encode and one_hot. */
#include <math.h>

#include "operator/cases.h"

static void ref_one_hot(const op_run *r) {
    int64_t depth = r->out_shape[0].dim[r->out_shape[0].ndim - 1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = trunc(r->in[0][i / depth]) == (double)(i % depth) ? case_number(r, "on_value", 1)
                                                                         : case_number(r, "off_value", 0);
}

static void ref_onehot_encode(const op_run *r) {
    int64_t k = r->out_shape[0].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = trunc(r->in[0][i / k]) == (double)(i % k);
}

#define ONE_HOT(given, shapes) \
    { .op = "one_hot", .params = given, .in = shapes, .reference = ref_one_hot, .gradient = case_zero_gradient }
#define ENCODE(shapes) \
    { .op = "_onehot_encode", .in = shapes, .reference = ref_onehot_encode, .gradient = case_zero_gradient }

static const op_case cases[] = {
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
};

MXC_CASES(index_one_hot_cases, cases);
