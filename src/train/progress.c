/*
 * What people see of a training: on a terminal one line that is redrawn, otherwise plain lines now and then.
 *
 *   epoch 3/10 [############........]  562/938  6120 img/s  loss 0.312  accuracy 88.61%
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "train/trainer.h"

enum { BAR = 20, LINE = 240 };

#define REDRAW_NS INT64_C(100000000)      /* on a terminal */
#define PLAIN_LINE_NS INT64_C(10000000000) /* elsewhere: one line in ten seconds, and one an epoch */

static void add(char *line, const char *text) {
    size_t used = strlen(line);
    snprintf(line + used, LINE - used, "%s", text);
}

static void add_bar(char *line, int64_t done, int64_t total) {
    char bar[BAR + 4] = " [";
    int full = total > 0 ? (int)(done * BAR / total) : 0;
    for (int i = 0; i < BAR; i++)
        bar[2 + i] = i < full ? '#' : '.';
    bar[2 + BAR] = ']';
    add(line, bar);
}

static void add_metrics(char *line, const char *prefix, double loss, double accuracy) {
    char text[80];
    if (isfinite(loss)) {
        snprintf(text, sizeof text, "  %sloss %.4f", prefix, loss);
        add(line, text);
    }
    if (isfinite(accuracy)) {
        snprintf(text, sizeof text, "  %saccuracy %.2f%%", prefix, 100 * accuracy);
        add(line, text);
    }
}

static void begin_line(char *line, const mxci_trainer *t, int with_bar) {
    const mxc_fit_progress *p = &t->progress;
    char text[80];
    snprintf(line, LINE, "epoch %lld/%lld", (long long)p->epoch + 1, (long long)p->epochs);
    if (with_bar && p->batches > 0)
        add_bar(line, p->batch, p->batches);
    if (p->batches > 0)
        snprintf(text, sizeof text, "  %lld/%lld", (long long)p->batch, (long long)p->batches);
    else
        snprintf(text, sizeof text, "  batch %lld", (long long)p->batch);
    add(line, text);
    snprintf(text, sizeof text, "  %.0f img/s", p->samples_per_second);
    add(line, text);
    add_metrics(line, "", p->loss, p->accuracy);
}

void mxci_progress_batch(mxci_trainer *t) {
    int64_t now = mxci_now_ns();
    if (!t->options->show || now - t->drawn < (t->is_terminal ? REDRAW_NS : PLAIN_LINE_NS))
        return;
    char line[LINE + 8];
    t->drawn = now;
    begin_line(line, t, t->is_terminal);
    if (t->is_terminal) {
        char redraw[LINE + 16];
        int n = snprintf(redraw, sizeof redraw, "\r%s\033[K", line);
        mxci_stderr_write(redraw, (size_t)n);
    } else {
        add(line, "\n");
        mxci_stderr_write(line, strlen(line));
    }
}

void mxci_progress_epoch(mxci_trainer *t) {
    if (!t->options->show)
        return;
    char line[LINE + 8];
    begin_line(line, t, 0);
    add_metrics(line, "validation ", t->progress.valid_loss, t->progress.valid_accuracy);
    if (t->is_terminal)
        mxci_stderr_write("\r\033[K", 4);
    mxci_stderr_write(line, strlen(line));
    mxci_stderr_write("\n", 1);
    t->drawn = mxci_now_ns();
}
