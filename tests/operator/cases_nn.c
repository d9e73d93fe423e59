/* Cases of the layers: FullyConnected, Convolution, Pooling, Activation, BatchNorm, Dropout. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* ---- FullyConnected ---------------------------------------------------------------------------------------------- */

static void ref_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1], n = case_size(&r->out_shape[0]) / h;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < h; j++) {
            double sum = r->n_in > 2 ? r->in[2][j] : 0;
            for (int64_t p = 0; p < k; p++)
                sum += r->in[0][i * k + p] * r->in[1][j * k + p];
            r->out[0][i * h + j] = sum;
        }
}

static void ref_fc_relu(const op_run *r) {
    ref_fc(r);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->out[0][i] < 0 ? 0 : r->out[0][i];
}

static void grad_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1], n = case_size(&r->out_shape[0]) / h;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < h; j++) {
            double g = r->out_grad[0][i * h + j];
            for (int64_t p = 0; p < k; p++) {
                r->in_grad[0][i * k + p] += g * r->in[1][j * k + p];
                r->in_grad[1][j * k + p] += g * r->in[0][i * k + p];
            }
            if (r->n_in > 2)
                r->in_grad[2][j] += g;
        }
}

/* ---- windows: convolution and pooling ---------------------------------------------------------------------------- */

static case_windows windows_of(const op_run *r) {
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    for (int i = 0; i < 3 && case_is(r, "global_pool", "True"); i++) {
        w.kernel[i] = w.plane[i];
        w.stride[i] = 1;
        w.pad[i] = 0;
    }
    return w;
}

/* Calls visit for every product of the convolution, with the indices in out, data and weight. */
static void each_product(const op_run *r, void (*visit)(const op_run *, int64_t, int64_t, int64_t)) {
    case_windows w = windows_of(r);
    int64_t filters = r->in_shape[1].dim[0], per_group = r->in_shape[1].dim[1], channels = r->in_shape[0].dim[1];
    int64_t pixels = case_volume(w.windows), plane = case_volume(w.plane), places = case_volume(w.kernel);
    for (int64_t n = 0; n < r->in_shape[0].dim[0]; n++)
        for (int64_t f = 0; f < filters; f++)
            for (int64_t p = 0; p < pixels; p++)
                for (int64_t c = 0; c < per_group; c++)
                    for (int64_t k = 0; k < places; k++) {
                        int64_t at = case_under(&w, p, k);
                        int64_t channel = f / (filters / (channels / per_group)) * per_group + c;
                        if (at >= 0)
                            visit(r, (n * filters + f) * pixels + p, (n * channels + channel) * plane + at,
                                  (f * per_group + c) * places + k);
                    }
}

static void conv_add(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->out[0][out] += r->in[0][data] * r->in[1][weight];
}

static void conv_share(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->in_grad[0][data] += r->out_grad[0][out] * r->in[1][weight];
    r->in_grad[1][weight] += r->out_grad[0][out] * r->in[0][data];
}

static void ref_conv(const op_run *r) {
    int64_t filters = r->in_shape[1].dim[0], n = case_size(&r->out_shape[0]);
    int64_t pixels = filters && r->out_shape[0].dim[0] ? n / filters / r->out_shape[0].dim[0] : 1;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->n_in > 2 ? r->in[2][i / pixels % filters] : 0;
    each_product(r, conv_add);
}

static void grad_conv(const op_run *r) {
    int64_t filters = r->in_shape[1].dim[0], n = case_size(&r->out_shape[0]);
    int64_t pixels = r->out_shape[0].dim[0] ? n / filters / r->out_shape[0].dim[0] : 1;
    each_product(r, conv_share);
    for (int64_t i = 0; i < n && r->n_in > 2; i++)
        r->in_grad[2][i / pixels % filters] += r->out_grad[0][i];
}

/* ---- Pooling ----------------------------------------------------------------------------------------------------- */

/* Elements of the window that an average divides by: with its padding, or without. */
static int64_t divisor_of(const op_run *r, const case_windows *w, int64_t p) {
    int excludes = case_is(r, "count_include_pad", "False");
    int64_t count = 1;
    for (int i = 2; i >= 0; i--) {
        int64_t start = p % w->windows[i] * w->stride[i] - w->pad[i], stop = start + w->kernel[i];
        int64_t limit = w->plane[i] + (excludes ? 0 : w->pad[i]);
        count *= (stop < limit ? stop : limit) - (excludes && start < 0 ? 0 : start);
        p /= w->windows[i];
    }
    return count;
}

/* One window: its value, and the first of its largest elements (-1: empty). */
static double pool_window(const op_run *r, const case_windows *w, const double *plane, int64_t p, int64_t *largest) {
    double sum = 0, most = 0, p_value = case_number(r, "p_value", 1), powers = 0;
    *largest = -1;
    for (int64_t k = 0; k < case_volume(w->kernel); k++) {
        int64_t at = case_under(w, p, k);
        if (at < 0)
            continue;
        sum += plane[at];
        powers += pow(plane[at], p_value);
        if (*largest < 0 || plane[at] > most) {
            most = plane[at];
            *largest = at;
        }
    }
    if (*largest < 0)
        return 0;
    return case_is(r, "pool_type", "max")   ? most
           : case_is(r, "pool_type", "sum") ? sum
           : case_is(r, "pool_type", "avg") ? sum / (double)divisor_of(r, w, p)
           : case_is(r, "pool_type", "lp")  ? (p_value == 3 ? cbrt(powers) : pow(powers, 1 / p_value))
                                            : most;
}

static void ref_pool(const op_run *r) {
    case_windows w = windows_of(r);
    int64_t planes = r->in_shape[0].dim[0] * r->in_shape[0].dim[1], plane = case_volume(w.plane), largest;
    int64_t windows = case_volume(w.windows);
    for (int64_t i = 0; i < planes; i++)
        for (int64_t p = 0; p < windows; p++)
            r->out[0][i * windows + p] = pool_window(r, &w, r->in[0] + i * plane, p, &largest);
}

