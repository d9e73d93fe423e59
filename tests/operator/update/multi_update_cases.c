/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of mp_sgd_update, mp_sgd_mom_update, multi_sgd_update, multi_sgd_mom_update, multi_mp_sgd_update and
 * multi_mp_sgd_mom_update. */
#include <math.h>

#include "operator/update/update_reference.h"

/* One weight: mom and master are NULL where there are none. */
static void sgd(const op_run *r, int i, double lr, double wd, double *mom, double *master) {
    double momentum = case_number(r, "momentum", 0);
    for (int64_t k = 0; k < case_size(&r->out_shape[i]); k++) {
        double w = master ? master[k] : r->in[2 * i][k];
        double step = -lr * wd * w - lr * case_clipped_gradient(r, r->in[2 * i + 1][k]);
        if (mom)
            step = mom[k] = momentum * mom[k] + step;
        r->out[i][k] = w + step;
        if (master)
            master[k] = w + step;
    }
}

static void ref_mp_sgd(const op_run *r) {
    sgd(r, 0, case_number(r, "lr", 0), case_number(r, "wd", 0), NULL, r->aux[0]);
}

static void ref_mp_sgd_mom(const op_run *r) {
    sgd(r, 0, case_number(r, "lr", 0), case_number(r, "wd", 0), r->aux[0], r->aux[1]);
}

static void ref_multi_sgd(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, case_entry(r, "lrs", i, NAN), case_entry(r, "wds", i, NAN), NULL, NULL);
}

static void ref_multi_sgd_mom(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, case_entry(r, "lrs", i, NAN), case_entry(r, "wds", i, NAN), r->aux[i], NULL);
}

static void ref_multi_mp_sgd(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, case_entry(r, "lrs", i, NAN), case_entry(r, "wds", i, NAN), NULL, r->aux[i]);
}

static void ref_multi_mp_sgd_mom(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, case_entry(r, "lrs", i, NAN), case_entry(r, "wds", i, NAN), r->aux[2 * i], r->aux[2 * i + 1]);
}

static const op_case cases[] = {
    UPDATE("mp_sgd_update", "lr=0.1", "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9", ref_mp_sgd),
    UPDATE("mp_sgd_update", "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2", "1031 1031 1031", ref_mp_sgd),
    UPDATE("mp_sgd_update", "lr=0.5 lazy_update=True", "5 5 5", ref_mp_sgd),
    UPDATE("mp_sgd_update", "lr=0.5", "40000 40000 40000", ref_mp_sgd),
    INFERS("mp_sgd_update", "lr=1", "?,2x3,? -> ? => 2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_sgd_update", "", "2 2 2", MXC_EINVAL, "lr"),
    FAILS("mp_sgd_update", "lr=1", "2 2 3", MXC_ESHAPE, "auxiliary state 'weight32'"),
    UPDATE("mp_sgd_mom_update", "lr=0.1 momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR) "; "
                                          "5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
           ref_mp_sgd_mom),
    UPDATE("mp_sgd_mom_update", "lr=0.1 wd=0.01 momentum=0.5 rescale_grad=0.5 clip_gradient=0.2",
           "3x700 3x700 3x700 3x700", ref_mp_sgd_mom),
    UPDATE("mp_sgd_mom_update", "lr=0.1", "40000 40000 40000 40000", ref_mp_sgd_mom),
    INFERS("mp_sgd_mom_update", "lr=1", "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_sgd_mom_update", "lr=1", "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mom'"),
    UPDATE("multi_sgd_update", "lrs=(0.1) wds=(0)", "7 7" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "7 7 2x3 2x3", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2,0.3) wds=(0.1,0,0.2) num_weights=3 rescale_grad=0.5 clip_gradient=0.3",
           "1031 1031 0 0 s s", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "40000 40000 3 3", ref_multi_sgd),
    INFERS("multi_sgd_update", "lrs=(1,1) wds=(0,0) num_weights=2", "?,2x3,4,? -> ?,? => 2x3,2x3,4,4 -> 2x3,4"),
    FAILS("multi_sgd_update", "lrs=(1) wds=(0,0) num_weights=2", "2 2 3 3", MXC_EINVAL, "lrs has 1 numbers and wds 2"),
    FAILS("multi_sgd_update", "lrs=(1) wds=(0) num_weights=17", "2 2", MXC_EINVAL, "num_weights"),
    FAILS("multi_sgd_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 3 4", MXC_ESHAPE, "argument 'grad_1'"),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5 clip_gradient=0.3",
           "7 7 2x3 2x3 7 2x3", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0",
           ref_multi_sgd_mom),
    INFERS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2",
           "?,2x3,4,?,?,? -> ?,? => 2x3,2x3,4,4,2x3,4 -> 2x3,4"),
    FAILS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 3 3 2 2", MXC_ESHAPE,
          "auxiliary state 'mom_1'"),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1) wds=(0.1)", "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 rescale_grad=0.5", "7 7 2x3 2x3 7 2x3",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0", ref_multi_mp_sgd),
    FAILS("multi_mp_sgd_update", "lrs=(1) wds=(0)", "2 2 3", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9", ref_multi_mp_sgd_mom),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5", "7 7 2x3 2x3 7 7 2x3 2x3",
           ref_multi_mp_sgd_mom),
    INFERS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "?,?,?,5 -> ? => 5,5,5,5 -> 5"),
    FAILS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mom_0'"),
};

MXC_CASES(update_multi_update_cases, cases);
