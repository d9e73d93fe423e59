/* Cases of quantized operators. References reckon with the numbers that arrays stand for. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

static double most_of(mxc_dtype type) {
    return type == MXC_U8 ? 255 : type == MXC_I8 ? 127 : 2147483647.0;
}

/* What one of argument slot stands for, whose bounds are arguments low and low + 1. */
static double unit_of(const op_run *r, int slot, int low) {
    return fmax(fabs(r->in[low][0]), fabs(r->in[low + 1][0])) / most_of(r->in_type[slot]);
}

static double cut(double x, mxc_dtype type) {
    return fmin(fmax(round(x), type == MXC_U8 ? 0 : -most_of(type)), most_of(type));
}

static void put_bounds(const op_run *r, double low, double high) {
    r->out[1][0] = low;
    r->out[2][0] = high;
}

static int is_calibrated(const op_run *r) {
    return !isnan(case_number(r, "min_calib_range", NAN));
}

static double calibrated(const op_run *r) {
    return fmax(fabs(case_number(r, "min_calib_range", 0)), fabs(case_number(r, "max_calib_range", 0)));
}

/* ---- to and from ------------------------------------------------------------------------------------------------- */

/* Argument 0 in units, to the dtype of the output. */
static void to_range(const op_run *r, double unit) {
    int64_t n = case_size(&r->in_shape[0]);
    mxc_dtype type = r->out_type[0];
    double range = 0;
    for (int64_t i = 0; i < n; i++)
        range = isnan(r->in[0][i]) ? range : fmax(range, fabs(r->in[0][i]) * unit);
    range = is_calibrated(r) ? calibrated(r) : range;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = range > 0 ? cut(r->in[0][i] * (unit * (1 / (range / most_of(type)))), type) : 0;
    put_bounds(r, type == MXC_U8 ? 0 : -range, range);
}

static void ref_quantize_v2(const op_run *r) {
    mxc_dtype type = r->in_type[0];
    if (type == MXC_F32) {
        to_range(r, 1);
        return;
    }
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    put_bounds(r, case_number(r, "min_calib_range", type == MXC_U8 ? 0 : -127),
               case_number(r, "max_calib_range", most_of(type)));
}

static void ref_requantize(const op_run *r) {
    to_range(r, unit_of(r, 0, 1));
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static double bias_of(const op_run *r, int64_t filter) {
    return r->n_in == 9 ? round(r->in[2][filter] * (unit_of(r, 2, 7) / (unit_of(r, 0, 3) * unit_of(r, 1, 5)))) : 0;
}

static void put_layer_bounds(const op_run *r) {
    int low = r->n_in / 3;
    double most = unit_of(r, 0, low) * unit_of(r, 1, low + 2) * 2147483647.0;
    put_bounds(r, -most, most);
}

static void ref_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double sum = bias_of(r, i % h);
        for (int64_t j = 0; j < k; j++)
            sum += r->in[0][i / h * k + j] * r->in[1][i % h * k + j];
        r->out[0][i] = sum;
    }
    put_layer_bounds(r);
}

static void ref_conv(const op_run *r) {
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    int64_t groups = (int64_t)case_number(r, "num_group", 1), filters = r->in_shape[1].dim[0];
    int64_t channels = r->in_shape[1].dim[1], plane = case_volume(w.plane);
    int64_t pixels = case_volume(w.windows), places = case_volume(w.kernel);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t p = i % pixels, f = i / pixels % filters, n = i / pixels / filters, first = f / (filters / groups);
        double sum = bias_of(r, f);
        for (int64_t c = 0; c < channels * places; c++) {
            int64_t at = case_under(&w, p, c % places);
            const double *image = r->in[0] + (n * groups + first) * channels * plane + c / places * plane;
            sum += at < 0 ? 0 : image[at] * r->in[1][f * channels * places + c];
        }
        r->out[0][i] = sum;
    }
    put_layer_bounds(r);
}

