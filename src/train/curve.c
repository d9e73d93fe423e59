/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learning curves as SVG: a panel for each metric, in two columns, with the training and the validation data over
 * epochs.
 *
 * Plain SVG 1.1 with text in a generic font; no scripts, nothing loaded from elsewhere.
 */
#include "train/curve.h"

#include <math.h>
#include <string.h>

#include "base/sys.h"

enum { MOST_PANELS = 4, PANEL_WIDTH = 360, PANEL_HEIGHT = 240, LEFT = 70, TOP = 60 };
enum { COLUMN_WIDTH = 440, ROW_HEIGHT = 340, MARGIN = 20 }; /* from panel to panel; around all */
enum { EPOCH = 0, FIRST_VALUE = 1 };                        /* of a point */

static const struct series {
    const char *label, *color;
} all_series[2] = {{"training", "#3b6fb6"}, {"validation", "#d9822b"}};

typedef struct panel {
    const mxci_curve_metric *metric;
    int column; /* of its training values in a point; the validation values follow */
    int left, top;
} panel;

typedef struct axis {
    double low, high, step; /* step between ticks; low and high are multiples of it */
} axis;

int mxci_curve_point_size(const mxci_curve_history *history) {
    return FIRST_VALUE + 2 * history->n_metrics;
}

mxc_status mxci_curve_history_add(mxci_curve_history *history, double epoch, const double *values) {
    const size_t size = (size_t)mxci_curve_point_size(history);
    if (history->n == history->capacity) {
        int64_t capacity = history->capacity > 0 ? 2 * history->capacity : 16;
        double *grown = mxci_realloc_array(history->points, (size_t)capacity, size * sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "no memory for the history of %lld epochs", (long long)capacity);
        history->points = grown;
        history->capacity = capacity;
    }
    double *point = history->points + (size_t)history->n++ * size;
    point[EPOCH] = epoch;
    if (size > FIRST_VALUE)
        memcpy(point + FIRST_VALUE, values, (size - FIRST_VALUE) * sizeof *values);
    return MXC_OK;
}

void mxci_curve_history_free(mxci_curve_history *history) {
    mxci_free(history->points);
    *history = (mxci_curve_history){.n_metrics = 0};
}

static const double *point_at(const mxci_curve_history *h, int64_t i) {
    return h->points + (size_t)i * (size_t)mxci_curve_point_size(h);
}

/* NaN where there is nothing to draw. */
static double value_of(const mxci_curve_history *h, int64_t i, const panel *p, int series) {
    double value = point_at(h, i)[p->column + series];
    if (!(fabs(value) < 1e30)) /* differences of drawn values must be finite */
        return NAN;
    return p->metric->is_share ? 100 * value : value;
}

/* Ticks at 1, 2 or 5 times a power of ten, about count of them. */
static axis choose_axis(double low, double high, int count) {
    if (!(high > low)) {
        low -= 0.5;
        high = low + 1;
    }
    double rough = (high - low) / count, power = pow(10, floor(log10(rough))), ratio = rough / power;
    double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    return (axis){floor(low / step) * step, ceil(high / step) * step, step};
}

/* The range of all values that the panel draws, training and validation. */
static axis value_axis(const mxci_curve_history *h, const panel *p) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < h->n; i++)
        for (int s = 0; s < 2; s++) {
            double v = value_of(h, i, p, s);
            if (isfinite(v)) {
                low = v < low ? v : low;
                high = v > high ? v : high;
            }
        }
    return isfinite(low) ? choose_axis(low, high, 5) : (axis){0, 1, 0.25};
}

/* Epochs 0 to the last, with ticks at integers. */
static axis epoch_axis(const mxci_curve_history *h) {
    axis a = choose_axis(0, h->n > 0 ? fmax(1, point_at(h, h->n - 1)[EPOCH]) : 1, 6);
    if (a.step < 1)
        a = (axis){0, ceil(a.high), 1};
    return a;
}

static double x_at(const panel *p, axis a, double v) {
    return p->left + (v - a.low) / (a.high - a.low) * PANEL_WIDTH;
}

static double y_at(const panel *p, axis a, double v) {
    return p->top + PANEL_HEIGHT - (v - a.low) / (a.high - a.low) * PANEL_HEIGHT;
}

static mxc_status write_value_ticks(mxci_writer *w, const panel *p, axis a) {
    for (int i = 0; a.low + i * a.step <= a.high + a.step / 2; i++) {
        double v = a.low + i * a.step, y = y_at(p, a, v);
        MXC_TRY(mxci_writer_printf(w, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", p->left,
                                   y, p->left + PANEL_WIDTH, y));
        MXC_TRY(mxci_writer_printf(w, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.6g%s</text>\n",
                                   p->left - 8, y + 4, fabs(v) < a.step / 1e6 ? 0 : v, p->metric->is_share ? "%" : ""));
    }
    return MXC_OK;
}

