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

static mxc_status rewrite_symbol(const mxci_trainer *trainer, int is_scaled, mxc_symbol *symbol, mxc_symbol **out) {
    mxc_iter *iter = trainer->options->train;
    mxci_mixed_precision p = {.dtype = MXC_F32, .is_scaled = is_scaled};
    p.n_fed = mxc_iter_n_data(iter) + mxc_iter_n_label(iter);
    if (mxci_is_16bit_training(trainer->options))
        p.dtype = mxc_dtype_from_name(trainer->options->dtype);
    if (mxci_is_16bit_training(trainer->options) && p.dtype != MXC_F16 && p.dtype != MXC_BF16)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: dtype is \"%.40s\", expected float32, float16 or bfloat16",
                        trainer->options->dtype);
    const char **fed = mxci_calloc((size_t)p.n_fed, sizeof *fed);
    if (!fed)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %d names", p.n_fed);
    for (int i = 0; i < p.n_fed; i++)
        fed[i] = mxc_iter_desc(iter, i)->name;
    p.fed = fed;
    mxc_status status = mxci_mixed_precision_rewrite(&p, symbol, out);
    mxci_free(fed);
    return status;
}

mxc_status mxci_loss_scaling_symbol(const mxci_trainer *trainer, mxc_symbol *symbol, mxc_symbol **out) {
    double scale;
    int is_dynamic;
    MXC_TRY(read_scale(trainer->options, &scale, &is_dynamic));
    if (mxci_is_16bit_training(trainer->options) || scale > 0)
        return rewrite_symbol(trainer, scale > 0, symbol, out);
    *out = mxc_symbol_retain(symbol);
    return MXC_OK;
}

/* ---- the scale --------------------------------------------------------------------------------------------------- */

/* trainer->loss_scale is where the store keeps values: with one context the executor's own array, otherwise an array
 * that is copied to all executors after each update. */
mxc_status mxci_loss_scaling_scale(mxci_trainer *trainer) {
    static const int64_t two[1] = {2};
    double scale;
    int is_dynamic;
    MXC_TRY(read_scale(trainer->options, &scale, &is_dynamic));
    if (scale == 0)
        return MXC_OK;
    const float state[2] = {(float)scale, 0};
    mxc_ndarray *first = mxc_executor_find_arg(trainer->executors[0], MXCI_LOSS_SCALE);
    if (!first)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: loss_scale is given, but no operator of the network is a loss");
    int is_local = strcmp(trainer->options->kvstore, "local") == 0; /* the store keeps values on the host */
    if (trainer->n_contexts == 1)
        trainer->loss_scale = mxc_ndarray_retain(first);
    else
        MXC_TRY(
            mxc_ndarray_create(1, two, MXC_F32, is_local ? mxc_cpu(0) : trainer->contexts[0], &trainer->loss_scale));
    MXC_TRY(mxc_ndarray_set(trainer->loss_scale, state, sizeof state));
    return mxci_loss_scaling_step(trainer);
}

mxc_status mxci_loss_scaling_optimizer(mxci_trainer *trainer) {
    double scale;
    int is_dynamic;
    if (!trainer->loss_scale)
        return MXC_OK;
    MXC_TRY(read_scale(trainer->options, &scale, &is_dynamic));
    return mxci_optimizer_set_loss_scale(trainer->optimizer, trainer->loss_scale, is_dynamic ? INTERVAL : 0);
}

mxc_status mxci_loss_scaling_step(const mxci_trainer *trainer) {
    for (int c = 0; trainer->loss_scale && trainer->n_contexts > 1 && c < trainer->n_contexts; c++)
        MXC_TRY(
            mxc_ndarray_copy_to(trainer->loss_scale, mxc_executor_find_arg(trainer->executors[c], MXCI_LOSS_SCALE), 0));
    return MXC_OK;
}

mxc_status mxci_loss_scaling_report(mxci_trainer *trainer) {
    float state[2];
    if (!trainer->loss_scale)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_get(trainer->loss_scale, state, sizeof state));
    trainer->progress.loss_scale = (double)state[0];
    return MXC_OK;
}
