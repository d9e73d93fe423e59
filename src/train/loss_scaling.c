/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixed-precision training: a symbol rewritten for 16 bits, f32 copies of weights, and the loss scale (Micikevicius et
 * al. 2018, "Mixed precision training").
 */
#include <math.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "optimizer/optimizer.h"
#include "rewrite/mixed_precision.h"
#include "train/trainer.h"

enum { INTERVAL = 2000 }; /* good steps before the scale is doubled */
#define FIRST_SCALE 65536.0

/* ---- options ----------------------------------------------------------------------------------------------------- */

int mxci_is_16bit_training(const mxc_fit_options *o) {
    return o->dtype && strcmp(o->dtype, "float32") != 0;
}

static mxc_status read_dtype(const mxc_fit_options *o, mxc_dtype *out) {
    *out = mxc_dtype_from_name(o->dtype);
    if (*out == MXC_F16 || *out == MXC_BF16)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "mxc_fit: dtype is \"%.40s\", expected float32, float16 or bfloat16", o->dtype);
}

/* The first scale, 0 for none, and whether it changes. */
static mxc_status read_scale(const mxc_fit_options *o, double *scale, int *is_dynamic) {
    const char *given = o->loss_scale, *at = given;
    if (!given)
        given = mxci_is_16bit_training(o) && strcmp(o->dtype, "float16") == 0 ? "dynamic" : "";
    *is_dynamic = strcmp(given, "dynamic") == 0;
    *scale = *is_dynamic ? FIRST_SCALE : 0;
    if (*is_dynamic || !o->loss_scale)
        return MXC_OK;
    if (!mxci_read_double(&at, scale) || *at != '\0' || !(*scale > 0) || !isfinite(*scale))
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: loss_scale is \"%.40s\", expected \"dynamic\" or a number above 0",
                        given);
    return MXC_OK;
}

/* ---- the symbol -------------------------------------------------------------------------------------------------- */

static mxc_status rewrite_symbol(mxci_trainer *t, int is_scaled) {
    mxc_iter *iter = t->options->train;
    mxci_mixed_precision p = {.dtype = MXC_F32, .is_scaled = is_scaled};
    p.n_fed = mxc_iter_n_data(iter) + mxc_iter_n_label(iter);
    if (mxci_is_16bit_training(t->options))
        MXC_TRY(read_dtype(t->options, &p.dtype));
    const char **fed = mxci_calloc((size_t)p.n_fed, sizeof *fed);
    if (!fed)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %d names", p.n_fed);
    for (int i = 0; i < p.n_fed; i++)
        fed[i] = mxc_iter_desc(iter, i)->name;
    p.fed = fed;
    mxc_status status = mxci_mixed_precision_rewrite(&p, t->options->symbol, &t->symbol);
    mxci_free(fed);
    return status;
}

mxc_status mxci_loss_scaling_symbol(mxci_trainer *t) {
    double scale;
    int is_dynamic;
    MXC_TRY(read_scale(t->options, &scale, &is_dynamic));
    if (mxci_is_16bit_training(t->options) || scale > 0)
        return rewrite_symbol(t, scale > 0);
    t->symbol = mxc_symbol_retain(t->options->symbol);
    return MXC_OK;
}

/* ---- the scale --------------------------------------------------------------------------------------------------- */

/* Where the store keeps values: with one context the executor's own arrays are these. */
static mxc_context store_context(const mxci_trainer *t) {
    return t->n_contexts == 1 || strcmp(t->options->kvstore, "local") != 0 ? t->contexts[0] : mxc_cpu(0);
}

mxc_status mxci_loss_scaling_scale(mxci_trainer *t) {
    static const int64_t two[1] = {2};
    double scale;
    int is_dynamic;
    MXC_TRY(read_scale(t->options, &scale, &is_dynamic));
    if (scale == 0)
        return MXC_OK;
    const float state[2] = {(float)scale, 0};
    mxc_ndarray *first = mxc_executor_find_arg(t->executors[0], MXCI_LOSS_SCALE);
    if (!first)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: loss_scale is given, but no operator of the network is a loss");
    if (t->n_contexts == 1)
        t->loss_scale = mxc_ndarray_retain(first);
    else
        MXC_TRY(mxc_ndarray_create(1, two, MXC_F32, store_context(t), &t->loss_scale));
    MXC_TRY(mxc_ndarray_set(t->loss_scale, state, sizeof state));
    return mxci_loss_scaling_step(t);
}

mxc_status mxci_loss_scaling_optimizer(mxci_trainer *t) {
    double scale;
    int is_dynamic;
    if (!t->loss_scale)
        return MXC_OK;
    MXC_TRY(read_scale(t->options, &scale, &is_dynamic));
    return mxci_optimizer_set_loss_scale(t->optimizer, t->loss_scale, is_dynamic ? INTERVAL : 0);
}

mxc_status mxci_loss_scaling_step(const mxci_trainer *t) {
    for (int c = 0; t->loss_scale && t->n_contexts > 1 && c < t->n_contexts; c++)
        MXC_TRY(mxc_ndarray_copy_to(t->loss_scale, mxc_executor_find_arg(t->executors[c], MXCI_LOSS_SCALE), 0));
    return MXC_OK;
}

mxc_status mxci_loss_scaling_report(mxci_trainer *t) {
    float state[2];
    if (!t->loss_scale)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_get(t->loss_scale, state, sizeof state));
    t->progress.loss_scale = (double)state[0];
    return MXC_OK;
}