static void ref_pooling(const op_run *r) {
    int is_max = case_is(r, "pool_type", "max"), is_global = case_is(r, "global_pool", "true");
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    for (int i = 0; i < 3 && is_global; i++) {
        w.kernel[i] = w.plane[i];
        w.stride[i] = 1;
        w.pad[i] = 0;
    }
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t pixels = case_volume(w.windows), places = case_volume(w.kernel);
        double sum = 0, most = -INFINITY;
        for (int64_t k = 0; k < places; k++) {
            int64_t at = case_under(&w, i % pixels, k);
            double x = at < 0 ? 0 : r->in[0][i / pixels * case_volume(w.plane) + at];
            sum += x;
            most = at < 0 ? most : fmax(most, x);
        }
        r->out[0][i] = is_max ? most : rint(sum / (double)places);
    }
    put_bounds(r, r->in[1][0], r->in[2][0]);
}

/* ---- range passed on --------------------------------------------------------------------------------------------- */

static void ref_act(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = fmax(r->in[0][i], 0);
    put_bounds(r, r->in[1][0], r->in[2][0]);
}

static void ref_flatten(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    put_bounds(r, r->in[1][0], r->in[2][0]);
}

static void ref_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1], rows = r->in_shape[1].dim[0];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double row = fmin(fmax(trunc(r->in[0][i / columns]), 0), (double)(rows - 1));
        r->out[0][i] = r->in[1][(int64_t)row * columns + i % columns];
    }
    put_bounds(r, r->in[2][0], r->in[3][0]);
}

static void ref_batch_norm(const op_run *r) {
    int64_t channels = r->in_shape[0].dim[1], plane = 1;
    double unit = unit_of(r, 0, 5), eps = case_number(r, "eps", 1e-3);
    for (int i = 2; i < r->in_shape[0].ndim; i++)
        plane *= r->in_shape[0].dim[i];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t c = i / plane % channels;
        double scale = (case_is(r, "fix_gamma", "false") ? r->in[1][c] : 1) / sqrt(r->in[4][c] + eps);
        double x = r->in[0][i] * unit * scale + r->in[2][c] - r->in[3][c] * scale;
        r->out[0][i] = cut(x / (calibrated(r) / 127), MXC_I8);
    }
    put_bounds(r, case_number(r, "min_calib_range", 0), case_number(r, "max_calib_range", 0));
}

/* ---- several arrays ---------------------------------------------------------------------------------------------- */

static double bound_of(const op_run *r, int low) {
    return fmax(fabs(r->in[low][0]), fabs(r->in[low + 1][0]));
}

static void ref_add(const op_run *r) {
    double most = bound_of(r, 2) + bound_of(r, 4), left = unit_of(r, 0, 2), right = unit_of(r, 1, 4);
    double unit = (is_calibrated(r) ? calibrated(r) : most) / most_of(r->out_type[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = cut(r->in[0][i] * (left * (1 / unit)) + r->in[1][i] * (right * (1 / unit)), r->out_type[0]);
    put_bounds(r, case_number(r, "min_calib_range", -most), case_number(r, "max_calib_range", most));
}

static void ref_mul(const op_run *r) {
    int is_float = case_is(r, "enable_float_output", "true");
    double unit = unit_of(r, 0, 2) * unit_of(r, 1, 4), scale = 1;
    if (is_float)
        scale = unit;
    else if (is_calibrated(r))
        scale = unit / (calibrated(r) / 127);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i] * r->in[1][i] * scale;
        r->out[0][i] = is_float ? x : cut(x, r->out_type[0]);
    }
    if (!is_float)
        put_bounds(r, case_number(r, "min_calib_range", -unit * 2147483647.0),
                   case_number(r, "max_calib_range", unit * 2147483647.0));
}

