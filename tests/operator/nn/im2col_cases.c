/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of im2col and col2im. */
#include "operator/cases.h"

static int64_t entry(const op_run *r, const char *key, int i, int64_t initial) {
    const mxc_tuple t = case_tuple(r, key);
    return t.n > 0 ? t.value[i] : initial;
}

/* For every sample, channel, position in the kernel and window: adds the columns' element to the image's, or copies the
 * image's element to the columns. Positions and windows count through their axes. */
static void move(const op_run *r, const mxc_shape *image, double *pixels, double *columns, int to_columns) {
    const mxc_tuple kernel = case_tuple(r, "kernel");
    int64_t windows = 1, positions = 1, size[3], out[3], stride[3], dilate[3], pad[3], area = 1;
    for (int a = 0; a < kernel.n; a++) {
        stride[a] = entry(r, "stride", a, 1), dilate[a] = entry(r, "dilate", a, 1), pad[a] = entry(r, "pad", a, 0);
        size[a] = image->dim[2 + a];
        out[a] = (size[a] + 2 * pad[a] - dilate[a] * (kernel.value[a] - 1) - 1) / stride[a] + 1;
        windows *= out[a], positions *= kernel.value[a], area *= size[a];
    }
    for (int64_t i = 0; i < image->dim[0] * image->dim[1] * positions * windows; i++) {
        int64_t window = i % windows, position = i / windows % positions, at = 0, step = 1;
        for (int a = kernel.n - 1; a >= 0; a--) {
            const int64_t place = window % out[a] * stride[a] - pad[a] + position % kernel.value[a] * dilate[a];
            at = at < 0 || place < 0 || place >= size[a] ? -1 : at + place * step;
            step *= size[a], window /= out[a], position /= kernel.value[a];
        }
        at = at < 0 ? -1 : at + i / windows / positions * area;
        if (to_columns)
            columns[i] = at < 0 ? 0 : pixels[at];
        else if (at >= 0)
            pixels[at] += columns[i];
    }
}

static void ref_im2col(const op_run *r) {
    move(r, &r->in_shape[0], r->in[0], r->out[0], 1);
}

static void ref_col2im(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
    move(r, &r->out_shape[0], r->out[0], r->in[0], 0);
}

static const op_case cases[] = {
    RUN("im2col", "kernel=(2,2); kernel=(3,3) stride=(2,2) pad=(1,1); kernel=(1,3) dilate=(1,2) pad=(0,2)",
        "1x1x4x4; 2x3x5x7; 3x1x9x6; 1x2x17x33; 0x2x4x5; 2x0x4x4; 2x2x5x5@-1:1nf", ref_im2col),
    RUN("im2col", "kernel=3 pad=1; kernel=2 stride=3", "2x3x9; 1x1x4; 2x2x65", ref_im2col),
    RUN("im2col", "kernel=(2,1,2) pad=(1,0,0); kernel=(2,2,2) stride=(1,2,1)", "1x2x3x4x5; 2x1x2x3x2", ref_im2col),
    FAILS("im2col", "kernel=(2,2) stride=2", "1x1x4x4", MXC_EINVAL, "stride has 1 entries, expected 2"),
    FAILS("im2col", "kernel=(1,1,1,1)", "1x1x4x4", MXC_EINVAL, "kernel has 4 entries"),
    FAILS("im2col", "kernel=(5,5)", "1x1x4x4", MXC_ESHAPE, "axis 2 of the images has 4 elements"),
    FAILS("im2col", "kernel=(2,2)", "1x4x4", MXC_ESHAPE, "im2col"),
    INFERS("im2col", "kernel=(2,2)", "?x?x4x4 -> 2x12x? => 2x3x4x4 -> 2x12x9"),

    RUN("col2im", "kernel=(2,2) output_size=(4,4)", "1x4x9; 2x12x9; 0x4x9; 2x0x9; 2x8x9@-1:1nf", ref_col2im),
    RUN("col2im", "kernel=(3,3) stride=(2,2) pad=(1,1) output_size=(5,7)", "1x9x12; 2x27x12", ref_col2im),
    RUN("col2im", "kernel=(1,3) dilate=(1,2) pad=(0,2) output_size=(4,6)", "1x3x24; 3x6x24", ref_col2im),
    RUN("col2im", "kernel=3 pad=1 output_size=9", "2x3x9; 1x6x9", ref_col2im),
    RUN("col2im", "kernel=2 stride=3 output_size=10", "2x2x3; 1x2x3; 65x4x3", ref_col2im),
    RUN("col2im", "kernel=(2,1,2) pad=(1,0,0) output_size=(3,4,5)", "1x4x64; 2x8x64", ref_col2im),
    RUN("col2im", "kernel=(3,2) output_size=(17,33)", "1x6x480; 2x6x480", ref_col2im),
    RUN("col2im", "kernel=(1,1) output_size=(3,3)", "2x5x9; 1x1x9", ref_col2im),
    FAILS("col2im", "kernel=(2,2) output_size=(4,4)", "1x4x8", MXC_ESHAPE, "expected shape (1,4,9), found (1,4,8)"),
    FAILS("col2im", "kernel=(2,2) output_size=(4,4)", "1x5x9", MXC_ESHAPE, "has 5 rows, expected a multiple"),
    FAILS("col2im", "kernel=(2,2) output_size=4", "1x4x9", MXC_EINVAL, "output_size has 1 entries"),
    INFERS("col2im", "kernel=(2,2) output_size=(4,4)", "?x?x? -> 2x3x?x? => 2x12x9 -> 2x3x4x4"),
};

MXC_CASES(nn_im2col_cases, cases);
