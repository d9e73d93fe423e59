/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_interleaved_matmul_selfatt_qk, _selfatt_valatt, _encdec_qk and _encdec_valatt. */
#include <math.h>

#include "operator/cases.h"

/* Element d of head h at position i of sample b in part `part` of a projection with `parts` parts of each head. */
static double projected(const op_run *r, int slot, int parts, int part, int64_t i, int64_t bh, int64_t d) {
    const int64_t *dim = r->in_shape[slot].dim, heads = (int64_t)case_number(r, "heads", 1);
    const int64_t size = dim[2] / (parts * heads), b = bh / heads, h = bh % heads;
    return r->in[slot][(i * dim[1] + b) * dim[2] + (h * parts + part) * size + d];
}

/* out (B*H,Lq,Lk) */
static void scores(const op_run *r, int q_parts, int k_slot, int k_part, int k_parts) {
    const int64_t *out = r->out_shape[0].dim, heads = (int64_t)case_number(r, "heads", 1);
    const int64_t size = r->in_shape[0].dim[2] / (q_parts * heads);
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const int64_t bh = o / (out[1] * out[2]), i = o / out[2] % out[1], j = o % out[2];
        double sum = 0;
        for (int64_t d = 0; d < size; d++)
            sum += projected(r, 0, q_parts, 0, i, bh, d) * projected(r, k_slot, k_parts, k_part, j, bh, d);
        r->out[0][o] = size ? sum / sqrt((double)size) : 0;
    }
}

/* out (Lq,B,H*D) */
static void values(const op_run *r, int parts) {
    const int64_t *out = r->out_shape[0].dim, *weights = r->in_shape[1].dim;
    const int64_t heads = (int64_t)case_number(r, "heads", 1), size = out[2] / heads;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const int64_t i = o / (out[1] * out[2]), bh = o / out[2] % out[1] * heads + o % out[2] / size, d = o % size;
        r->out[0][o] = 0;
        for (int64_t j = 0; j < weights[2]; j++)
            r->out[0][o] +=
                r->in[1][(bh * weights[1] + i) * weights[2] + j] * projected(r, 0, parts, parts - 1, j, bh, d);
    }
}

static void ref_self_qk(const op_run *r) {
    scores(r, 3, 0, 1, 3);
}
static void ref_self_value(const op_run *r) {
    values(r, 3);
}
static void ref_cross_qk(const op_run *r) {
    scores(r, 1, 1, 0, 2);
}
static void ref_cross_value(const op_run *r) {
    values(r, 2);
}

