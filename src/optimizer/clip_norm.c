/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clips the global norm of the gradients of a flush, in place, by the operators of operator/update/global_norm.c.
 * Gradients may have different dtypes, so the sum of squares of each is an operator of its own. All of it is queued;
 * operators and arrays are kept, so that later flushes of as many gradients allocate nothing.
 */
#include <math.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "optimizer/optimizer.h"

void mxci_optimizer_clip_reset(mxci_optimizer_clip *clip) {
    for (int i = 0; i < clip->n; i++)
        mxc_ndarray_release(clip->parts[i]);
    mxci_free(clip->parts);
    mxc_ndarray_release(clip->sums);
    mxc_ndarray_release(clip->scaled);
    mxc_op_release(clip->square_sum);
    mxc_op_release(clip->scale);
    mxc_op_release(clip->clip);
    memset(clip, 0, sizeof *clip);
}

void mxci_optimizer_set_clip_norm(mxc_optimizer *optimizer, double max_norm) {
    mxci_optimizer_clip_reset(&optimizer->clip);
    optimizer->clip.max_norm = max_norm;
}

static mxc_status open_ops(const mxc_optimizer *optimizer, mxci_optimizer_clip *clip) {
    const char *keys[] = {"num_arrays", "max_norm"}, *one = "1";
    char text[32];
    const char *limit = text;
    mxci_format(text, sizeof text, "%.17g", clip->max_norm / fabs(optimizer->settings.rescale_grad));
    MXC_TRY(mxc_op_create("multi_sum_sq", 1, &keys[0], &one, &clip->square_sum));
    MXC_TRY(mxc_op_create("broadcast_mul", 0, NULL, NULL, &clip->scale));
    return mxc_op_create("clip_global_norm", 1, &keys[1], &limit, &clip->clip);
}

/* Room for n sums of squares on the gradients' context, and a view of each. */
static mxc_status open_sums(mxci_optimizer_clip *clip, int n, mxc_context context) {
    const int64_t dims[1] = {n};
    MXC_TRY(mxc_ndarray_create(1, dims, MXC_F32, context, &clip->sums));
    MXC_TRY(mxc_ndarray_create(1, dims, MXC_F32, context, &clip->scaled));
    clip->parts = mxci_calloc((size_t)n, sizeof *clip->parts);
    if (!clip->parts)
        return MXC_FAIL(MXC_ENOMEM, "clip_norm: no memory for %d gradients", n);
    for (; clip->n < n; clip->n++)
        MXC_TRY(mxc_ndarray_slice(clip->sums, clip->n, clip->n + 1, &clip->parts[clip->n]));
    return MXC_OK;
}

/* The norm is that of the gradients as they are applied: multiplied by rescale_grad, and divided by the loss scale,
 * whose factor enters the squares twice. */
mxc_status mxci_optimizer_clip_gradients(mxc_optimizer *optimizer) {
    mxci_optimizer_clip *clip = &optimizer->clip;
    const int n = optimizer->n_items;
    if (clip->n != n) {
        mxci_optimizer_set_clip_norm(optimizer, clip->max_norm);
        MXC_TRY(open_ops(optimizer, clip));
        MXC_TRY(open_sums(clip, n, mxc_ndarray_context(optimizer->items[0].grad)));
    }
    for (int i = 0; i < n; i++)
        MXC_TRY(mxc_op_invoke(clip->square_sum, 1, &optimizer->items[i].grad, 1, &clip->parts[i], NULL, 1));
    if (optimizer->scale.state) {
        mxc_ndarray *first[2] = {clip->sums, optimizer->scale.factor}, *second[2] = {clip->scaled, first[1]};
        MXC_TRY(mxc_op_invoke(clip->scale, 2, first, 1, &clip->scaled, NULL, 1));
        MXC_TRY(mxc_op_invoke(clip->scale, 2, second, 1, &clip->sums, NULL, 1));
    }
    for (int i = 0; i < n; i++) {
        mxc_ndarray *in[2] = {optimizer->items[i].grad, clip->sums};
        MXC_TRY(mxc_op_invoke(clip->clip, 2, in, 1, &optimizer->items[i].grad, NULL, 1));
    }
    return MXC_OK;
}
