/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Concat and _rnn_param_concat. */
#include "operator/cases.h"

static void ref_concat(const op_run *r) {
    int ndim = r->out_shape[0].ndim, axis = (int)case_number(r, "dim", 1);
    int64_t outer = 1, inner = 1, at = 0;
    axis = axis < 0 ? axis + ndim : axis;
    for (int i = 0; i < ndim; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : r->out_shape[0].dim[i];
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < r->n_in; i++) {
            int64_t row = r->in_shape[i].dim[axis] * inner;
            for (int64_t j = 0; j < row; j++)
                r->out[0][at++] = r->in[i][o * row + j];
        }
}

#define CONCAT(given, shapes) \
    { .op = "Concat", .params = given, .in = shapes, .reference = ref_concat }
#define RNN_CONCAT(given, shapes) \
    { .op = "_rnn_param_concat", .params = given, .in = shapes, .flags = CASE_ONE_OF_FORMS, .reference = ref_concat }

static const op_case cases[] = {
    CONCAT("num_args=1", "2x3"),
    CONCAT("num_args=2", "2x3 2x4; 1x1 1x1; 7x1 7x3; 0x3 0x2; 3x0 3x0; 65x2 65x7; 2x3x4 2x1x4; 2x1x3x1x2 2x4x3x1x2; "
                         "1x129 1x3; 17x1 17x1; 3x1x7 3x2x7; 1x33 1x33; 2x3x1x2 2x1x1x2; "
                         "2x1x2x1x2x1x2x1 2x3x2x1x2x1x2x1; 5x9@-1:1nf 5x2"),
    CONCAT("num_args=3 dim=0", "2x3 1x3 4x3"),
    CONCAT("num_args=2 dim=-1", "2x3x4 2x3x1"),
    CONCAT("num_args=3 dim=2", "2x3x4x5 2x3x1x5 2x3x2x5"),
    CONCAT("num_args=2", "2x0 2x4"),
    CONCAT("num_args=2 dim=0", "0x4 0x4"),
    /* channels last: rows of all widths, more of them than a block and a thread take */
    CONCAT("num_args=4 dim=-1", "2x5x7x1 2x5x7x3 2x5x7x24 2x5x7x33; 1x70x66x2 1x70x66x5 1x70x66x0 1x70x66x9; "
                                "3x9x3x16 3x9x3x300 3x9x3x7 3x9x3x4"),
    RNN_CONCAT("num_args=3 dim=0", "4 5 7; 1 1 1; 0 3 2; 65 1 129; 1031 7 1; 2x3 1x3 4x3; 0 0 0; 3x2x1 1x2x1 2x2x1; "
                                   "9 9 9; "
                                   "12 1 0; 7x1 2x1 3x1; 17 33 2"),
    RNN_CONCAT("num_args=1 dim=0", "7; 2x3; 65; 0"),
    RNN_CONCAT("num_args=2", "2x3 2x4; 1x1 1x65; 3x2x2 3x5x2; 0x2 0x1"),
    INFERS("_rnn_param_concat", "num_args=4 dim=0", "5,?,?,7 -> 32 => 5,10,10,7 -> 32"),
    INFERS("_rnn_param_concat", "num_args=2 dim=0", "5,6 -> ? => 5,6 -> 11"),
    FAILS("Concat", "num_args=2", "2x3 3x3", MXC_ESHAPE, "arg1"),
    FAILS("Concat", "num_args=2 dim=3", "2x3 2x3", MXC_ESHAPE, "axis 3"),
    FAILS("Concat", "num_args=0", "2x3", MXC_EINVAL, "num_args"),
    INFERS("Concat", "num_args=2", "2x3x4,?x5x? -> ? => 2x3x4,2x5x4 -> 2x8x4"),
    INFERS("Concat", "num_args=2", "2x3,? -> 2x9 => 2x3,2x6 -> 2x9"),
    INFERS("Concat", "num_args=2", "?,? -> ? => ?,? -> ?"),
};

MXC_CASES(tensor_concat_cases, cases);
