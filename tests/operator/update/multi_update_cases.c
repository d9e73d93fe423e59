/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of mp_sgd_update, mp_sgd_mom_update, mp_nag_mom_update, multi_sgd_update, multi_sgd_mom_update,
 * multi_mp_sgd_update, multi_mp_sgd_mom_update and those with rates in arrays. */
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

static void ref_mp_nag_mom(const op_run *r) {
    const double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    double *mom = r->aux[0], *master = r->aux[1];
    for (int64_t k = 0; k < case_size(&r->out_shape[0]); k++) {
        const double step = lr * (case_clipped_gradient(r, r->in[1][k]) + wd * master[k]);
        mom[k] = momentum * mom[k] - step;
        r->out[0][k] = master[k] += momentum * mom[k] - step;
    }
}

/* Rates are the last two arguments. */
static void preloaded(const op_run *r, int has_mom, int has_master) {
    const double *lrs = r->in[2 * r->n_out], *wds = r->in[2 * r->n_out + 1];
    for (int i = 0; i < r->n_out; i++) {
        double *const *aux = r->aux + (has_mom + has_master) * i;
        sgd(r, i, lrs[i], wds[i], has_mom ? aux[0] : NULL, has_master ? aux[has_mom] : NULL);
    }
}

static void ref_preloaded(const op_run *r) {
    preloaded(r, 0, 0);
}
static void ref_preloaded_mom(const op_run *r) {
    preloaded(r, 1, 0);
}
static void ref_preloaded_mp(const op_run *r) {
    preloaded(r, 0, 1);
}
static void ref_preloaded_mp_mom(const op_run *r) {
    preloaded(r, 1, 1);
}

#define RATES " 1@0.1:0.5 1@0:0.1"
#define PRELOADED_SET(s) CASE_TWO(s) " 1 1"
#define PRELOADED_SET_1(s) CASE_TWO(s) " 1 1 " s
#define PRELOADED_SET_2(s) CASE_TWO(s) " 1 1 " s " " s

static const op_case cases[] = {
    UPDATE("mp_nag_mom_update", "lr=0.1 momentum=0.9", "7 7 7 7" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
           ref_mp_nag_mom),
    UPDATE("mp_nag_mom_update", "lr=0.1 wd=0.01 momentum=0.5 rescale_grad=0.5 clip_gradient=0.2",
           "3x700 3x700 3x700 3x700", ref_mp_nag_mom),
    INFERS("mp_nag_mom_update", "lr=1", "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_nag_mom_update", "lr=1", "2 2 2 3", MXC_ESHAPE, "auxiliary state 'weight32'"),
    UPDATE("preloaded_multi_sgd_update", "rescale_grad=1; rescale_grad=0.5 clip_gradient=0.2",
           "7 7" RATES CASE_EACH(PRELOADED_SET), ref_preloaded),
    UPDATE("preloaded_multi_sgd_update", "num_weights=3", "7 7 0 0 2x3 2x3 3@0.1:0.5 3@0:0.1", ref_preloaded),
    INFERS("preloaded_multi_sgd_update", "num_weights=2", "?,2x3,4,?,?,? -> ?,? => 2x3,2x3,4,4,2,2 -> 2x3,4"),
    FAILS("preloaded_multi_sgd_update", "num_weights=2", "2 2 3 3 2 1", MXC_ESHAPE, "argument 'wds'"),
    FAILS("preloaded_multi_sgd_update", "num_weights=65", "2 2 1 1", MXC_EINVAL, "from 1 to 64"),
    UPDATE("preloaded_multi_sgd_mom_update", "momentum=0.9", "7 7" RATES " 7" CASE_EACH(PRELOADED_SET_1),
           ref_preloaded_mom),
    UPDATE("preloaded_multi_sgd_mom_update", "num_weights=2 momentum=0.5 clip_gradient=0.3",
           "7 7 2x3 2x3 2@0.1:0.5 2@0:0.1 7 2x3", ref_preloaded_mom),
    FAILS("preloaded_multi_sgd_mom_update", "", "2 2 3 1 1", MXC_ESHAPE, "auxiliary state 'mom_0'"),
    UPDATE("preloaded_multi_mp_sgd_update", "rescale_grad=0.5", "7 7" RATES " 7" CASE_EACH(PRELOADED_SET_1),
           ref_preloaded_mp),
    FAILS("preloaded_multi_mp_sgd_update", "", "2 2 3 1 1", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
    UPDATE("preloaded_multi_mp_sgd_mom_update", "momentum=0.9", "7 7" RATES " 7 7" CASE_EACH(PRELOADED_SET_2),
           ref_preloaded_mp_mom),
    UPDATE("preloaded_multi_mp_sgd_mom_update", "num_weights=2 momentum=0.5",
           "7 7 2x3 2x3 2@0.1:0.5 2@0:0.1 7 7 2x3 2x3", ref_preloaded_mp_mom),
    FAILS("preloaded_multi_mp_sgd_mom_update", "", "2 2 2 3 1 1", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
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
    FAILS("multi_sgd_update", "lrs=(1) wds=(0) num_weights=65", "2 2", MXC_EINVAL, "from 1 to 64"),
    FAILS("multi_sgd_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 3 4", MXC_ESHAPE, "argument 'grad_1'"),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5 clip_gradient=0.3",
           "7 7 2x3 2x3 7 2x3", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0",
           ref_multi_sgd_mom),
    INFERS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2",
           "?,2x3,4,?,?,? -> ?,? => 2x3,2x3,4,4,2x3,4 -> 2x3,4"),
    FAILS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 2 3 3 2", MXC_ESHAPE,
          "auxiliary state 'mom_1'"),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1) wds=(0.1)", "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 rescale_grad=0.5", "7 7 2x3 2x3 7 2x3",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0", ref_multi_mp_sgd),
    FAILS("multi_mp_sgd_update", "lrs=(1) wds=()", "2 2 2", MXC_EINVAL, "multi_mp_sgd_update: lrs has 1"),
    FAILS("multi_mp_sgd_update", "lrs=(1) wds=(0)", "2 2 3", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9", ref_multi_mp_sgd_mom),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5", "7 7 2x3 2x3 7 7 2x3 2x3",
           ref_multi_mp_sgd_mom),
    INFERS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "?,?,?,5 -> ? => 5,5,5,5 -> 5"),
    FAILS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mom_0'"),
};

MXC_CASES(update_multi_update_cases, cases);
