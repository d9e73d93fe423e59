#include "operator/kernels/ctc.h"

#include "operator/kernels/fastmath.h"

/* ln(e^a + e^b) */
static double log_add(double a, double b) {
    double most = a > b ? a : b, least = a > b ? b : a;
    return most == -INFINITY ? most : most + log1p(exp(least - most));
}

static double emitted(const mxci_ctc *c, int64_t t, int64_t s) {
    return c->emitted[t * (c->n_labels + 1) + (s % 2 ? (s + 1) / 2 : 0)];
}

/* A way may go from state s - 2 to s, past the blank between: both are labels, and not the same. */
static int may_skip(const mxci_ctc *c, int64_t s) {
    return s % 2 && s >= 2 && c->labels[s / 2] != c->labels[s / 2 - 1];
}

double mxci_ctc_ahead(const mxci_ctc *c) {
    const int64_t states = 2 * c->n_labels + 1;
    const double *last = c->ahead + (c->steps - 1) * states;
    if (c->steps == 0)
        return c->n_labels == 0 ? 0 : -INFINITY;
    for (int64_t s = 0; s < states; s++)
        c->ahead[s] = s < 2 ? emitted(c, 0, s) : -INFINITY;
    for (int64_t t = 1; t < c->steps; t++)
        for (int64_t s = 0; s < states; s++) {
            const double *before = c->ahead + (t - 1) * states;
            double sum = s > 0 ? log_add(before[s], before[s - 1]) : before[s];
            if (may_skip(c, s))
                sum = log_add(sum, before[s - 2]);
            c->ahead[t * states + s] = sum + emitted(c, t, s);
        }
    return states > 1 ? log_add(last[states - 1], last[states - 2]) : last[0];
}

/* behind: of all ways from state s after step t to the end. Rows t and t + 1 take turns. */
void mxci_ctc_occupied(const mxci_ctc *c, int64_t t, double total, double *occupied) {
    const int64_t states = 2 * c->n_labels + 1;
    double *now = c->behind + t % 2 * states;
    const double *next = c->behind + (t + 1) % 2 * states;
    for (int64_t s = 0; s < states; s++) {
        if (t == c->steps - 1) {
            now[s] = s + 2 >= states ? 0 : -INFINITY;
        } else {
            now[s] = next[s] + emitted(c, t + 1, s);
            if (s + 1 < states)
                now[s] = log_add(now[s], next[s + 1] + emitted(c, t + 1, s + 1));
            if (s + 2 < states && may_skip(c, s + 2))
                now[s] = log_add(now[s], next[s + 2] + emitted(c, t + 1, s + 2));
        }
        occupied[s % 2 ? c->labels[s / 2] : c->blank] += exp(c->ahead[t * states + s] + now[s] - total);
    }
}

#define T float
#define NAME(f) f##_f32
#define FN(f) mxci_##f##_f32
#include "operator/kernels/ctc.inc"

#define T double
#define NAME(f) f##_f64
#define FN(f) mxci_##f##_f64
#include "operator/kernels/ctc.inc"

const mxci_ctc_log_sum_fn mxci_ctc_log_sum[MXC_DTYPE_LIMIT] = {[MXC_F32] = log_sum_f32, [MXC_F64] = log_sum_f64};
const mxci_ctc_gradient_fn mxci_ctc_gradient[MXC_DTYPE_LIMIT] = {[MXC_F32] = gradient_f32, [MXC_F64] = gradient_f64};