static void grad_pool(const op_run *r) {
    int is_avg = case_is(r, "pool_type", "avg"), is_lp = case_is(r, "pool_type", "lp");
    double p_value = case_number(r, "p_value", 1);
    case_windows w = windows_of(r);
    int64_t planes = r->in_shape[0].dim[0] * r->in_shape[0].dim[1], plane = case_volume(w.plane), largest;
    int64_t windows = case_volume(w.windows);
    for (int64_t i = 0; i < planes; i++)
        for (int64_t p = 0; p < windows; p++) {
            double grad = r->out_grad[0][i * windows + p], *to = r->in_grad[0] + i * plane;
            pool_window(r, &w, r->in[0] + i * plane, p, &largest);
            if (largest >= 0 && !is_avg && !is_lp && !case_is(r, "pool_type", "sum")) {
                to[largest] += grad;
                continue;
            }
            for (int64_t k = 0; k < case_volume(w.kernel); k++) {
                int64_t at = case_under(&w, p, k);
                double y = r->out[0][i * windows + p], x = at < 0 ? 0 : r->in[0][i * plane + at];
                if (at >= 0)
                    to[at] += is_avg  ? grad / (double)divisor_of(r, &w, p)
                              : is_lp ? grad * pow(x / y, p_value - 1)
                                      : grad;
            }
        }
}

/* ---- channels last: by the references of channels second, on arrays turned --------------------------------------- */

static int is_image(const mxc_shape *s) {
    return s->ndim > 2;
}

static mxc_shape planar(const mxc_shape *last) {
    mxc_shape s = *last;
    for (int i = 2; i < s.ndim; i++)
        s.dim[i] = last->dim[i - 1];
    if (is_image(last))
        s.dim[1] = last->dim[s.ndim - 1];
    return s;
}

/* An array with channels second from one with channels last, or back; others are copied. */
static void turn(const mxc_shape *last, const double *from, double *to, int back) {
    int64_t n = case_size(last), channels = is_image(last) ? last->dim[last->ndim - 1] : 1;
    int64_t images = last->ndim ? last->dim[0] : 1, pixels = n ? n / images / channels : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i % channels, p = i / channels % pixels, at = (i / channels / pixels * channels + c) * pixels + p;
        to[back ? i : at] = from[back ? at : i];
    }
}

/* Arrays with channels second of n with channels last. */
static void open_turned(int n, const mxc_shape *last, double *const *from, mxc_shape *shapes, double **to) {
    for (int i = 0; i < n; i++) {
        shapes[i] = planar(&last[i]);
        to[i] = from ? calloc((size_t)case_size(&last[i]) + 1, sizeof **to) : NULL;
        if (from)
            turn(&last[i], from[i], to[i], 0);
    }
}

static void close_turned(int n, const mxc_shape *last, double **turned, double *const *results) {
    for (int i = 0; i < n; i++) {
        if (results)
            turn(&last[i], turned[i], results[i], 1);
        free(turned[i]);
    }
}

static void run_turned(const op_run *r, void (*reference)(const op_run *), int is_gradient) {
    mxc_shape in_shape[3], out_shape[1];
    double *in[3], *out[1], *out_grad[1], *in_grad[3];
    op_run turned = *r;
    open_turned(r->n_in, r->in_shape, r->in, in_shape, in);
    open_turned(1, r->out_shape, r->out, out_shape, out);
    open_turned(1, r->out_shape, is_gradient ? r->out_grad : NULL, out_shape, out_grad);
    open_turned(r->n_in, r->in_shape, is_gradient ? r->in_grad : NULL, in_shape, in_grad);
    turned.in_shape = in_shape, turned.out_shape = out_shape;
    turned.in = in, turned.out = out, turned.out_grad = out_grad, turned.in_grad = in_grad;
    reference(&turned);
    close_turned(r->n_in, r->in_shape, in, NULL);
    close_turned(1, r->out_shape, out, is_gradient ? NULL : r->out);
    close_turned(1, r->out_shape, out_grad, NULL);
    close_turned(r->n_in, r->in_shape, in_grad, is_gradient ? r->in_grad : NULL);
}

static void ref_conv_last(const op_run *r) {
    run_turned(r, ref_conv, 0);
}

static void grad_conv_last(const op_run *r) {
    run_turned(r, grad_conv, 1);
}

static void ref_pool_last(const op_run *r) {
    run_turned(r, ref_pool, 0);
}

static void grad_pool_last(const op_run *r) {
    run_turned(r, grad_pool, 1);
}

/* ---- Activation, BatchNorm, Dropout ------------------------------------------------------------------------------ */

static void ref_activation(const op_run *r) {
    int relu = case_is(r, "act_type", "relu"), sigmoid = case_is(r, "act_type", "sigmoid");
    int is_tanh = case_is(r, "act_type", "tanh");
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = relu      ? (x < 0 ? 0 : x)
                       : sigmoid ? 1 / (1 + exp(-x))
                       : is_tanh ? tanh(x)
                                 : fmax(x, 0) + log1p(exp(-fabs(x)));
    }
}

static void ref_softsign(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] / (1 + fabs(r->in[0][i]));
}

static void ref_log_sigmoid(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = -log1p(exp(-r->in[0][i]));
}

static void ref_mish(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] * tanh(log1p(exp(r->in[0][i])));
}

/* (N,C,D) about the channels' axis. */
static void bn_axes(const op_run *r, int64_t *n, int64_t *channels, int64_t *d) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", 1);
    axis += axis < 0 ? s->ndim : 0;
    *n = *d = 1;
    *channels = s->dim[axis];
    for (int i = 0; i < s->ndim; i++)
        *(i < axis ? n : d) *= i == axis ? 1 : s->dim[i];
}

static void bn_moments(const op_run *r, int64_t c, double *mean, double *var) {
    int64_t n, channels, d;
    bn_axes(r, &n, &channels, &d);
    *mean = *var = 0;
    for (int64_t i = 0; i < n * d; i++)
        *mean += r->in[0][(i / d * channels + c) * d + i % d] / (double)(n * d);
    for (int64_t i = 0; i < n * d; i++)
        *var += pow(r->in[0][(i / d * channels + c) * d + i % d] - *mean, 2) / (double)(n * d);
}

