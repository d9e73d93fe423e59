/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _ravel_multi_index and _unravel_index. */
#include <math.h>

#include "operator/cases.h"

static void ref_ravel(const op_run *r) {
    const mxc_tuple shape = case_tuple(r, "shape");
    const int64_t n = case_size(&r->out_shape[0]);
    for (int64_t k = 0; k < n; k++) {
        int64_t step = 1;
        r->out[0][k] = 0;
        for (int i = shape.n - 1; i >= 0; i--) {
            r->out[0][k] += (double)step * trunc(r->in[0][i * n + k]);
            step *= shape.value[i];
        }
    }
}

static void ref_unravel(const op_run *r) {
    const mxc_tuple shape = case_tuple(r, "shape");
    const int64_t n = case_size(&r->in_shape[0]);
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = (int64_t)r->in[0][k];
        for (int i = shape.n - 1; i >= 0; i--) {
            r->out[0][i * n + k] = (double)(i ? rest % shape.value[i] : rest);
            rest = i ? rest / shape.value[i] : 0;
        }
    }
}

#define NUMBERS(name, given, sets, ref) \
    { .op = name, .params = given, .in = sets, .reference = ref, .gradient = case_zero_gradient }

static const op_case cases[] = {
    NUMBERS("_ravel_multi_index", "shape=(2,6); shape=(-1,5); shape=(7,7)",
            "2x4@0:1i; 2x1; 2; 2x0; 2x65; 2x3x4; 2x1x1; 2x600; 2x17x3", ref_ravel),
    NUMBERS("_ravel_multi_index", "shape=(3,4,5); shape=(-1,2,3)", "3x7@0:2i; 3; 3x2x2; 3x1", ref_ravel),
    NUMBERS("_ravel_multi_index", "shape=7", "1x5@0:6i; 1; 1x3x2", ref_ravel),
    NUMBERS("_ravel_multi_index", "shape=(100,30)", "2x9@0:29i", ref_ravel),
    FAILS("_ravel_multi_index", "shape=(2,6)", "3x4", MXC_ESHAPE, "found (3,4)"),
    FAILS("_ravel_multi_index", "shape=(2,0)", "2x4", MXC_EINVAL, "axis 1 of shape is 0"),
    FAILS("_ravel_multi_index", "shape=()", "2x4", MXC_EINVAL, "shape is ()"),
    FAILS("_ravel_multi_index", "", "2x4", MXC_EINVAL, "\"shape\" is missing"),
    INFERS("_ravel_multi_index", "shape=(2,6)", "? -> 4x5 => 2x4x5 -> 4x5"),
    INFERS("_ravel_multi_index", "shape=(2,6)", "?x4 -> ? => 2x4 -> 4"),

    NUMBERS("_unravel_index", "shape=(2,6); shape=(-1,5); shape=(3,4)", "4@0:11i; 1; 0; 65; 3x4; 1x1; 600; s; 17x3",
            ref_unravel),
    NUMBERS("_unravel_index", "shape=(3,4,5); shape=(-1,2,3); shape=(2,1,2,2,3)", "7@0:23i; s; 2x2; 1", ref_unravel),
    NUMBERS("_unravel_index", "shape=7", "5@0:6i; s; 3x2", ref_unravel),
    FAILS("_unravel_index", "shape=(2,0)", "4", MXC_EINVAL, "axis 1 of shape is 0"),
    FAILS("_unravel_index", "shape=(2,3)", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "have 9 axes"),
    INFERS("_unravel_index", "shape=(2,6)", "? -> ?x4 => 4 -> 2x4"),
};

MXC_CASES(index_ravel_cases, cases);