#define NAMED(stem) "_contrib_interleaved_matmul_" stem
#define ATTEND(stem, given, shapes, ref) \
    { .op = NAMED(stem), .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

static const op_case cases[] = {
    ATTEND("selfatt_qk", "heads=2", "5x3x24; 1x1x6; 2x1x12; 3x2x6; 7x2x30; 17x1x12; 65x1x6; 4x0x12; 0x2x12; 5x2x0",
           ref_self_qk),
    ATTEND("selfatt_qk", "heads=1", "3x2x9; 1x1x3; 1x4x6; 9x3x12; 33x2x15; 4x5x3; 2x2x48", ref_self_qk),
    ATTEND("selfatt_qk", "heads=3", "4x2x18@-2:2; 6x1x9; 2x3x27; 12x2x36", ref_self_qk),
    ATTEND("selfatt_valatt", "heads=2",
           "5x3x24 6x5x5; 1x1x6 2x1x1; 2x1x12 2x2x2; 3x2x6 4x3x3; 7x2x30 4x7x7; "
           "17x1x12 2x17x17; 65x1x6 2x65x65; 4x0x12 0x4x4; 0x2x12 4x0x0; 5x2x0 4x5x5",
           ref_self_value),
    ATTEND("selfatt_valatt", "heads=1",
           "3x2x9 2x3x3; 1x1x3 1x1x1; 1x4x6 4x1x1; 9x3x12 3x9x9; 33x2x15 2x33x33; "
           "4x5x3 5x4x4; 2x2x48 2x2x2",
           ref_self_value),
    ATTEND("selfatt_valatt", "heads=3", "4x2x18@-2:2 6x4x4; 6x1x9 3x6x6; 2x3x27 9x2x2; 12x2x36 6x12x12",
           ref_self_value),
    ATTEND("encdec_qk", "heads=2",
           "5x3x8 4x3x16; 1x1x2 1x1x4; 2x1x4 7x1x8; 3x2x2 1x2x4; 7x2x10 3x2x20; "
           "17x1x4 9x1x8; 65x1x2 2x1x4; 4x0x4 3x0x8; 0x2x4 3x2x8; 5x2x0 3x2x0; 5x2x4 0x2x8",
           ref_cross_qk),
    ATTEND("encdec_qk", "heads=1", "3x2x3 4x2x6; 1x1x1 1x1x2; 1x4x2 8x4x4; 9x3x4 2x3x8; 33x2x5 6x2x10; 4x5x1 3x5x2",
           ref_cross_qk),
    ATTEND("encdec_qk", "heads=3", "4x2x6@-2:2 5x2x12; 6x1x3 2x1x6; 2x3x9 3x3x18; 12x2x12 13x2x24", ref_cross_qk),
    ATTEND("encdec_valatt", "heads=2",
           "4x3x16 6x5x4; 1x1x4 2x1x1; 7x1x8 2x2x7; 1x2x4 4x3x1; 3x2x20 4x7x3; 9x1x8 2x17x9; 2x1x4 2x65x2; "
           "3x0x8 0x4x3; 3x2x8 4x0x3; 3x2x0 4x5x3; 0x2x8 4x5x0",
           ref_cross_value),
    ATTEND("encdec_valatt", "heads=1", "4x2x6 2x3x4; 1x1x2 1x1x1; 8x4x4 4x1x8; 2x3x8 3x9x2; 6x2x10 2x33x6; 3x5x2 5x4x3",
           ref_cross_value),
    ATTEND("encdec_valatt", "heads=3", "5x2x12@-2:2 6x4x5; 2x1x6 3x6x2; 3x3x18 9x2x3; 13x2x24 6x12x13",
           ref_cross_value),
    FAILS(NAMED("selfatt_qk"), "", "5x3x24", MXC_EINVAL, "heads"),
    FAILS(NAMED("selfatt_qk"), "heads=0", "5x3x24", MXC_EINVAL, "heads"),
    FAILS(NAMED("selfatt_qk"), "heads=5", "5x3x24", MXC_ESHAPE, "24 elements, expected a multiple of 15"),
    FAILS(NAMED("selfatt_qk"), "heads=2", "5x24", MXC_ESHAPE, "queries_keys_values"),
    FAILS(NAMED("selfatt_valatt"), "heads=2", "5x3x24 6x5x4", MXC_ESHAPE, "attention"),
    FAILS(NAMED("selfatt_valatt"), "heads=2", "5x3x24 5x5x5", MXC_ESHAPE, "the scores has 5 elements"),
    FAILS(NAMED("encdec_qk"), "heads=2", "5x3x8 4x2x16", MXC_ESHAPE, "keys_values"),
    FAILS(NAMED("encdec_qk"), "heads=2", "5x3x8 4x3x12", MXC_ESHAPE, "keys_values"),
    FAILS(NAMED("encdec_valatt"), "heads=2", "4x3x16 6x5x3", MXC_ESHAPE, "attention"),
    INFERS(NAMED("selfatt_qk"), "heads=2", "?x?x24 -> 6x5x? => 5x3x24 -> 6x5x5"),
    INFERS(NAMED("selfatt_valatt"), "heads=2", "?x?x?,6x5x? -> ?x?x8 => 5x3x24,6x5x5 -> 5x3x8"),
    INFERS(NAMED("encdec_qk"), "heads=2", "5x?x?,4x3x16 -> ? => 5x3x8,4x3x16 -> 6x5x4"),
    INFERS(NAMED("encdec_valatt"), "heads=2", "?x?x16,6x5x4 -> ? => 4x3x16,6x5x4 -> 5x3x8"),
};

MXC_CASES(contrib_interleaved_matmul_cases, cases);