static mxc_status write_epoch_ticks(mxci_writer *w, const panel *p, axis a) {
    for (double v = a.low; v <= a.high + a.step / 2; v += a.step)
        MXC_TRY(mxci_writer_printf(w, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.6g</text>\n",
                                   x_at(p, a, v), p->top + PANEL_HEIGHT + 20, v));
    return mxci_writer_printf(w, "<text class=\"tick\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">epoch</text>\n",
                              p->left + PANEL_WIDTH / 2, p->top + PANEL_HEIGHT + 40);
}

/* One line through the finite points, with a dot on each. */
static mxc_status write_series(mxci_writer *w, const mxci_curve_history *h, const panel *p, int series, axis x,
                               axis y) {
    const char *color = all_series[series].color;
    MXC_TRY(mxci_writer_printf(w, "<polyline class=\"line\" stroke=\"%s\" points=\"", color));
    for (int64_t i = 0; i < h->n; i++) {
        double v = value_of(h, i, p, series);
        if (isfinite(v))
            MXC_TRY(mxci_writer_printf(w, "%.1f,%.1f ", x_at(p, x, point_at(h, i)[EPOCH]), y_at(p, y, v)));
    }
    MXC_TRY(mxci_writer_printf(w, "\"/>\n"));
    for (int64_t i = 0; i < h->n; i++) {
        double v = value_of(h, i, p, series);
        if (isfinite(v))
            MXC_TRY(mxci_writer_printf(w, "<circle r=\"2.5\" fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\"/>\n", color,
                                       x_at(p, x, point_at(h, i)[EPOCH]), y_at(p, y, v)));
    }
    return MXC_OK;
}

static int has_values(const mxci_curve_history *h, const panel *p, int series) {
    for (int64_t i = 0; i < h->n; i++)
        if (isfinite(value_of(h, i, p, series)))
            return 1;
    return 0;
}

static mxc_status write_legend(mxci_writer *w, const mxci_curve_history *h, const panel *p) {
    for (int i = 0; i < 2; i++) {
        if (!has_values(h, p, i))
            continue;
        int x = p->left + 95 * i;
        MXC_TRY(mxci_writer_printf(w, "<line class=\"line\" stroke=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
                                   all_series[i].color, x, p->top - 16, x + 20, p->top - 16));
        MXC_TRY(mxci_writer_printf(w, "<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", x + 26, p->top - 12,
                                   all_series[i].label));
    }
    return MXC_OK;
}

/* A program's metric may have any name. */
static mxc_status write_escaped(mxci_writer *w, const char *text) {
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            MXC_TRY(mxci_writer_printf(w, "&#%d;", *text));
        else if ((unsigned char)*text >= ' ')
            MXC_TRY(mxci_writer_write(w, text, 1));
    }
    return MXC_OK;
}

static mxc_status write_panel(mxci_writer *w, const mxci_curve_history *h, const panel *p) {
    axis x = epoch_axis(h), y = value_axis(h, p);
    MXC_TRY(mxci_writer_printf(w, "<text class=\"title\" x=\"%d\" y=\"%d\">%s", p->left, p->top - 34,
                               p->metric->is_loss ? "loss (" : ""));
    MXC_TRY(write_escaped(w, p->metric->name));
    MXC_TRY(mxci_writer_printf(w, "%s</text>\n", p->metric->is_loss ? ")" : ""));
    MXC_TRY(write_value_ticks(w, p, y));
    MXC_TRY(write_epoch_ticks(w, p, x));
    for (int i = 0; i < 2; i++)
        MXC_TRY(write_series(w, h, p, i, x, y));
    return write_legend(w, h, p);
}

static mxc_status write_svg(mxci_writer *w, const mxci_curve_history *h) {
    int n = h->n_metrics < MOST_PANELS ? h->n_metrics : MOST_PANELS;
    int width = (n > 1 ? 2 : 1) * COLUMN_WIDTH + MARGIN, height = (n > 2 ? 2 : 1) * ROW_HEIGHT + MARGIN;
    MXC_TRY(mxci_writer_printf(w,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                               "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n"
                               "<style>.grid{stroke:#e3e3e3}.tick{font-size:12px;fill:#555}"
                               ".title{font-size:15px;fill:#222}.line{fill:none;stroke-width:2}</style>\n"
                               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                               width, height, width, height));
    for (int i = 0; i < n; i++) {
        const panel p = {&h->metrics[i], FIRST_VALUE + 2 * i, LEFT + i % 2 * COLUMN_WIDTH, TOP + i / 2 * ROW_HEIGHT};
        MXC_TRY(write_panel(w, h, &p));
    }
    return mxci_writer_printf(w, "</svg>\n");
}

mxc_status mxci_curve_write(const char *path, const mxci_curve_history *history) {
    mxci_writer *w;
    MXC_TRY(mxci_writer_open(path, &w));
    mxc_status status = write_svg(w, history);
    if (status == MXC_OK)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return status;
}
