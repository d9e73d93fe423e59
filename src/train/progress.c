/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a training on standard error: on a terminal one line that is redrawn, and one that stays for each
 * epoch; elsewhere plain lines.
 *
 *   epoch  3/10 [=======>....]  6120 samples/s  loss 0.3121  accuracy 88.61%  0:04 left
 *   epoch  3/10  6085 samples/s  loss 0.3098  accuracy 88.70%  validation:  loss 0.3310  accuracy 87.92%
 *
 * The bar fills the width of the terminal that the numbers do not need. On a narrow terminal some numbers are left out,
 * and the line of an epoch is broken into two.
 */
#include <math.h>

#include "base/sys.h"
#include "base/text.h"
#include "train/trainer.h"

/* Widths of the bar in cells: the least; the width below which numbers are left out instead; the largest. */
enum { NARROW_BAR = 3, LEAST_BAR = 10, MOST_BAR = 200, LINE = 2048 };

#define LINE_BEGIN "\r\033[?7l" /* no wrapping */
#define LINE_END "\033[K\033[?7h"

#define REDRAW_NS INT64_C(100000000)       /* on a terminal */
#define PLAIN_LINE_NS INT64_C(10000000000) /* elsewhere: a line in ten seconds, and one an epoch */

static void add_bar(mxci_line *line, int64_t done, int64_t total, int cells) {
    char bar[MOST_BAR + 1];
    int full = done >= total ? cells : (int)((double)done / (double)total * cells);
    for (int i = 0; i < cells; i++)
        bar[i] = i < full ? '=' : i == full ? '>' : '.';
    bar[cells] = '\0';
    mxci_line_printf(line, " [%s]", bar);
}

/* The metrics of the training or the validation data that have a value, each after gap. */
static void add_metrics(mxci_line *line, const mxci_trainer *trainer, int of_validation, const char *gap) {
    for (int i = 0; i < trainer->n_metrics; i++) {
        const mxc_fit_metric *m = &trainer->progress.metrics[i];
        const double value = of_validation ? m->valid : m->train;
        const char *name = i == trainer->loss ? "loss" : m->name;
        if (isfinite(value) && trainer->history.metrics[i].is_share)
            mxci_line_printf(line, "%s%s %.2f%%", gap, name, 100 * value);
        else if (isfinite(value))
            mxci_line_printf(line, "%s%s %.4f", gap, name, value);
    }
}

static int has_validation(const mxc_fit_progress *p) {
    for (int i = 0; i < p->n_metrics; i++)
        if (isfinite(p->metrics[i].valid))
            return 1;
    return 0;
}

static void add_epoch(mxci_line *line, const mxc_fit_progress *p) {
    int width = 1;
    for (int64_t n = p->epochs; n >= 10; n /= 10)
        width++;
    mxci_line_printf(line, "epoch %*lld/%lld", width, (long long)p->epoch + 1, (long long)p->epochs);
}

static void add_rate(mxci_line *line, const mxc_fit_progress *p) {
    mxci_line_printf(line, "  %.0f samples/s", p->samples_per_second);
}

/* Time until the epoch's end at the rate of now. */
static void add_time_left(mxci_line *line, const mxci_trainer *trainer) {
    const mxc_fit_progress *p = &trainer->progress;
    double seconds = (double)(p->batches - p->batch) * (double)trainer->batch_size / p->samples_per_second;
    if (p->batches > p->batch && p->samples_per_second > 0 && seconds < 360000)
        mxci_line_printf(line, "  %d:%02d left", (int)seconds / 60, (int)seconds % 60);
}

static void write_line(const mxci_line *line) {
    mxci_stderr_write(line->data, line->length);
}

void mxci_progress_begin(const mxci_trainer *trainer) {
    char text[LINE], output[LINE / 2];
    mxci_line line = {text, sizeof text, 0};
    if (!trainer->options->show || trainer->loss >= 0 || trainer->options->n_metrics > 0)
        return;
    mxci_fit_metrics_describe(trainer, output, sizeof output);
    mxci_line_printf(&line, "no loss is shown: none is defined for the last output, %s\n", output);
    write_line(&line);
}

