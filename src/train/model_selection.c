/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which epoch's model is the best by the monitored metric, and when training stops because there is no better one.
 *
 * The state is the best value and its epoch, in the progress. Workers that update together decide by the value of
 * worker 0, so that all of them stop after the same epoch.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "kvstore/kvstore.h"
#include "train/trainer.h"

static int is_used(const mxc_fit_options *o) {
    return o->monitor || o->save_best || o->patience > 0;
}

mxc_status mxci_model_selection_open(mxci_trainer *trainer) {
    const mxc_fit_options *o = trainer->options;
    char names[MXC_FIT_METRICS * MXC_METRIC_NAME];
    mxci_line line = {names, sizeof names, 0};
    if (!is_used(o))
        return MXC_OK;
    if (o->patience < 0 || !(o->min_delta >= 0) || (o->save_best && !o->checkpoint))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_fit: patience %lld and min_delta %g, expected 0 or more; save_best needs a checkpoint "
                        "prefix",
                        (long long)o->patience, o->min_delta);
    if (!o->monitor)
        trainer->monitored = trainer->loss >= 0 ? trainer->loss : trainer->n_metrics - 1;
    names[0] = '\0';
    for (int i = 0; i < trainer->n_metrics; i++) {
        const char *name = mxc_metric_name(trainer->metrics[i]);
        mxci_line_printf(&line, "%s%s", i ? ", " : "", name);
        if (o->monitor && (strcmp(name, o->monitor) == 0 || (strcmp("loss", o->monitor) == 0 && i == trainer->loss)))
            trainer->monitored = i;
    }
    if (trainer->monitored >= 0)
        return MXC_OK;
    return MXC_FAIL(MXC_ENOTFOUND, "mxc_fit: there is no metric \"%.63s\" to choose models by; there are: %s",
                    o->monitor ? o->monitor : "loss", names);
}

/* Replace the value by that of worker 0. */
static mxc_status share_value(const mxci_trainer *trainer, double *value) {
    int64_t bits = INT64_MAX; /* of the others: no bits are larger */
    if (!trainer->is_synchronous)
        return MXC_OK;
    if (mxc_kvstore_rank(trainer->store) == 0)
        memcpy(&bits, value, sizeof bits);
    MXC_TRY(mxci_kvstore_allreduce_min(trainer->store, "monitored metric", &bits));
    memcpy(value, &bits, sizeof bits);
    return MXC_OK;
}

mxc_status mxci_model_selection_judge(mxci_trainer *trainer) {
    const mxc_fit_options *o = trainer->options;
    mxc_fit_progress *p = &trainer->progress;
    if (trainer->monitored < 0)
        return MXC_OK;
    const mxc_fit_metric *metric = &p->metrics[trainer->monitored];
    double value = o->valid ? metric->valid : metric->train;
    MXC_TRY(share_value(trainer, &value));
    double gain = mxc_metric_higher_is_better(trainer->metrics[trainer->monitored]) ? value - p->best : p->best - value;
    trainer->is_best = !isnan(value) && (isnan(p->best) || gain > o->min_delta);
    if (trainer->is_best) {
        p->best = value;
        p->best_epoch = p->epoch + 1;
    }
    return MXC_OK;
}

int mxci_model_selection_has_ended(const mxci_trainer *trainer) {
    const mxc_fit_progress *p = &trainer->progress;
    return trainer->options->patience > 0 && p->epoch - p->best_epoch >= trainer->options->patience;
}
