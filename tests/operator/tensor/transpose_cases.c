/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of transpose and SwapAxis. */
#include "operator/cases.h"

static void ref_transpose(const op_run *r) {
    int64_t index[MXC_MAX_NDIM], source[MXC_MAX_NDIM];
    int ndim = r->out_shape[0].ndim;
    mxc_tuple axes = case_tuple(r, "axes");
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        for (int k = 0; k < ndim; k++) {
            int64_t axis = axes.n ? axes.value[k] : ndim - 1 - k;
            source[axis < 0 ? axis + ndim : axis] = index[k];
        }
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], source)];
    }
}

static void ref_swap(const op_run *r) {
    int64_t index[MXC_MAX_NDIM], kept;
    int ndim = r->out_shape[0].ndim, a = (int)case_number(r, "dim1", 0), b = (int)case_number(r, "dim2", 0);
    a = a < 0 ? a + ndim : a;
    b = b < 0 ? b + ndim : b;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        kept = index[a];
        index[a] = index[b];
        index[b] = kept;
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], index)];
    }
}

static const op_case cases[] = {
    RUN("transpose", "", "5", ref_transpose),
    RUN("transpose", "", "3x4; 1x7; 7x1; 0; 65x3; 3x1x7; 2x1x2x3x1x2x1x2; 5x9@-1:1nf; s", ref_transpose),
    RUN("transpose", "", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,2,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(1,2,0)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(2,0,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,1,2)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(-1,0,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,2,3,1)", "2x3x4x5", ref_transpose),
    RUN("transpose", "axes=(3,1,0,2)", "2x3x4x5", ref_transpose),
    RUN("transpose", "axes=(4,2,0,3,1)", "2x1x3x2x2", ref_transpose),
    RUN("transpose", "", "1x1", ref_transpose),
    RUN("transpose", "", "0x3", ref_transpose),
    RUN("transpose", "", "150x301", ref_transpose),
    RUN("transpose", "axes=(0,2,1)", "3x65x97", ref_transpose),
    RUN("transpose", "axes=(2,1,0)", "33x3x65", ref_transpose),
    /* images to channels last and back: whole squares of vectors, what is left beside them, and fewer than a square */
    RUN("transpose", "axes=(0,2,3,1); axes=(0,3,1,2)",
        "2x3x17x19; 1x1x5x7; 2x2x70x61; 1x4x9x16; 1x7x60x3; 1x24x5x13; 1x33x9x7; 1x8x8x8; 2x16x4x15; 0x3x4x5; "
        "1x150x7x7; 1x5x3x2; 1x300x6x70",
        ref_transpose),
    FAILS("transpose", "axes=(0,1)", "2x3x4", MXC_ESHAPE, "axes names 2 axes, expected the 3 of data"),
    FAILS("transpose", "axes=(0,0,1)", "2x3x4", MXC_ESHAPE, "axes names axis 0 twice"),
    FAILS("transpose", "axes=(0,1,3)", "2x3x4", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    INFERS("transpose", "", "2x? -> ?x2 => 2x? -> ?x2"),
    INFERS("transpose", "axes=(1,2,0)", "? -> 3x4x2 => 2x3x4 -> 3x4x2"),

    RUN("SwapAxis", "", "2x3", ref_swap),
    RUN("SwapAxis", "dim1=0 dim2=1",
        "3x4; 1x1; 7x1; 1x7; 65x3; 3x0; 2x3x4; 2x1x3x1x2; 33x65; 17x2; 3x0x2; 129x2; "
        "1x2x3x2; 5x9@-1:1nf; 2x2",
        ref_swap),
    RUN("SwapAxis", "dim1=2 dim2=0", "2x3x4", ref_swap),
    RUN("SwapAxis", "dim1=1 dim2=-1", "2x3x4x5", ref_swap),
    RUN("swapaxes", "dim1=0 dim2=1", "150x301", ref_swap),
    RUN("SwapAxis", "dim1=0 dim2=1", "0x3", ref_swap),
    FAILS("SwapAxis", "dim1=0 dim2=2", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("SwapAxis", "dim1=0 dim2=2", "2x3x? -> 5x?x? => 2x3x5 -> 5x3x2"),
};

MXC_CASES(tensor_transpose_cases, cases);
