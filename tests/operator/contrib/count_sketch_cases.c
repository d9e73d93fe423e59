/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_count_sketch. */
#include "operator/cases.h"

static void ref_sketch(const op_run *r) {
    int64_t n = case_last_dim(&r->in_shape[0]), k = case_last_dim(&r->out_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i / n * k + (int64_t)r->in[1][i % n]] += r->in[2][i % n] * r->in[0][i];
}

#define SKETCH(given, shapes)                                                                                 \
    {                                                                                                         \
        .op = "_contrib_count_sketch", .params = given, .in = shapes, .constant = 6, .reference = ref_sketch, \
        .flags = CASE_ONE_OF_FORMS                                                                            \
    }

static const op_case cases[] = {
    SKETCH("out_dim=4", "3x7 1x7@0:3i 1x7@-1:1; 1x1 1x1 1x1; 7x1 1x1 1x1; 1x65 1x65 1x65; 2x3x4 1x4 1x4; "
                        "65x2 1x2 1x2; 2x1x3x5 1x5 1x5; 17x9 1x9 1x9; 33x3 1x3 1x3; 0x3 1x3 1x3; 3x129 1x129 1x129"),
    SKETCH("out_dim=4", "3x7 7@0:3i 7@-1:1"),
    SKETCH("out_dim=1", "1x1 1x1@0:0.5 1x1"),
    SKETCH("out_dim=9", "2x3x4x5 1x5@0:8i 1x5"),
    SKETCH("out_dim=3", "0x7 1x7@0:2i 1x7"),
    SKETCH("out_dim=700", "5x40 1x40@0:699i 1x40"),
    SKETCH("out_dim=10 processing_batch_size=2", "9x600 1x600@0:9i 1x600"),
    SKETCH("out_dim=3", "3000x4 1x4@0:2i 1x4"),
    SKETCH("out_dim=3", "2x0 1x0 1x0"),
    SKETCH("out_dim=5", "6 1x6@0:4i 1x6"),
    FAILS("_contrib_count_sketch", "out_dim=4", "3x7 1x6 1x7", MXC_ESHAPE, "expected shape"),
    FAILS("_contrib_count_sketch", "out_dim=4", "3x7 1x7 2x7", MXC_ESHAPE,
          "argument 's': expected shape (1,7), found (2,7)"),
    FAILS("_contrib_count_sketch", "", "3x7 1x7 1x7", MXC_EINVAL, "\"out_dim\" is missing"),
    FAILS("_contrib_count_sketch", "out_dim=0", "3x7 1x7 1x7", MXC_EINVAL, "out_dim"),
    INFERS("_contrib_count_sketch", "out_dim=4", "3x?,1x7,? -> ? => 3x7,1x7,1x7 -> 3x4"),
    INFERS("_contrib_count_sketch", "out_dim=4", "?x7,?,? -> 3x? => 3x7,1x7,1x7 -> 3x4"),
};

MXC_CASES(contrib_count_sketch_cases, cases);
