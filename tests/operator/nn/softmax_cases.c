/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of softmax, log_softmax and softmin. */
#include "operator/nn/nn_reference.h"

static void ref_softmax(const op_run *r) {
    case_softmax(r, 0, 1);
}

static void ref_log_softmax(const op_run *r) {
    case_softmax(r, 1, 1);
}

static void ref_softmin(const op_run *r) {
    case_softmax(r, 0, -1);
}

#define LIMITED(name, given, shapes, ref) \
    { .op = name, .params = "use_length=True " given, .in = shapes, .constant = 2, .reference = ref }
#define SOFTMAX(name, ref)                                                                                          \
    RUN(name, "", "7@-4:4", ref), RUN(name, "", "5x3@-9:9; 5x9@-4:4n; 5x9@-4:4f; 5x9@-1e4:1e4; 3x7@5e4:6e4", ref),  \
        RUN(name, "", "1x1", ref), RUN(name, "axis=1", "3x5x2@-4:4; 1x5x2x1x2x1x2x2", ref),                         \
        RUN(name, "axis=0", "4x7@-4:4", ref), RUN(name, "axis=-2", "2x3x4x5@-4:4", ref),                            \
        RUN(name, "axis=1", "2x3x300@-4:4; 9x5x3@-4:4n; 9x7x5@-4:4f", ref), RUN(name, "", "3x130@-9:9", ref),       \
        RUN(name, "temperature=2.5", "4x9@-4:4", ref), RUN(name, "axis=1 temperature=0.5", "2x5x3@-2:2", ref),      \
        RUN(name, "temperature=None", "4x9@-4:4", ref), RUN(name, "", "0x5", ref), RUN(name, "axis=0", "0x5", ref), \
        RUN(name, "", "40x110@-4:4", ref), RUN(name, "use_length=False", "3x4", ref),                               \
        RUN(name, "use_length=None", "3x4", ref), LIMITED(name, "", "9@-4:4 s@3:4", ref),                           \
        LIMITED(name, "", "7x9@-4:4 7@-2:12i", ref), LIMITED(name, "axis=1", "3x5x4@-4:4 3x4@0:6i", ref),           \
        LIMITED(name, "axis=0", "5x300@-4:4 300@0:5i", ref),                                                        \
        LIMITED(name, "temperature=2", "2x3x40@-4:4 2x3@0:40i", ref), LIMITED(name, "", "0x5 0", ref),              \
        RUN(name, "dtype=float32", "4x9@-4:4", ref), RUN(name, "dtype=float64 axis=0", "4x9@-4:4", ref),            \
        {.op = name, .params = "dtype=float16", .in = "4x9@-4:4", .flags = CASE_NO_GRADIENT, .reference = ref},     \
        LIMITED(name, "dtype=float32", "7x9@-4:4 7@0:9i", ref),                                                     \
        FAILS(name, "dtype=int32", "4x5", MXC_EINVAL, "dtype is int32"),                                            \
        FAILS(name, "use_length=True", "4x5 5", MXC_ESHAPE, "argument 'length': expected shape (4,), found (5,)"),  \
        FAILS(name, "axis=2", "4x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                       \
        FAILS(name, "temperature=0", "4x5", MXC_EINVAL, "temperature"),                                             \
        INFERS(name, "axis=1", "?x3 -> 2x? => 2x3 -> 2x3"),                                                         \
        INFERS(name, "axis=1 use_length=True", "?x3x4,? -> 2x?x? => 2x3x4,2x4 -> 2x3x4")

static const op_case cases[] = {
    SOFTMAX("softmax", ref_softmax),
    SOFTMAX("log_softmax", ref_log_softmax),
    SOFTMAX("softmin", ref_softmin),
};

MXC_CASES(nn_softmax_cases, cases);