static void ref_concat(const op_run *r) {
    int n = r->n_in / 3, axis = (int)case_number(r, "dim", 1);
    int64_t inner = 1, rows = 0, whole;
    double low = 0, high = 0;
    axis += axis < 0 ? r->out_shape[0].ndim : 0;
    for (int i = axis + 1; i < r->out_shape[0].ndim; i++)
        inner *= r->out_shape[0].dim[i];
    whole = r->out_shape[0].dim[axis] * inner;
    for (int i = 0; i < n; i++) {
        low = fmin(low, r->in[n + 2 * i][0]);
        high = fmax(high, r->in[n + 2 * i + 1][0]);
    }
    for (int i = 0; i < n; i++) {
        int64_t own = r->in_shape[i].dim[axis] * inner;
        double unit = fmax(-low, high) / most_of(r->out_type[0]);
        for (int64_t k = 0; k < case_size(&r->in_shape[i]); k++)
            r->out[0][k / own * whole + rows + k % own] =
                cut(r->in[i][k] * (unit_of(r, i, n + 2 * i) * (1 / unit)), r->out_type[0]);
        rows += own;
    }
    put_bounds(r, low, high);
}

/* ---- entropy ----------------------------------------------------------------------------------------------------- */

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* As documented: zeros get 0.0001, which the others give; INFINITY if they cannot. */
static double divergence(double *p, double *q, int64_t n) {
    double *both[2] = {p, q}, found = 0;
    for (int k = 0; k < 2; k++) {
        double *x = both[k], zeros = 0, total;
        for (int64_t i = 0; i < n; i++)
            zeros += x[i] == 0;
        if (zeros == (double)n || 1e-4 * zeros / ((double)n - zeros) >= 1)
            return INFINITY;
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] == 0 ? 1e-4 : x[i] - 1e-4 * zeros / ((double)n - zeros);
        total = sum_of(x, n);
        for (int64_t i = 0; i < n; i++)
            x[i] /= total;
    }
    for (int64_t i = 0; i < n; i++)
        found += p[i] > 0 && q[i] > 0 ? p[i] * log(p[i] / q[i]) : 0;
    return found;
}

static double try_threshold(const op_run *r, int64_t half, int64_t levels) {
    int64_t bins = case_size(&r->in_shape[0]), n = 2 * half + 1, begin = bins / 2 - half, each = n / levels;
    double *p = calloc((size_t)n, sizeof *p), *q = calloc((size_t)n, sizeof *q), found;
    for (int64_t i = 0; i < bins; i++)
        p[i < begin ? 0 : i >= begin + n ? n - 1 : i - begin] += r->in[0][i];
    for (int64_t level = 0; level < levels; level++) {
        int64_t end = level == levels - 1 ? n : (level + 1) * each;
        double sum = 0, some = 0;
        for (int64_t i = level * each; i < end; i++) {
            sum += i ? r->in[0][begin + i] : 0;
            some += i && r->in[0][begin + i] != 0;
        }
        for (int64_t i = level * each; i < end; i++)
            q[i] = some > 0 && p[i] != 0 ? sum / some : 0;
    }
    found = divergence(p, q, n);
    free(p);
    free(q);
    return found;
}

static void ref_entropy(const op_run *r) {
    int64_t bins = case_size(&r->in_shape[0]), levels = (int64_t)case_number(r, "num_quantized_bins", 255);
    double least = INFINITY;
    for (int64_t half = levels / 2; half <= bins / 2; half++) {
        double found = try_threshold(r, half, levels);
        if (found < least || half == levels / 2) {
            least = found;
            r->out[0][0] = r->in[1][bins / 2 + half + 1];
            r->out[1][0] = found;
        }
    }
}

