/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of where. */
#include "operator/cases.h"

static void ref_where(const op_run *r) {
    int64_t n = case_size(&r->out_shape[0]), inner = n ? n / case_size(&r->in_shape[0]) : 1;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][i / inner] != 0 ? r->in[1][i] : r->in[2][i];
}

#define WHERE(shapes) \
    { .op = "where", .in = shapes, .constant = 1, .reference = ref_where, .flags = CASE_ONE_OF_FORMS }

static const op_case cases[] = {
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
};

MXC_CASES(tensor_where_cases, cases);