static void ref_bn(const op_run *r) {
    int64_t size = case_size(&r->in_shape[0]), n, channels, d;
    int batch = r->is_train && !case_is(r, "use_global_stats", "True");
    double eps = case_number(r, "eps", 1e-3), keep = case_number(r, "momentum", 0.9);
    bn_axes(r, &n, &channels, &d);
    for (int64_t c = 0; c < channels; c++) {
        double mean = r->aux[0][c], var = r->aux[1][c];
        if (batch && size > 0) {
            bn_moments(r, c, &mean, &var);
            r->aux[0][c] = keep * r->aux[0][c] + (1 - keep) * mean;
            r->aux[1][c] = keep * r->aux[1][c] + (1 - keep) * var;
        }
        r->out[1][c] = mean;
        r->out[2][c] = var;
    }
    for (int64_t i = 0; i < size; i++) {
        int64_t c = i / d % channels;
        double gamma = case_is(r, "fix_gamma", "False") ? r->in[1][c] : 1;
        r->out[0][i] = gamma * (r->in[0][i] - r->out[1][c]) / sqrt(r->out[2][c] + eps) + r->in[2][c];
    }
}

static void ref_sparse(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, count;
    double keep = case_number(r, "momentum", 0.9);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    count = s->dim[0] * inner;
    for (int64_t i = 0; i < case_size(s); i++)
        r->out[0][i] = r->in[0][i];
    for (int64_t c = 0; c < s->dim[1]; c++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += r->in[0][(i / inner * s->dim[1] + c) * inner + i % inner];
        if (r->is_train && count > 0)
            r->aux[0][c] = keep * r->aux[0][c] + (1 - keep) * sum / (double)count;
        r->out[1][c] = r->aux[0][c];
    }
}

static void grad_sparse(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1;
    double target = case_number(r, "sparseness_target", 0.1), penalty = case_number(r, "penalty", 0.001);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t i = 0; i < case_size(s); i++) {
        double a = r->out[1][i / inner % s->dim[1]];
        r->in_grad[0][i] = r->out_grad[0][i] + penalty * (-target / a + (1 - target) / (1 - a));
    }
}