/* The text behind the bar, in at most this number of columns if that is possible. */
static void add_numbers(mxci_line *line, const mxci_trainer *trainer, size_t columns) {
    const mxci_line empty = *line;
    for (int left_out = 0; left_out < 3; left_out++) { /* the rate, then the time too */
        *line = empty;
        if (left_out < 1)
            add_rate(line, &trainer->progress);
        add_metrics(line, trainer, 0, "  ");
        if (left_out < 2)
            add_time_left(line, trainer);
        if (line->length - empty.length <= columns)
            return;
    }
}

/* The line that is redrawn. */
static void draw(mxci_trainer *trainer, int columns) {
    const mxc_fit_progress *p = &trainer->progress;
    char text[LINE], rest_text[LINE];
    mxci_line line = {text, sizeof text, 0}, rest = {rest_text, sizeof rest_text, 0};
    size_t begin, room;
    int cells;
    rest_text[0] = '\0';
    mxci_line_printf(&line, LINE_BEGIN);
    begin = line.length;
    add_epoch(&line, p);
    if (p->batches <= 0)
        mxci_line_printf(&line, "  batch %lld", (long long)p->batch);
    room = (size_t)columns > line.length - begin ? (size_t)columns - (line.length - begin) : 0;
    add_numbers(&rest, trainer, p->batches <= 0 ? room : room > LEAST_BAR + 4 ? room - LEAST_BAR - 4 : 0);
    cells = room > rest.length + 4 ? (int)(room - rest.length) - 4 : 0;
    if (p->batches > 0)
        add_bar(&line, p->batch, p->batches, cells < NARROW_BAR ? NARROW_BAR : cells > MOST_BAR ? MOST_BAR : cells);
    mxci_line_printf(&line, "%s" LINE_END, rest_text);
    write_line(&line);
    trainer->line_is_open = 1;
}

void mxci_progress_batch(mxci_trainer *trainer) {
    int64_t now = mxci_now_ns();
    char text[LINE];
    mxci_line line = {text, sizeof text, 0};
    int columns;
    if (!trainer->options->show || now - trainer->drawn < REDRAW_NS)
        return;
    columns = mxci_stderr_columns();
    if (columns == 0 && now - trainer->drawn < PLAIN_LINE_NS)
        return;
    trainer->drawn = now;
    if (columns > 0) {
        draw(trainer, columns);
        return;
    }
    add_epoch(&line, &trainer->progress);
    mxci_line_printf(&line, "  batch %lld", (long long)trainer->progress.batch);
    add_numbers(&line, trainer, SIZE_MAX);
    mxci_line_printf(&line, "\n");
    write_line(&line);
}

/* The format of the line that stays after an epoch: the first of these that fits. */
typedef enum form { WHOLE, SHORT, TWO_LINES } form;

static void add_result(mxci_line *line, const mxci_trainer *trainer, form form) {
    const mxc_fit_progress *p = &trainer->progress;
    const char *gap = form == WHOLE ? "  " : " ";
    add_epoch(line, p);
    if (form == WHOLE)
        add_rate(line, p);
    add_metrics(line, trainer, 0, gap);
    if (has_validation(p))
        mxci_line_printf(line, "%s  validation:", form == TWO_LINES ? "\n" : "");
    add_metrics(line, trainer, 1, gap);
}

void mxci_progress_epoch(mxci_trainer *trainer) {
    char text[LINE];
    mxci_line line = {text, sizeof text, 0};
    int columns;
    if (!trainer->options->show)
        return;
    columns = mxci_stderr_columns();
    add_result(&line, trainer, WHOLE);
    for (form form = SHORT; form <= TWO_LINES && columns > 0 && line.length > (size_t)columns; form++) {
        line.length = 0;
        add_result(&line, trainer, form);
    }
    mxci_line_printf(&line, "\n");
    if (columns > 0)
        mxci_stderr_write("\r\033[K", 4);
    write_line(&line);
    trainer->drawn = mxci_now_ns();
    trainer->line_is_open = 0;
}

void mxci_progress_end(mxci_trainer *trainer) {
    if (trainer->line_is_open)
        mxci_stderr_write("\n", 1);
    trainer->line_is_open = 0;
}