/* A hill of whole numbers with flanks of zeros, and ascending edges. */
static void prepare_histogram(const op_run *r) {
    int64_t bins = case_size(&r->in_shape[0]);
    for (int64_t i = 0; i < bins; i++) {
        double x = ((double)i - (double)(bins / 2)) / (double)(bins / 6 + 1);
        r->in[0][i] = floor(1000 * exp(-x * x) * (1 + 0.2 * r->in[0][i]));
    }
    for (int64_t i = 0; i <= bins; i++)
        r->in[1][i] = -3 + 6 * (double)i / (double)bins;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define BOUNDS "1@-1.3:-1.1 1@0.9:1"

#define FC_BIAS "@-128:255i 3x4@-127:127i 3@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2"
#define FC_NONE "@-128:255i 3x4@-60:60i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"
#define CONV_BIAS(data, weight, bias) \
    data "@-128:255i " weight "@-127:127i " bias "@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2"
#define CONV_NONE(data, weight) data "@-128:255i " weight "@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"
#define SAME " 1 1"
#define ANY(shape) shape "@-128:255i " BOUNDS
#define SIX " 1 1 1 1"
#define TWO_BOUNDS BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"

static const op_case cases[] = {
    {.op = "_contrib_quantize_v2",
     .params = ";out_type=uint8;out_type=auto;min_calib_range=-1 max_calib_range=0.7",
     .in = "3x4@-2:1.5; 7; 1; s; 0x3; 50x70; 20000; 2x3x4x5",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantize_v2",
     .params = "out_type=auto min_calib_range=0 max_calib_range=1.5",
     .in = "3x5@-1:2; 600@-9:9",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantize_v2",
     .params = "min_calib_range=0 max_calib_range=0",
     .in = "3x5@-1:2",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    FAILS("_contrib_quantize_v2", "out_type=int32", "3", MXC_EINVAL, "out_type"),
    INFERS("_contrib_quantize_v2", "", "2x? -> ?x3,?,? => 2x3 -> 2x3,1,1"),

    {.op = "_contrib_requantize",
     .params = ";out_type=uint8;min_calib_range=-0.1 max_calib_range=0.08;out_type=auto min_calib_range=0 "
               "max_calib_range=0.1",
     .in = "3x4@-3e8:2e8i 1@-1:-0.9 1@0.5:0.6; 7 1 1; 1 1 1; s 1 1; 0x3 1 1; 50x70 1 1; 20000 1 1",
     .reference = ref_requantize},
    FAILS("_contrib_requantize", "", "3 1 1", MXC_EDTYPE, "_contrib_requantize"),
    INFERS("_contrib_requantize", "", "?,?,? -> 2x3,?,? => 2x3,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_fully_connected", "num_hidden=3",
        "2x4" FC_BIAS "; 1x1 3x1 3 1 1 1 1 1 1; 0x5 3x5 3 1 1 1 1 1 1; 3x2x5 3x10 3 1 1 1 1 1 1; "
        "17x33 3x33 3 1 1 1 1 1 1; 5x16 3x16 3 1 1 1 1 1 1; 2x700 3x700 3 1 1 1 1 1 1",
        ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=3 no_bias=true",
        "2x4" FC_NONE "; 1x1 3x1 1 1 1 1; 3x31 3x31 1 1 1 1; 2x20000 3x20000 1 1 1 1; 0x4 3x4 1 1 1 1", ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=1 no_bias=true",
        "2x4@-128:255i 1x4@-60:60i " TWO_BOUNDS "; 1x1 1x1 1 1 1 1; 6x9 1x9 1 1 1 1", ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=130",
        "9x40@-128:255i 130x40@-127:127i 130@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2; "
        "1x33 130x33 130 1 1 1 1 1 1; 2x2x5 130x10 130 1 1 1 1 1 1",
        ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=3 flatten=false no_bias=true",
        "2x5x4@-128:255i 3x4@-60:60i " TWO_BOUNDS "; 1x1x1 3x1 1 1 1 1; 2x3x4x7 3x7 1 1 1 1", ref_fc),
    FAILS("_contrib_quantized_fully_connected", "num_hidden=3 no_bias=true", "2x4 3x4 1 1 1 1", MXC_EDTYPE,
          "_contrib_quantized_fully_connected"),
    INFERS("_contrib_quantized_fully_connected", "num_hidden=3",
           "2x4,?,?,?,?,?,?,?,? -> ?,?,? => 2x4,3x4,3,1,1,1,1,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=4;kernel=(3,3) num_filter=4 stride=(2,1) pad=(1,2)",
        CONV_BIAS("2x4x5x6", "4x4x3x3", "4") "; 1x1x3x3 4x1x3x3 4 1 1 1 1 1 1; 0x3x4x4 4x3x3x3 4 1 1 1 1 1 1; "
                                             "1x8x9x13 4x8x3x3 4 1 1 1 1 1 1; 3x2x3x7 4x2x3x3 4 1 1 1 1 1 1",
        ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(1,1) num_filter=8 no_bias=true",
        CONV_NONE("1x4x4x4", "8x4x1x1") "; 2x1x1x1 8x1x1x1 1 1 1 1; 1x20x11x13 8x20x1x1 1 1 1 1; "
                                        "1x16x8x8 8x16x1x1 1 1 1 1",
        ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=6 num_group=3 pad=(1,1) dilate=(2,1) no_bias=true",
        CONV_NONE("1x6x7x5", "6x2x3x3") "; 2x3x5x3 6x1x3x3 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=8 num_group=8 pad=(1,1) stride=(2,2) no_bias=true",
        CONV_NONE("1x8x9x9", "8x1x3x3") "; 2x8x12x10 8x1x3x3 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,) num_filter=2 pad=(1,)",
        CONV_BIAS("2x3x7", "2x3x3", "2") "; 1x1x1 2x1x3 2 1 1 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(2,3,2) num_filter=2 stride=(1,2,1) pad=(1,0,1) no_bias=true",
        CONV_NONE("1x2x3x5x4", "2x2x2x3x2") "; 2x1x2x3x2 2x1x2x3x2 1 1 1 1", ref_conv),
    FAILS("_contrib_quantized_conv", "kernel=(1,1) num_filter=4 no_bias=true", "1x4x2x2 4x4x1x1 1 1 1 1", MXC_EDTYPE,
          "_contrib_quantized_conv"),
    INFERS("_contrib_quantized_conv", "kernel=(3,3) num_filter=4",
           "2x8x5x5,?,?,?,?,?,?,?,? -> ?,?,? => 2x8x5x5,4x8x3x3,4,1,1,1,1,1,1 -> 2x4x3x3,1,1"),

    RUN("_contrib_quantized_pooling",
        "kernel=(2,2) pool_type=max;kernel=(2,2) pool_type=avg;"
        "kernel=(3,2) pool_type=max stride=(2,1) pad=(1,0);kernel=(2,2) pool_type=avg global_pool=true",
        ANY("1x2x4x4") "; 2x1x2x2" SAME "; 0x2x4x4" SAME "; 1x3x9x7" SAME "; 2x2x30x40" SAME, ref_pooling),
    RUN("_contrib_quantized_pooling", "kernel=(3,) pool_type=avg;kernel=(2,) pool_type=max stride=(2,)",
        ANY("2x3x8") "; 1x1x3" SAME, ref_pooling),
    FAILS("_contrib_quantized_pooling", "kernel=(2,2) pool_type=sum", "1x2x4x4 1 1", MXC_EUNSUPPORTED, "pool_type"),
    INFERS("_contrib_quantized_pooling", "kernel=(2,2) pool_type=max",
           "1x2x4x5,?,? -> ?,?,? => 1x2x4x5,1,1 -> "
           "1x2x3x4,1,1"),

    RUN("_contrib_quantized_act", "act_type=relu",
        ANY("2x3") "; 1" SAME "; s" SAME "; 0x3" SAME "; 7x5" SAME "; 600" SAME "; 20000" SAME "; 2x1x3x4" SAME
                   "; 1x1" SAME "; 33" SAME "; 3x0" SAME "; 511" SAME "; 512" SAME "; 513" SAME "; 5x4x3" SAME
                   "; 2x2" SAME "; 31x3" SAME "; 9" SAME,
        ref_act),
    RUN("_contrib_quantized_act", "act_type=relu", ANY("1024") "; 1x70000" SAME "; 3" SAME, ref_act),
    FAILS("_contrib_quantized_act", "act_type=tanh", "2 1 1", MXC_EINVAL, "act_type"),
    FAILS("_contrib_quantized_act", "", "2 1 1", MXC_EINVAL, "act_type"),
    INFERS("_contrib_quantized_act", "act_type=relu", "2x?,?,? -> ?x3,?,? => 2x3,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_flatten", "",
        ANY("2x3") "; 1" SAME "; 2x3x4" SAME "; 0x3x2" SAME "; 7x5" SAME "; 600" SAME "; 20x10x100" SAME
                   "; 2x1x3x4" SAME "; 1x1" SAME "; 33x1x2" SAME "; 3x0" SAME "; 5x1x1x1" SAME "; 1x2x3x4x5" SAME
                   "; 3x3x3" SAME "; 2x2" SAME "; 5x4x3" SAME "; 31x3" SAME "; 9" SAME,
        ref_flatten),
    RUN("_contrib_quantized_flatten", "", ANY("1024") "; 1x700x10" SAME "; 3" SAME, ref_flatten),
    FAILS("_contrib_quantized_flatten", "", "s 1 1", MXC_EDTYPE, "_contrib_quantized_flatten"),
    INFERS("_contrib_quantized_flatten", "", "2x3x4,?,? -> ?,?,? => 2x3x4,1,1 -> 2x12,1,1"),

    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=5 output_dim=3",
     .in = "4@0:4i 5x3@-127:127i " BOUNDS "; 1 5x3 1 1; 2x3 5x3 1 1; 0 5x3 1 1; s 5x3 1 1; 300 5x3 1 1; "
           "2x1x4 5x3 1 1; 3x0 5x3 1 1; 17 5x3 1 1; 2x2x2x2 5x3 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=1 output_dim=1",
     .in = "4@0:0 1x1@-127:127i " BOUNDS "; 1 1x1 1 1; 5x3 1x1 1 1; 0 1x1 1 1; 70 1x1 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=70 output_dim=9",
     .in = "4@0:69i 70x9@-127:127i " BOUNDS "; 1 70x9 1 1; 5x3 70x9 1 1; 900 70x9 1 1; 2x6 70x9 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    FAILS("_contrib_quantized_embedding", "input_dim=5", "4 5x3 1 1", MXC_EINVAL, "output_dim"),
    INFERS("_contrib_quantized_embedding", "input_dim=5 output_dim=3",
           "2x4,?,?,? -> ?,?,? => 2x4,5x3,1,1 -> "
           "2x4x3,1,1"),

    RUN("_contrib_quantized_batch_norm",
        "fix_gamma=false min_calib_range=-1.7 max_calib_range=2.1;"
        "eps=0.1 min_calib_range=-1.7 max_calib_range=2.1",
        "2x3x4x5@-128:255i 3@0.5:1.5 3 3 3@0.5:2 " BOUNDS "; 1x1x1 1 1 1 1 1 1; 0x3x2 3 3 3 3 1 1; 4x7 7 7 7 7 1 1; "
        "1x5x700 5 5 5 5 1 1; 3x0x2 0 0 0 0 1 1; 2x2x3x3x3 2 2 2 2 1 1; 1x300x2x2 300 300 300 300 1 1; "
        "3x4x1 4 4 4 4 1 1; 2x6x513 6 6 6 6 1 1",
        ref_batch_norm),
    FAILS("_contrib_quantized_batch_norm", "", "2x3 3 3 3 3 1 1", MXC_EINVAL, "min_calib_range"),
    FAILS("_contrib_quantized_batch_norm", "min_calib_range=0 max_calib_range=1", "2x3 3 3 3 3 1 1", MXC_EDTYPE,
          "_contrib_quantized_batch_norm"),
    INFERS("_contrib_quantized_batch_norm", "min_calib_range=0 max_calib_range=1",
           "2x?x4,?,3,?,?,?,? -> ?,?,? => 2x3x4,3,3,3,3,1,1 -> 2x3x4,1,1"),

    RUN("_contrib_quantized_elemwise_add", ";min_calib_range=-1 max_calib_range=0.5",
        "2x3@-128:255i 2x3@-128:255i " TWO_BOUNDS "; 1 1" SIX "; s s" SIX "; 0x3 0x3" SIX "; 7x5 7x5" SIX
        "; 600 600" SIX "; 20000 20000" SIX "; 2x1x4 2x1x4" SIX "; 513 513" SIX "; 3x3x3 3x3x3" SIX,
        ref_add),
    FAILS("_contrib_quantized_elemwise_add", "", "2 2 1 1 1 1", MXC_EDTYPE, "_contrib_quantized_elemwise_add"),
    INFERS("_contrib_quantized_elemwise_add", "", "2x?,?x3,?,?,?,? -> ?,?,? => 2x3,2x3,1,1,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_elemwise_mul", ";min_calib_range=-0.5 max_calib_range=0.3;enable_float_output=true",
        "2x3@-127:127i 2x3@-127:127i " TWO_BOUNDS "; 1 1" SIX "; s s" SIX "; 0x3 0x3" SIX "; 7x5 7x5" SIX
        "; 600 600" SIX "; 20000 20000" SIX "; 2x1x4 2x1x4" SIX,
        ref_mul),
    FAILS("_contrib_quantized_elemwise_mul", "", "2 2 1 1 1 1", MXC_EDTYPE, "_contrib_quantized_elemwise_mul"),
    INFERS("_contrib_quantized_elemwise_mul", "enable_float_output=true",
           "2x?,?x3,?,?,?,? -> ? => 2x3,2x3,1,1,1,1 -> "
           "2x3"),

    RUN("_contrib_quantized_concat", "num_args=2;num_args=2 dim=-1",
        "2x3@-128:255i 2x3@-128:255i " TWO_BOUNDS "; 1x1 1x1" SIX "; 2x3 2x5" SIX "; 0x3 0x4" SIX "; 7x5 7x1" SIX
        "; 3x600 3x2" SIX "; 4x0 4x2" SIX "; 200x300 200x7" SIX,
        ref_concat),
    RUN("_contrib_quantized_concat", "num_args=1 dim=0", ANY("2x3") "; 7" SAME "; 1x5x3" SAME, ref_concat),
    RUN("_contrib_quantized_concat", "num_args=3 dim=0",
        "2x3@-128:255i 1x3@-128:255i 3x3@-128:255i " TWO_BOUNDS " 1@-2:-1 1@1:2; 0x2 1x2 2x2 1 1 1 1 1 1", ref_concat),
    FAILS("_contrib_quantized_concat", "num_args=65", "2 1 1", MXC_EINVAL, "num_args"),
    FAILS("_contrib_quantized_concat", "", "2 1 1", MXC_EINVAL, "num_args"),
    INFERS("_contrib_quantized_concat", "num_args=2", "2x3,?x5,?,?,?,? -> ?,?,? => 2x3,2x5,1,1,1,1 -> 2x8,1,1"),

    {.op = "_contrib_calibrate_entropy",
     .params = "num_quantized_bins=15;num_quantized_bins=7;num_quantized_bins=31",
     .in = "33 34; 61 62; 101 102; 51 52; 201 202; 99 100; 31 32",
     .reference = ref_entropy,
     .prepare = prepare_histogram,
     .gradient = case_zero_gradient},
    {.op = "_contrib_calibrate_entropy",
     .in = "255 256; 601 602; 301 302",
     .reference = ref_entropy,
     .prepare = prepare_histogram,
     .gradient = case_zero_gradient},
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=3", "4 5", MXC_ESHAPE, "expected an odd number"),
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=9", "5 6", MXC_ESHAPE, "at least num_quantized_bins 9"),
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=3", "5 5", MXC_ESHAPE, "hist"),
    INFERS("_contrib_calibrate_entropy", "num_quantized_bins=3", "5,? -> ?,? => 5,6 -> 1,1"),
    INFERS("_contrib_calibrate_entropy", "num_quantized_bins=3", "?,6 -> ?,? => 5,6 -> 1,1"),
};

MXC_CASES(quantized_cases, cases);