/* Where nothing is dropped: the identity, and a mask of ones. */
static void ref_kept(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    for (int64_t i = 0; i < case_size(&r->out_shape[1]); i++)
        r->out[1][i] = 1;
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

/* in: weight, gamma, beta, mean, variance, bias */
static void ref_fold(const op_run *r) {
    int64_t filters = r->in_shape[0].dim[0], taps = filters ? case_size(&r->in_shape[0]) / filters : 0;
    for (int64_t f = 0; f < filters; f++) {
        double s = (case_is(r, "fix_gamma", "True") ? 1 : r->in[1][f]) / sqrt(r->in[4][f] + case_number(r, "eps", 0));
        for (int64_t k = 0; k < taps; k++)
            r->out[0][f * taps + k] = s * r->in[0][f * taps + k];
        r->out[1][f] = ((r->n_in > 5 ? r->in[5][f] : 0) - r->in[3][f]) * s + r->in[2][f];
    }
}

#define FC(given, shapes) \
    { .op = "FullyConnected", .params = given, .in = shapes, .reference = ref_fc, .gradient = grad_fc }
#define FC_RELU(given, shapes) \
    { .op = "_fc_relu", .params = given, .in = shapes, .flags = CASE_NO_GRADIENT, .reference = ref_fc_relu }
#define CONV(given, shapes) \
    { .op = "Convolution", .params = given, .in = shapes, .reference = ref_conv, .gradient = grad_conv }
#define POOL(given, shapes) \
    { .op = "Pooling", .params = given, .in = shapes, .reference = ref_pool, .gradient = grad_pool }
#define CONV_LAST(given, shapes)                                                                  \
    {                                                                                             \
        .op = "Convolution", .params = "layout=" given, .in = shapes, .reference = ref_conv_last, \
        .gradient = grad_conv_last                                                                \
    }
#define POOL_LAST(given, shapes) \
    { .op = "Pooling", .params = "layout=" given, .in = shapes, .reference = ref_pool_last, .gradient = grad_pool_last }
#define SPARSE(given, shapes, options)                                                                               \
    {                                                                                                                \
        .op = "IdentityAttachKLSparseReg", .params = given, .in = shapes, .flags = options, .reference = ref_sparse, \
        .gradient = grad_sparse                                                                                      \
    }
#define ACT(given, shapes) \
    { .op = "Activation", .params = given, .in = shapes, .reference = ref_activation }
#define SYNC_BN(given, shapes) \
    { .op = "_contrib_SyncBatchNorm", .params = given, .in = shapes, .flags = CASE_TRAIN, .reference = ref_bn }
#define BN(given, shapes) \
    { .op = "BatchNorm", .params = given, .in = shapes, .flags = CASE_TRAIN, .reference = ref_bn }

static const op_case cases[] = {
    FC("num_hidden=1", "1x1 1x1 1"),
    FC("num_hidden=3", "2x5 3x5 3; 1x1 3x1 3; 7x2 3x2 3; 0x2 3x2 3; 2x2x2 3x4 3; 65x3 3x3 3; 4x5@-1:1n 3x5 3"),
    FC("num_hidden=7 no_bias=True", "5x9 7x9"),
    FC("num_hidden=16", "6x16 16x16 16"),
    FC("num_hidden=17", "7x33 17x33 17"),
    FC("num_hidden=10", "64x20 10x20 10"),
    FC("num_hidden=65", "13x70 65x70 65"),
    FC("num_hidden=130", "3x8 130x8 130"),
    FC("num_hidden=1", "4x600 1x600 1"),
    FC("num_hidden=5", "1x1100@-0.5:0.5 5x1100 5"),
    FC("num_hidden=2", "300x3 2x3 2"),
    FC("num_hidden=4", "3x2x3x2 4x12 4"),
    FC("num_hidden=4", "5 4x1 4"),
    FC("num_hidden=4", "0x3 4x3 4"),
    FC("num_hidden=4", "3x0 4x0 4"),
    FC("num_hidden=48", "50x40@-0.3:0.3 48x40@-0.3:0.3 48"),
    FC("num_hidden=4 flatten=False", "2x3x5 4x5 4"),
    FC("num_hidden=3 flatten=False no_bias=True", "2x4x1x6 3x6"),
    FC_RELU("num_hidden=3", "2x5 3x5 3; 1x1 3x1 3; 0x2 3x2 3; 2x2x2 3x4 3; 65x3 3x3 3; 4x5@-1:1n 3x5 3; 3x0 3x0 3"),
    FC_RELU("num_hidden=7 no_bias=True", "5x9 7x9; 33x4 7x4"),
    FC_RELU("num_hidden=4 flatten=False", "2x3x5 4x5 4"),
    FAILS("_fc_relu", "num_hidden=3", "2x5 3x4 3", MXC_ESHAPE, "weight"),
    FAILS("FullyConnected", "num_hidden=2 flatten=False", "7 2x7 2", MXC_ESHAPE, "at least 2 axes, found 1"),
    FC("num_hidden=2 flatten=False", "3x0x4 2x4 2"),
    FAILS("FullyConnected", "num_hidden=3 flatten=False", "2x5x4 3x20 3", MXC_ESHAPE, "weight"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "8x3x5,?,? -> ? => 8x3x5,4x5,4 -> 8x3x4"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "?x3x?,4x7,? -> 9x?x? => 9x3x7,4x7,4 -> 9x3x4"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "?,?,? -> ? => ?,4x?,4 -> ?"),
    FAILS("FullyConnected", "num_hidden=3", "2x5 3x4 3", MXC_ESHAPE, "weight"),
    FAILS("FullyConnected", "num_hidden=3", "2x5 3x5 4", MXC_ESHAPE, "bias"),
    FAILS("FullyConnected", "num_hidden=3", "s 3x5 4", MXC_ESHAPE, "data"),
    FAILS("FullyConnected", "num_hidden=0", "2x5 3x5 4", MXC_EINVAL, "num_hidden"),
    FAILS("FullyConnected", "no_bias=True", "2x5 3x5", MXC_EINVAL, "num_hidden"),
    INFERS("FullyConnected", "num_hidden=4", "8x3x5,?,? -> ? => 8x3x5,4x15,4 -> 8x4"),
    INFERS("FullyConnected", "num_hidden=4", "?x?,4x7,? -> 9x? => 9x7,4x7,4 -> 9x4"),
    INFERS("FullyConnected", "num_hidden=4", "?,?,? -> ? => ?,4x?,4 -> ?x4"),

    CONV("kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1 1"),
    CONV("kernel=(3,3) num_filter=2", "1x1x5x5 2x1x3x3 2"),
    CONV("kernel=(5,5) num_filter=3", "2x2x12x12 3x2x5x5 3"),
    CONV("kernel=(5,5) num_filter=7 no_bias=True", "2x1x14x14 7x1x5x5"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=8", "3x4x8x8 8x4x3x3 8"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=5", "2x3x7x7 5x3x3x3 5"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=6", "1x7x9x17 6x7x3x3 6"),
    CONV("kernel=(3,3) stride=(2,2) pad=(1,1) num_filter=4", "2x3x9x9 4x3x3x3 4"),
    CONV("kernel=(7,7) stride=(2,2) pad=(3,3) num_filter=4", "1x3x18x20 4x3x7x7 4"),
    CONV("kernel=(2,3) stride=(3,2) pad=(0,2) num_filter=3", "2x2x8x11 3x2x2x3 3"),
    CONV("kernel=(3,3) dilate=(2,2) num_filter=3", "2x2x9x10 3x2x3x3 3"),
    CONV("kernel=(3,2) dilate=(2,3) stride=(2,1) pad=(2,3) num_filter=3", "1x2x9x10 3x2x3x2 3"),
    CONV("kernel=(3,3) dilate=(3,2) stride=(1,3) pad=(1,1) num_filter=2", "1x2x12x13 2x2x3x3 2"),
    CONV("kernel=(1,1) num_filter=9", "2x20x5x6 9x20x1x1 9"),
    CONV("kernel=(1,1) stride=(2,2) num_filter=9", "2x5x7x8 9x5x1x1 9"),
    CONV("kernel=(1,1) pad=(2,1) num_filter=3", "2x2x3x3 3x2x1x1 3"),
    CONV("kernel=(3,3) pad=(5,4) num_filter=3", "1x2x4x3 3x2x3x3 3"),
    CONV("kernel=(4,4) stride=(5,5) num_filter=2", "1x2x11x13 2x2x4x4 2"),
    CONV("kernel=(3,3) num_group=2 num_filter=4", "2x4x6x6 4x2x3x3 4"),
    CONV("kernel=(3,3) pad=(1,1) num_group=3 num_filter=12 no_bias=True", "2x6x5x8 12x2x3x3"),
    CONV("kernel=(3,3) pad=(1,1) num_group=6 num_filter=6", "2x6x8x9 6x1x3x3 6"),
    CONV("kernel=(3,3) stride=(2,2) pad=(1,1) num_group=4 num_filter=8", "2x4x9x8 8x1x3x3 8"),
    CONV("kernel=(3) num_filter=4", "2x3x9 4x3x3 4; 1x1x3 4x1x3 4; 1x1x300 4x1x3 4; 1x7x4 4x7x3 4; 0x3x9 4x3x3 4; "
                                    "7x1x5 4x1x3 4"),
    CONV("kernel=(4) stride=(3) pad=(2) dilate=(2) num_filter=3", "3x2x17 3x2x4 3"),
    CONV("kernel=(2,3,2) pad=(1,0,1) num_filter=3", "1x2x4x5x4 3x2x2x3x2 3"),
    CONV("kernel=(2,2,3) stride=(2,1,2) dilate=(1,2,1) num_filter=2", "2x2x5x5x7 2x2x2x2x3 2"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=20", "1x66x4x4@-0.4:0.4 20x66x3x3@-0.4:0.4 20"), /* K above one block */
    CONV("kernel=(1,1) num_filter=2", "1x2x30x30@-0.2:0.2 2x2x1x1 2"), /* pixels above one block */
    CONV("kernel=(3,3) num_filter=2", "0x2x5x5 2x2x3x3 2"),
    CONV("kernel=(3,3) pad=(2,2) num_filter=2", "1x2x1x1 2x2x3x3 2"),
    CONV("kernel=(1,5) num_filter=2 layout=NCHW workspace=512 cudnn_tune=off", "1x2x2x40 2x2x1x5 2"),
    INFERS("ChannelwiseConvolution", "kernel=(3,3) num_filter=4 num_group=4 pad=(1,1) no_bias=True",
           "2x4x5x6,? -> ? => 2x4x5x6,4x1x3x3 -> 2x4x5x6"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x2x5 2x2x3x3 2", MXC_ESHAPE, "spatial axis 0"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x5x5 2x3x3x3 2", MXC_ESHAPE, "weight"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x5 2x2x3x3 2", MXC_ESHAPE, "data"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2 num_group=2", "1x3x5x5 2x1x3x3 2", MXC_ESHAPE, "num_group"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 num_group=2", "1x2x5x5 3x1x3x3 3", MXC_EINVAL, "num_group"),
    FAILS("Convolution", "kernel=(3,3) stride=(1) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "stride"),
    FAILS("Convolution", "kernel=(3,3) stride=(0,1) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "stride"),
    FAILS("Convolution", "kernel=(3,3,3,3) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "kernel"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NCW", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "layout"),
    INFERS("Convolution", "kernel=(5,5) num_filter=20", "64x1x28x28,?,? -> ? => 64x1x28x28,20x1x5x5,20 -> 64x20x24x24"),
    INFERS("Convolution", "kernel=(3,3) pad=(1,1) num_filter=4",
           "?,4x6x3x3,? -> 2x4x8x9 => 2x6x8x9,4x6x3x3,4 -> 2x4x8x9"),
    INFERS("Convolution", "kernel=(3,3) num_filter=4 num_group=2", "?,?,? -> ? => ?x?x?x?,4x?x3x3,4 -> ?x4x?x?"),

    CONV_LAST("NHWC kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1 1"),
    CONV_LAST("NHWC kernel=(3,3) num_filter=2", "1x5x5x1 2x3x3x1 2; 0x5x5x3 2x3x3x3 2; 3x3x9x4 2x3x3x4 2; "
                                                "2x17x4x33@-0.3:0.3 2x3x3x33 2"),
    CONV_LAST("NHWC kernel=(5,5) num_filter=7 no_bias=True", "2x14x14x1 7x5x5x1"),
    CONV_LAST("NHWC kernel=(3,3) pad=(1,1) num_filter=8", "3x8x8x4 8x3x3x4 8"),
    CONV_LAST("NHWC kernel=(3,2) dilate=(2,3) stride=(2,1) pad=(2,3) num_filter=3", "1x9x10x2 3x3x2x2 3"),
    CONV_LAST("NHWC kernel=(7,7) stride=(2,2) pad=(3,3) num_filter=4", "2x18x20x3 4x7x7x3 4"),
    CONV_LAST("NHWC kernel=(1,1) num_filter=9", "2x5x6x20 9x1x1x20 9"),
    CONV_LAST("NHWC kernel=(3,3) pad=(1,1) num_group=2 num_filter=4", "2x6x6x4 4x3x3x2 4"),
    CONV_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) num_group=4 num_filter=8 no_bias=True", "2x9x8x4 8x3x3x1"),
    CONV_LAST("NDHWC kernel=(2,3,2) pad=(1,0,1) num_filter=3", "2x4x5x4x2 3x2x3x2x2 3"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NDHWC", "1x5x5x2 3x3x3x2 3", MXC_EINVAL, "layout"),
    FAILS("Convolution", "kernel=(3) num_filter=3 layout=NHWC", "1x5x2 3x3x2 3", MXC_EINVAL, "layout"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NHWC", "1x5x5x2 3x2x3x3 3", MXC_ESHAPE, "weight"),
    FAILS("_contrib_quantized_conv", "kernel=(3,3) num_filter=3 layout=NHWC no_bias=True", "1x5x5x2 3x3x3x2 1 1 1 1",
          MXC_EUNSUPPORTED, "channels must come second"),
    INFERS("Convolution", "kernel=(3,5) stride=(2,1) num_filter=6 num_group=2 layout=NHWC",
           "2x9x11x8,?,? -> ? => 2x9x11x8,6x3x5x4,6 -> 2x4x7x6"),
    INFERS("Convolution", "kernel=(3,3) pad=(1,1) num_filter=4 layout=NHWC",
           "?,4x3x3x6,? -> 2x8x9x4 => 2x8x9x6,4x3x3x6,4 -> 2x8x9x4"),

    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "2x3x8x8"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x2x6x40"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x2x7x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max pooling_convention=full", "1x2x7x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x1x4x6@0:1i"),
    POOL("kernel=(3,3) stride=(2,2) pool_type=max", "2x2x9x11"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max", "2x2x8x9"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg pooling_convention=full", "2x2x8x10"),
    POOL("kernel=(3,3) pool_type=max", "1x2x6x7@0:3i"),
    POOL("kernel=(3,3) pad=(1,1) pool_type=avg", "1x2x6x7"),
    POOL("kernel=(3,2) stride=(1,3) pool_type=sum", "1x2x6x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=avg", "2x3x8x8"),
    /* windows in the padding alone, wider than the row, and around no element */
    POOL("kernel=(2,2) pad=(3,3) pool_type=max; kernel=(5,9) stride=(2,3) pad=(4,8) pool_type=max; "
         "kernel=(5,9) stride=(1,2) pad=(4,8) pool_type=sum; kernel=(4,8) stride=(3,1) pad=(4,9) pool_type=avg",
         "1x1x3x3; 1x2x4x2; 1x1x2x5@0:2i; 1x2x0x3; 1x1x2x0"),
    POOL("kernel=(2,2) pad=(3,2) pool_type=avg", "1x1x3x3"),
    POOL("kernel=(1,1) stride=(3,3) pool_type=max pooling_convention=full", "1x2x5x6"), /* windows behind the end */
    POOL("kernel=(1,1) stride=(3,3) pool_type=sum pooling_convention=full", "1x2x5x6"),
    POOL("kernel=(1,1) global_pool=True pool_type=avg", "2x3x5x7"),
    POOL("kernel=(1,1) global_pool=True pool_type=max", "2x3x5x7"),
    POOL("kernel=(1,1) pool_type=max; kernel=(1,1) pool_type=avg", "1x1x1x1; 1x1x5x1; 3x65x2x2"),
    POOL("kernel=(3) stride=(2) pool_type=max", "2x3x9"),
    POOL("kernel=(3) pad=(1) pool_type=avg", "2x3x9"),
    POOL("kernel=(2,2,2) stride=(2,2,2) pool_type=max", "1x2x4x5x6"),
    POOL("kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg", "1x2x4x5x6"),
    POOL("kernel=(2,2) pool_type=max; kernel=(2,2) pool_type=avg pad=(1,1) stride=(2,1)",
         "0x2x4x4; 2x0x4x4; 1x1x2x2; 1x1x3x300; 7x1x9x2"),
    POOL("kernel=(1,2) stride=(1,2) pool_type=max", "1x1x1x1200"), /* rows longer than a block */
    POOL("kernel=(1,3) pool_type=avg", "1x1x1x1100"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg count_include_pad=False", "2x2x8x10; 1x1x2x2; 0x2x4x4"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg count_include_pad=False pooling_convention=full",
         "2x2x8x10"),
    POOL("kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg count_include_pad=False", "1x2x4x5x6"),
    POOL("kernel=(3,3) pool_type=avg count_include_pad=False", "1x2x6x7"),
    POOL("kernel=(2,2) pad=(3,2) pool_type=avg count_include_pad=True", "1x1x3x3"),
    POOL("global_pool=True pool_type=avg", "2x3x5x7; 2x3x9; 1x2x3x4x5"),
    POOL("global_pool=True", "2x3x5x7"),
    POOL("kernel=(2,2) stride=(2,2)", "2x3x8x8"),
    POOL("kernel=(2,3) stride=(1,2) pool_type=lp p_value=2", "2x3x6x7@0.5:2; 1x1x2x3"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=lp p_value=3", "2x2x8x9@0.5:2"),
    POOL("kernel=(3) pool_type=lp p_value=1", "2x3x9"),
    POOL("global_pool=True pool_type=lp p_value=2", "2x3x9x11@0.5:2"),
    POOL("kernel=(3,2) stride=(2,3) pool_type=max pooling_convention=same", "1x2x7x9; 2x1x2x1; 1x3x8x8"),
    POOL("kernel=(3) stride=(2) pool_type=avg pooling_convention=same", "2x3x9; 1x1x4"),
    FAILS("Pooling", "kernel=(3,3) pool_type=lp", "1x2x5x5", MXC_EINVAL, "p_value"),
    FAILS("Pooling", "kernel=(3,3) pool_type=lp p_value=4", "1x2x5x5", MXC_EINVAL, "p_value"),
    FAILS("Pooling", "kernel=(3,3) pad=(1,1) pooling_convention=same", "1x2x5x5", MXC_EINVAL, "same"),
    FAILS("Pooling", "pool_type=max", "1x2x5x5", MXC_EINVAL, "kernel is missing"),
    FAILS("Pooling", "global_pool=True", "2x5", MXC_ESHAPE, "3 to 5 axes, found 2"),
    FAILS("_contrib_quantized_pooling", "kernel=(3,3) pool_type=lp p_value=2", "1x2x5x5 1 1", MXC_EUNSUPPORTED,
          "max or avg"),
    INFERS("Pooling", "global_pool=True", "?x4x?x12 -> 3x?x?x? => 3x4x?x12 -> 3x4x1x1"),
    INFERS("Pooling", "global_pool=True", "? -> ? => ? -> ?"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max", "1x2x2x5", MXC_ESHAPE, "spatial axis 0"),
    FAILS("Pooling", "kernel=(3,3) pool_type=mean", "1x2x5x5", MXC_EINVAL, "pool_type"),
    FAILS("Pooling", "kernel=(3,3) pad=(1) pool_type=max", "1x2x5x5", MXC_EINVAL, "pad"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max", "1x5x5", MXC_ESHAPE, "data"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max", "2x4x?x12 -> ? => 2x4x?x12 -> 2x4x?x5"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max pooling_convention=full",
           "2x4x9x12 -> ? => 2x4x9x12 -> 2x4x4x6"),
    INFERS("Pooling", "kernel=(3,3) global_pool=True pool_type=max", "?x?x7x7 -> 5x6x?x? => 5x6x7x7 -> 5x6x1x1"),

    POOL_LAST("NHWC kernel=(2,2) stride=(2,2) pool_type=max", "2x8x8x3; 1x7x9x1; 0x4x4x3; 2x4x4x0; 3x2x2x65"),
    POOL_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max; "
              "layout=NHWC kernel=(3,2) pad=(1,1) pool_type=max",
              "2x8x9x2; 1x6x7x3@0:3i"),
    POOL_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg pooling_convention=full", "2x8x10x2"),
    POOL_LAST("NHWC kernel=(1,1) global_pool=True pool_type=avg; "
              "layout=NHWC kernel=(1,1) global_pool=True pool_type=max",
              "2x5x7x3; 1x9x9x2"),
    POOL_LAST("NWC kernel=(3) stride=(2) pool_type=sum", "2x9x3"),
    POOL_LAST("NHWC global_pool=True pool_type=avg", "2x5x7x3"),
    POOL_LAST("NHWC kernel=(3,3) pad=(1,1) pool_type=avg count_include_pad=False", "2x5x7x3"),
    POOL_LAST("NHWC kernel=(2,2) pool_type=lp p_value=2", "2x5x7x3@0.5:2"),
    POOL_LAST("NDHWC kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg", "1x4x5x6x2"),
    POOL_LAST("NDHWC kernel=(5,5,5) pool_type=max", "1x6x5x5x3"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max layout=NWC", "1x5x5x2", MXC_EINVAL, "layout"),
    FAILS("_contrib_quantized_pooling", "kernel=(3,3) pool_type=max layout=NHWC", "1x5x5x2 1 1", MXC_EUNSUPPORTED,
          "channels must come second"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max layout=NHWC", "2x?x12x4 -> ? => 2x?x12x4 -> 2x?x5x4"),
    INFERS("Pooling", "kernel=(3,3) global_pool=True pool_type=max layout=NHWC",
           "?x7x7x? -> 5x?x?x6 => 5x7x7x6 -> 5x1x1x6"),

    SPARSE("",
           "4x3@0.1:0.9 3@0.2:0.8; 7x1 1; 1x7 7; 65x2 2; 2x3x4 3; 5x2x1x3 2; 17x5 5; 2x1x3x1x2 1; 33x3 3; 1x1 1; "
           "3x129 129; 9x9 9; 2x65 65",
           CASE_TRAIN),
    SPARSE("", "4x3@0.1:0.9 3@0.2:0.8", 0),
    SPARSE("penalty=0.5 sparseness_target=0.3", "5x2x3x4@0.1:0.9 2@0.2:0.8", CASE_TRAIN),
    SPARSE("momentum=0 penalty=0.1", "7x1@0.1:0.9 1@0.2:0.8", CASE_TRAIN),
    SPARSE("momentum=1 penalty=0.1", "1x9@0.1:0.9 9@0.2:0.8", CASE_TRAIN),
    SPARSE("penalty=0.2", "33x130@0.1:0.9 130@0.2:0.8", CASE_TRAIN),
    SPARSE("penalty=0", "2x3x5@-3:3 3@0.2:0.8", 0),
    SPARSE("", "0x3@0.1:0.9 3@0.2:0.8", CASE_TRAIN),
    FAILS("IdentityAttachKLSparseReg", "", "4 4", MXC_ESHAPE, "expected at least 2 axes, found 1"),
    FAILS("IdentityAttachKLSparseReg", "momentum=2", "4x3 3", MXC_EINVAL, "momentum"),
    FAILS("IdentityAttachKLSparseReg", "", "4x3 4", MXC_ESHAPE, "moving_avg"),
    INFERS("IdentityAttachKLSparseReg", "", "?,? -> 2x3x4,? => 2x3x4,3 -> 2x3x4,3"),
    ACT("act_type=relu", "3x7@-1:1.1" CASE_EACH(CASE_ONE) "; 5x9@-1:1.1nf"),
    ACT("act_type=relu", "0x7"),
    ACT("act_type=relu", "s"),
    ACT("act_type=sigmoid", "2x3x5@-6:6; 5x9@-6:6nf"),
    ACT("act_type=sigmoid", "1x17@-30:30"),
    ACT("act_type=tanh", "5x9@-3:3; 5x9@-6:6nf"),
    ACT("act_type=tanh", "40x500@-2:2"),
    ACT("act_type=softrelu", "4x9@-5:5; 5x9@-6:6nf"),
    ACT("act_type=softrelu", "33@-40:40"),
    {.op = "Activation", .params = "act_type=softsign", .in = "3x7@-3:3.2", .reference = ref_softsign},
    {.op = "Activation", .params = "act_type=softsign", .in = "40x500@-3:3.2", .reference = ref_softsign},
    {.op = "Activation", .params = "act_type=log_sigmoid", .in = "5x9@-5:5", .reference = ref_log_sigmoid},
    {.op = "Activation", .params = "act_type=log_sigmoid", .in = "1031@-2:2", .reference = ref_log_sigmoid},
    {.op = "Activation", .params = "act_type=mish", .in = "5x9@-5:5", .reference = ref_mish},
    {.op = "Activation", .params = "act_type=mish", .in = "1031@-2:2", .reference = ref_mish},
    {.op = "Activation", .params = "act_type=mish", .in = "0x3", .reference = ref_mish},
    FAILS("Activation", "act_type=swish", "3x7", MXC_EINVAL, "act_type"),
    FAILS("Activation", "", "3x7", MXC_EINVAL, "act_type"),

    BN("", "4x3 3 3 3 3@0.5:2"),
    BN("fix_gamma=False", "4x3 3@0.5:2 3 3 3@0.5:2; 7x1 1 1 1 1; 3x65 65 65 65 65; 2x3x4 3 3 3 3; 5x2x1x2 2 2 2 2; "
                          "2x2x3x2x2 2 2 2 2; 33x2 2 2 2 2; 3x1x17 1 1 1 1; 9x4 4 4 4 4; 17x3 3 3 3 3; "
                          "9x4x33@-50:-49 4 4 4 4; "
                          "3x4x1x1 4 4 4 4; 1x1 1 1 1 1; 2x3x9@-1:1nf 3 3 3 3"),
    BN("fix_gamma=False eps=0.01 momentum=0.5", "3x2x4x5@-2:2 2@0.5:2 2 2 2@0.5:2"),
    BN("fix_gamma=False", "2x3x7@5:9 3@0.5:2 3 3 3@0.5:2"),
    BN("fix_gamma=False use_global_stats=True", "2x3x5x2 3@0.5:2 3 3 3@0.5:2"),
    BN("use_global_stats=True", "2x3x5x2 3@0.5:2 3 3 3@0.5:2"),
    BN("", "2x1x60x70 1 1 1 1@0.5:2"),
    BN("axis=-1 fix_gamma=False", "2x3x5x4 4@0.5:2 4 4 4@0.5:2; 7x1 1 1 1 1; 3x4x65 65 65 65 65; 9x4x33@-50:-49 33 33 "
                                  "33 33; 3x1x1x4 4 4 4 4; 2x9x3@-1:1nf 3 3 3 3"),
    BN("axis=2 fix_gamma=False eps=0.01 momentum=0.5", "3x2x4x5@-2:2 4@0.5:2 4 4 4@0.5:2"),
    BN("axis=3 use_global_stats=True", "2x3x5x2 2@0.5:2 2 2 2@0.5:2"),
    FAILS("BatchNorm", "axis=0", "4x3 4 4 4 4", MXC_ESHAPE, "axis 0"),
    FAILS("BatchNorm", "axis=2", "4x3 3 3 3 3", MXC_ESHAPE, "axis"),
    INFERS("BatchNorm", "axis=-1", "2x5x?,?,7,?,? -> ?,?,? => 2x5x7,7,7,7,7 -> 2x5x7,7,7"),
    BN("fix_gamma=False min_calib_range=-1 max_calib_range=2.5", "4x3 3@0.5:2 3 3 3@0.5:2"),
    SYNC_BN("key=bn fix_gamma=False", "4x3 3@0.5:2 3 3 3@0.5:2; 7x1 1 1 1 1; 3x65 65 65 65 65; 2x3x4 3 3 3 3; "
                                      "1x1 1 1 1 1; 5x2x1x2 2 2 2 2; "
                                      "2x2x3x2x2 2 2 2 2; 33x2 2 2 2 2; 3x1x17 1 1 1 1; 9x4 4 4 4 4; "
                                      "17x3 3 3 3 3; 3x4x1x1 4 4 4 4; 9x4x33@-50:-49 4 4 4 4; 2x3x9@-1:1nf 3 3 3 3"),
    SYNC_BN("key=bn use_global_stats=True; key=bn ndev=4 use_global_stats=True",
            "2x3x5x2 3@0.5:2 3 3 3@0.5:2; 3x2 2 2 2 2; 4x1x3 1 1 1 1"),
    SYNC_BN("eps=0.01 momentum=0.5", "3x2x4x5@-2:2 2@0.5:2 2 2 2@0.5:2; 2x5 5 5 5 5; 3x3x1x2 3 3 3 3"),
    {.op = "_fold_norm",
     .params = "eps=0.01; eps=0.1 fix_gamma=True; eps=0.5",
     .reference = ref_fold,
     .flags = CASE_NO_GRADIENT,
     .in = "4x3x3 4@0.5:2 4 4 4@0.5:2 4; 1x1 1 1 1 1 1; 7x1031 7 7 7 7 7; 0x3 0 0 0 0 0; 3x0 3 3 3 3 3; 5 5 5 5 5 5; "
           "64x4x3x3 64 64 64 64 64"},
    {.op = "_fold_norm",
     .params = "eps=0.01 no_bias=True",
     .reference = ref_fold,
     .flags = CASE_NO_GRADIENT,
     .in = "4x3x3 4@0.5:2 4 4 4@0.5:2; 2x700 2 2 2 2"},
    INFERS("_fold_norm", "eps=1", "4x3,?,?,?,?,? -> ?,? => 4x3,4,4,4,4,4 -> 4x3,4"),
    FAILS("_fold_norm", "eps=1", "4x3 4 4 5 4 4", MXC_ESHAPE, "argument 'mean'"),
    {.op = "BatchNorm",
     .params = "fix_gamma=False",
     .in = "2x3x5x2 3@0.5:2 3 3 3@0.5:2",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_bn},
    /* the mean that backward reads is rounded */
    {.op = "BatchNorm",
     .params = "fix_gamma=False",
     .in = "9x4@1000:1001 4@0.5:2 4 4 4@0.5:2; 9x4x33 4 4 4 4",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    {.op = "BatchNorm",
     .params = "output_mean_var=True",
     .in = "3x2x5 2 2 2 2@0.5:2",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    {.op = "BatchNorm",
     .params = "",
     .in = "0x2x5 2 2 2 2@0.5:2",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    FAILS("BatchNorm", "", "4 3 3 3 3", MXC_ESHAPE, "at least 2 axes"),
    FAILS("BatchNorm", "", "4x3 2 3 3 3", MXC_ESHAPE, "gamma"),
    FAILS("BatchNorm", "", "4x3 3 3 3 4", MXC_ESHAPE, "moving_var"),
    INFERS("BatchNorm", "", "2x5x3,?,?,?,? -> ?,?,? => 2x5x3,5,5,5,5 -> 2x5x3,5,5"),
    INFERS("BatchNorm", "", "2x?x3,?,7,?,? -> ?,?,? => 2x7x3,7,7,7,7 -> 2x7x3,7,7"),

    {.op = "Dropout",
     .params = "p=0.3",
     .in = "4x5" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_kept},
    {.op = "Dropout", .params = "p=0", .in = "4x5", .flags = CASE_TRAIN, .reference = ref_kept},
    {.op = "Dropout", .params = "p=0", .in = "0x5", .flags = CASE_TRAIN, .reference = ref_kept},
    {.op = "Dropout", .params = "p=0.5", .in = "50x70", .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    {.op = "Dropout",
     .params = "p=0.3 mode=training axes=() cudnn_off=None; p=0.3 axes=(0,2)",
     .in = "4x5x3",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_kept},
    {.op = "Dropout",
     .params = "p=0 axes=(1,)",
     .in = "4x5; 0x5; 3x1x7; 2x3x4",
     .flags = CASE_TRAIN,
     .reference = ref_kept},
    {.op = "Dropout", .params = "p=0 axes=(0,-1) mode=always", .in = "4x5x3; 65x3; 2x3x600", .reference = ref_kept},
    {.op = "Dropout",
     .params = "p=0.5 axes=(1,2)",
     .in = "50x7x10",
     .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    {.op = "Dropout", .params = "p=0.5 mode=always", .in = "50x70", .flags = CASE_RANDOM | CASE_NO_GRADIENT},
    FAILS("Dropout", "axes=(2,)", "4x5", MXC_ESHAPE, "axis 2"),
    FAILS("Dropout", "mode=never", "4x5", MXC_EINVAL, "mode"),
    INFERS("Dropout", "axes=(1,)", "? -> 2x3x4,? => 2x3x4 -> 2x3x4,2x1x4"),
    FAILS("Dropout", "p=1.5", "4x5", MXC_EINVAL, "p"),
};

MXC_CASES(nn_cases, cases);
