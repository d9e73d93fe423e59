/*
 * What people see of a training: on a terminal one line that is redrawn, and one that stays for each epoch; elsewhere
 * plain lines.
 *
 *   epoch  3/10 [=======>....]  6120 samples/s  loss 0.3121  accuracy 88.61%  0:04 left
 *   epoch  3/10  6085 samples/s  loss 0.3098  accuracy 88.70%  validation:  loss 0.3310  accuracy 87.92%
 *
 * The redrawn line is cut at the terminal's edge rather than wrapped.
 */
#include <math.h>

#include "base/sys.h"
#include "base/text.h"
#include "train/trainer.h"

enum { BAR = 12, LINE = 240 };

#define LINE_BEGIN "\r\033[?7l" /* no wrapping */
#define LINE_END "\033[K\033[?7h"

#define REDRAW_NS INT64_C(100000000)       /* on a terminal */
#define PLAIN_LINE_NS INT64_C(10000000000) /* elsewhere: a line in ten seconds, and one an epoch */

static void add_bar(mxci_line *line, int64_t done, int64_t total) {
    char bar[BAR + 1];
    int full = done >= total ? BAR : (int)(done * BAR / total);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < full ? '=' : i == full ? '>' : '.';
    bar[BAR] = '\0';
    mxci_line_printf(line, " [%s]", bar);
}

static void add_metrics(mxci_line *line, double loss, double accuracy) {
    if (isfinite(loss))
        mxci_line_printf(line, "  loss %.4f", loss);
    if (isfinite(accuracy))
        mxci_line_printf(line, "  accuracy %.2f%%", 100 * accuracy);
}

static void add_epoch(mxci_line *line, const mxc_fit_progress *p) {
    int width = 1;
    for (int64_t n = p->epochs; n >= 10; n /= 10)
        width++;
    mxci_line_printf(line, "epoch %*lld/%lld", width, (long long)p->epoch + 1, (long long)p->epochs);
}

static void add_numbers(mxci_line *line, const mxc_fit_progress *p) {
    mxci_line_printf(line, "  %.0f samples/s", p->samples_per_second);
    add_metrics(line, p->loss, p->accuracy);
}

/* Time until the epoch's end at the rate of now. */
static void add_time_left(mxci_line *line, const mxci_trainer *t) {
    const mxc_fit_progress *p = &t->progress;
    double seconds = (double)(p->batches - p->batch) * (double)t->batch_size / p->samples_per_second;
    if (p->batches > p->batch && p->samples_per_second > 0 && seconds < 360000)
        mxci_line_printf(line, "  %d:%02d left", (int)seconds / 60, (int)seconds % 60);
}

static void write_line(const mxci_line *line) {
    mxci_stderr_write(line->data, line->length);
}

void mxci_progress_begin(const mxci_trainer *t) {
    char text[LINE], output[LINE / 2];
    mxci_line line = { text, sizeof text, 0 };
    if (!t->options->show || t->loss != NULL)
        return;
    mxci_measures_describe(t, output, sizeof output);
    mxci_line_printf(&line, "no loss is shown: mxc_fit knows none for the last output, %s\n", output);
    write_line(&line);
}

void mxci_progress_batch(mxci_trainer *t) {
    const mxc_fit_progress *p = &t->progress;
    int64_t now = mxci_now_ns();
    char text[LINE];
    mxci_line line = { text, sizeof text, 0 };
    if (!t->options->show || now - t->drawn < (t->is_terminal ? REDRAW_NS : PLAIN_LINE_NS))
        return;
    t->drawn = now;
    if (t->is_terminal)
        mxci_line_printf(&line, LINE_BEGIN);
    add_epoch(&line, p);
    if (!t->is_terminal || p->batches <= 0)
        mxci_line_printf(&line, "  batch %lld", (long long)p->batch);
    else
        add_bar(&line, p->batch, p->batches);
    add_numbers(&line, p);
    add_time_left(&line, t);
    mxci_line_printf(&line, t->is_terminal ? LINE_END : "\n");
    write_line(&line);
    t->line_is_open = t->is_terminal;
}

void mxci_progress_epoch(mxci_trainer *t) {
    const mxc_fit_progress *p = &t->progress;
    char text[LINE];
    mxci_line line = { text, sizeof text, 0 };
    if (!t->options->show)
        return;
    if (t->is_terminal)
        mxci_line_printf(&line, "\r\033[K");
    add_epoch(&line, p);
    add_numbers(&line, p);
    if (isfinite(p->valid_loss))
        mxci_line_printf(&line, "  validation:");
    add_metrics(&line, p->valid_loss, p->valid_accuracy);
    mxci_line_printf(&line, "\n");
    write_line(&line);
    t->drawn = mxci_now_ns();
    t->line_is_open = 0;
}

void mxci_progress_end(mxci_trainer *t) {
    if (t->line_is_open)
        mxci_stderr_write("\n", 1);
    t->line_is_open = 0;
}
