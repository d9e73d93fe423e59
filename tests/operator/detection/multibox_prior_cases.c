/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_MultiBoxPrior. */
#include <math.h>
#include <string.h>

#include "operator/cases.h"

static int entries(const op_run *r, const char *key) {
    const char *at = strstr(r->params, key);
    int n = 1;
    for (at = at ? at + strlen(key) : ")"; *at != ')'; at++)
        n += *at == ',';
    return n;
}

static void ref_prior(const op_run *r) {
    const int64_t h = r->in_shape[0].dim[2], w = r->in_shape[0].dim[3];
    int sizes = entries(r, "sizes="), each = sizes + entries(r, "ratios=") - 1;
    for (int64_t i = 0; i < h * w * each; i++) {
        int64_t box = i % each, place = i / each;
        double size = case_entry(r, "sizes=", (int)(box < sizes ? box : 0), 1);
        double ratio = sqrt(case_entry(r, "ratios=", (int)(box < sizes ? 0 : box - sizes + 1), 1));
        double half_w = size * ratio / 2 * (double)h / (double)w, half_h = size / ratio / 2;
        double y =
            ((double)(place / w) + case_entry(r, "offsets=", 0, 0.5)) * case_entry(r, "steps=", 0, 1 / (double)h);
        double x =
            ((double)(place % w) + case_entry(r, "offsets=", 1, 0.5)) * case_entry(r, "steps=", 1, 1 / (double)w);
        double corners[4] = {x - half_w, y - half_h, x + half_w, y + half_h};
        for (int k = 0; k < 4; k++)
            r->out[0][i * 4 + k] = case_is(r, "clip", "true") ? fmin(fmax(corners[k], 0), 1) : corners[k];
    }
}

#define PRIOR(given, shapes) \
    { .op = "_contrib_MultiBoxPrior", .params = given, .in = shapes, .reference = ref_prior }

static const op_case cases[] = {
    PRIOR("", "1x3x2x2; 1x1x1x1; 7x1x2x1; 1x7x1x3; 2x2x5x5; 1x1x33x1; 1x1x1x65; 3x2x9x4; 1x65x2x2; 1x1x17x3; 2x0x3x3; "
              "1x3x2x2@-1:1n"),
    PRIOR("sizes=(0.5,0.25) ratios=(1,2,0.5)", "2x3x4x5"),
    PRIOR("sizes=(0.5,0.25) ratios=(2,1) clip=true", "1x1x3x7"),
    PRIOR("sizes=(0.2) ratios=(1,2,0.5,3,0.3333) clip=true", "1x2x1x1"),
    PRIOR("sizes=(0.3) steps=(0.1,0.2) offsets=(0,1)", "1x1x5x3"),
    PRIOR("sizes=(0.1,0.2,0.3) offsets=(0.25,0.75)", "1x1x38x38"),
    PRIOR("", "1x3x1x7"),
    PRIOR("", "0x3x2x2"),
    PRIOR("", "1x3x0x2"),
    PRIOR("", "1x3x2x0"),
    FAILS("_contrib_MultiBoxPrior", "sizes=()", "1x1x2x2", MXC_EINVAL, "at least one of sizes"),
    FAILS("_contrib_MultiBoxPrior", "ratios=(1,0)", "1x1x2x2", MXC_EINVAL, "ratios has 0, expected above 0"),
    FAILS("_contrib_MultiBoxPrior", "steps=(1)", "1x1x2x2", MXC_EINVAL, "steps has 1 entries"),
    FAILS("MultiBoxPrior", "offsets=(1,2,3)", "1x1x2x2", MXC_EINVAL, "offsets 3, expected 2"),
    FAILS("MultiBoxPrior", "", "1x1x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("MultiBoxPrior", "sizes=(1,2) ratios=(1,2)", "?x?x3x4 -> ? => ?x?x3x4 -> 1x36x4"),
};

MXC_CASES(detection_multibox_prior_cases, cases);
