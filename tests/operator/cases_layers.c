/* Cases of layers that came later: LeakyReLU, softmax and its kin, Embedding. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* ---- LeakyReLU ------------------------------------------------------------------------------------------------- */

static void ref_leaky(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]), inner = 1;
    int elu = case_is(r, "act_type", "elu");
    double slope = case_number(r, "slope", 0.25);
    for (int i = 2; i < r->in_shape[0].ndim; i++)
        inner *= r->in_shape[0].dim[i];
    if (case_is(r, "act_type", "rrelu")) /* in inference, or with one slope for all */
        slope = (case_number(r, "lower_bound", 0.125) + case_number(r, "upper_bound", 0.334)) / 2;
    for (int64_t i = 0; i < n; i++) {
        double x = r->in[0][i];
        if (r->n_out == 2)
            r->out[1][i] = slope;
        if (r->n_in == 2)
            slope = r->in[1][i / inner % r->in_shape[0].dim[1] % r->in_shape[1].dim[0]];
        r->out[0][i] = x > 0 ? x : elu ? slope * expm1(x) : slope * x;
    }
}

static void ref_gelu(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] * 0.5 * erfc(-r->in[0][i] / sqrt(2));
}

static void ref_selu(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
    }
}

/* ---- softmax --------------------------------------------------------------------------------------------------- */

/* One row of k elements, `inner` apart, of which n count. */
static void softmax_row(int64_t k, int64_t n, int64_t inner, double scale, int is_log, const double *x, double *y) {
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, scale * x[j * inner]);
    for (int64_t j = 0; j < n; j++)
        sum += exp(scale * x[j * inner] - most);
    for (int64_t j = 0; j < k; j++) {
        double z = scale * x[j * inner] - most;
        y[j * inner] = j >= n ? 0 : is_log ? z - log(sum) : exp(z) / sum;
    }
}

/* The mask, which stretches to data, is not 0 at data's element i. */
static int is_kept(const op_run *r, int64_t i) {
    const mxc_shape *data = &r->in_shape[0], *mask = &r->in_shape[1];
    int64_t at = 0, step = 1;
    for (int k = 1; k <= mask->ndim; k++) {
        int64_t dim = mask->dim[mask->ndim - k], full = data->dim[data->ndim - k];
        at += dim > 1 ? i % full * step : 0;
        i /= full;
        step *= dim;
    }
    return r->in[1][at] != 0;
}

static void softmax(const op_run *r, int is_log, double sign) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, k;
    double scale = sign / case_number(r, "temperature", 1);
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < (k ? case_size(s) / k : 0); i++) {
        int64_t first = i / inner * k * inner + i % inner, n = k;
        if (r->n_in == 2)
            n = (int64_t)fmin(fmax(r->in[1][i], 0), (double)k);
        softmax_row(k, n, inner, scale, is_log, r->in[0] + first, r->out[0] + first);
    }
}

static void ref_softmax(const op_run *r) {
    softmax(r, 0, 1);
}

static void ref_log_softmax(const op_run *r) {
    softmax(r, 1, 1);
}

static void ref_softmin(const op_run *r) {
    softmax(r, 0, -1);
}

/* The softmax of a copy in which what is hidden is minus infinity. */
static void masked(const op_run *r, int is_log) {
    int64_t n = case_size(&r->in_shape[0]);
    double *copy = calloc((size_t)n + 1, sizeof *copy), *in[] = {copy};
    op_run run = *r;
    run.n_in = 1;
    run.in = in;
    for (int64_t i = 0; i < n; i++)
        copy[i] = is_kept(r, i) ? r->in[0][i] : -INFINITY;
    softmax(&run, is_log, 1);
    for (int64_t i = 0; i < n; i++)
        if (!is_kept(r, i))
            r->out[0][i] = is_log ? -INFINITY : 0;
    free(copy);
}

static void ref_masked_softmax(const op_run *r) {
    masked(r, 0);
}

static void ref_masked_log_softmax(const op_run *r) {
    masked(r, 1);
}

/* From out, which is minus infinity in places: dx = (dy - e^out times the sum of dy) / temperature. */
static void grad_masked_log_softmax(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, n = case_size(s), k;
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / (k * inner) * k * inner + i % inner;
        double sum = 0;
        for (int64_t j = first; j < first + k * inner; j += inner)
            sum += is_kept(r, j) ? r->out_grad[0][j] : 0;
        if (is_kept(r, i))
            r->in_grad[0][i] = (r->out_grad[0][i] - exp(r->out[0][i]) * sum) / case_number(r, "temperature", 1);
    }
}

/* ---- Embedding --------------------------------------------------------------------------------------------------- */

static int64_t row_of(const op_run *r, int64_t i) {
    double row = fmin(fmax(r->in[0][i], 0), (double)r->in_shape[1].dim[0] - 1);
    return (int64_t)row;
}

static void ref_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[1][row_of(r, i / columns) * columns + i % columns];
}

static void grad_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->in_grad[1][row_of(r, i / columns) * columns + i % columns] += r->out_grad[0][i];
}

#define EMBEDDING(given, shapes)                                                                     \
    {                                                                                                \
        .op = "Embedding", .params = given, .in = shapes, .constant = 1, .reference = ref_embedding, \
        .gradient = grad_embedding, .tolerance = 4                                                   \
    }

#define LIMITED(name, given, shapes, ref) \
    { .op = name, .params = "use_length=True " given, .in = shapes, .constant = 2, .reference = ref }
#define SOFTMAX(name, ref)                                                                                          \
    RUN(name, "", "7@-4:4", ref), RUN(name, "", "5x3@-9:9; 5x9@-4:4n; 5x9@-4:4f; 5x9@-1e4:1e4; 3x7@5e4:6e4", ref),  \
        RUN(name, "", "1x1", ref), RUN(name, "axis=1", "3x5x2@-4:4; 1x5x2x1x2x1x2x2", ref),                         \
        RUN(name, "axis=0", "4x7@-4:4", ref), RUN(name, "axis=-2", "2x3x4x5@-4:4", ref),                            \
        RUN(name, "axis=1", "2x3x300@-4:4; 9x5x3@-4:4n; 9x7x5@-4:4f", ref), RUN(name, "", "3x130@-9:9", ref),       \
        RUN(name, "temperature=2.5", "4x9@-4:4", ref), RUN(name, "axis=1 temperature=0.5", "2x5x3@-2:2", ref),      \
        RUN(name, "temperature=None", "4x9@-4:4", ref), RUN(name, "", "0x5", ref), RUN(name, "axis=0", "0x5", ref), \
        RUN(name, "", "40x110@-4:4", ref), RUN(name, "use_length=False", "3x4", ref),                               \
        RUN(name, "use_length=None", "3x4", ref), LIMITED(name, "", "9@-4:4 s@3:4", ref),                           \
        LIMITED(name, "", "7x9@-4:4 7@-2:12i", ref), LIMITED(name, "axis=1", "3x5x4@-4:4 3x4@0:6i", ref),           \
        LIMITED(name, "axis=0", "5x300@-4:4 300@0:5i", ref),                                                        \
        LIMITED(name, "temperature=2", "2x3x40@-4:4 2x3@0:40i", ref), LIMITED(name, "", "0x5 0", ref),              \
        RUN(name, "dtype=float32", "4x9@-4:4", ref), RUN(name, "dtype=float64 axis=0", "4x9@-4:4", ref),            \
        {.op = name, .params = "dtype=float16", .in = "4x9@-4:4", .flags = CASE_NO_GRADIENT, .reference = ref},     \
        LIMITED(name, "dtype=float32", "7x9@-4:4 7@0:9i", ref),                                                     \
        FAILS(name, "dtype=int32", "4x5", MXC_EINVAL, "dtype is int32"),                                            \
        FAILS(name, "use_length=True", "4x5 5", MXC_ESHAPE, "argument 'length': expected shape (4,), found (5,)"),  \
        FAILS(name, "axis=2", "4x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                       \
        FAILS(name, "temperature=0", "4x5", MXC_EINVAL, "temperature"),                                             \
        INFERS(name, "axis=1", "?x3 -> 2x? => 2x3 -> 2x3"),                                                         \
        INFERS(name, "axis=1 use_length=True", "?x3x4,? -> 2x?x? => 2x3x4,2x4 -> 2x3x4")

#define MASKED(name, given, shapes, ref, grad)                                                        \
    {                                                                                                 \
        .op = name, .params = given, .in = shapes, .constant = 2, .reference = ref, .gradient = grad, \
        .flags = CASE_ONE_OF_FORMS                                                                    \
    }
#define MASKED_SOFTMAX(name, ref, grad)                                                                              \
    MASKED(name, "", "7@-4:4 7@0:1i; 5x3@-9:9 5x3@0:1i; 1x1 1x1@0:1i; 1x1 1x1@1:1i; 5x9@-4:4n 5x9@0:1i", ref, grad), \
        MASKED(name, "", "0x5 0x5; 5x0 5x0; 40x110@-4:4 40x110@0:1i; 4x9@-4:4 9@0:1i; 4x9@-4:4 1@0:1i", ref, grad),  \
        MASKED(name, "", "4x9@-4:4 4x1@0:1i; 2x3x40@-4:4 3x1@0:1i; 2x3x40@-4:4 2x1x40@0:3; 4x9@-4:4 s@1:1", ref,     \
               grad),                                                                                                \
        MASKED(name, "axis=1", "3x5x2@-4:4 3x5x2@0:1i; 2x3x300@-4:4 300@0:1i; 2x300x3@-4:4 300x1@0:1i", ref, grad),  \
        MASKED(name, "axis=0", "4x7@-4:4 4x7@0:1i; 4x7@-4:4 4x1@0:1i; 3x130@-9:9 3x130@0:1i", ref, grad),            \
        MASKED(name, "axis=-2 temperature=2.5", "2x3x4x5@-4:4 2x3x4x5@0:1i; 3x4@-4:4 3x4@0:1i", ref, grad),          \
        MASKED(name, "temperature=0.5 normalize=false", "4x9@-4:4 4x9@0:1i", ref, grad),                             \
        FAILS(name, "axis=2", "4x5 4x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                    \
        FAILS(name, "temperature=0", "4x5 4x5", MXC_EINVAL, "temperature"),                                          \
        FAILS(name, "", "4x5 4x2", MXC_ESHAPE,                                                                       \
              "argument 'mask' has shape (4,2), expected one that stretches to (4,5)"),                              \
        FAILS(name, "", "5 1x5", MXC_ESHAPE, "argument 'mask' has shape (1,5)"),                                     \
        INFERS(name, "", "?x3,? -> 2x? => 2x3,2x3 -> 2x3"), INFERS(name, "", "2x3,1x? -> ? => 2x3,1x? -> 2x3")

static const op_case cases[] = {
    RUN("LeakyReLU", "", "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2.3nf", ref_leaky),
    RUN("LeakyReLU", "slope=0.1", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=leaky slope=0.01 lower_bound=0.2", "2x3x4x5@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "3x5@-2:2.3; 5x9@-2:2.3nf", ref_leaky),
    RUN("LeakyReLU", "act_type=elu slope=1.5", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "3x5@-2:2.3 5@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x3x4x5@-2:2.3 3@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x1x7@-2:2.3 1@0:1", ref_leaky),
    {.op = "LeakyReLU",
     .params = "act_type=prelu",
     .in = "2x3x4@-2:2.3 1@0.2:0.3",
     .reference = ref_leaky,
     .flags = CASE_ONE_OF_FORMS},
    RUN("LeakyReLU", "act_type=prelu", "2x40x30x9@-2:2.3 40@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "0x3x4 3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "0x3", ref_leaky),
    RUN("LeakyReLU", "act_type=gelu", "3x5@-4:4.3; 5x9@-4:4.3nf", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu slope=0.5", "1031@-4:4.3", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu", "2x3x4x5@-2:2.3", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu", "0x3", ref_gelu),
    RUN("LeakyReLU", "act_type=selu", "3x5@-2:2.3; 5x9@-2:2.3nf", ref_selu),
    RUN("LeakyReLU", "act_type=selu", "1031@-4:2.3", ref_selu),
    RUN("LeakyReLU", "act_type=selu", "s@-2:-1", ref_selu),
    FAILS("LeakyReLU", "act_type=gelu", "3x5 5", MXC_EINVAL, "LeakyReLU: expected 1 arrays"),
    RUN("LeakyReLU", "act_type=rrelu", "3x5@-2:2.3; 1031@-2:2.3; 0x3", ref_leaky),
    RUN("LeakyReLU", "act_type=rrelu lower_bound=0.1 upper_bound=0.2", "2x3x4x5@-2:2.3", ref_leaky),
    {.op = "LeakyReLU",
     .params = "act_type=rrelu lower_bound=0.25 upper_bound=0.25",
     .in = "7x129@-2:2.3",
     .reference = ref_leaky,
     .flags = CASE_TRAIN},
    {.op = "LeakyReLU",
     .params = "act_type=rrelu",
     .in = "50x70@-2:2.3",
     .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    FAILS("LeakyReLU", "act_type=rrelu lower_bound=0.5", "3x5", MXC_EINVAL, "lower_bound is 0.5, expected at most"),
    FAILS("LeakyReLU", "act_type=relu", "3x5", MXC_EINVAL, "act_type"),
    FAILS("LeakyReLU", "act_type=prelu", "3 3", MXC_ESHAPE, "expected at least 2 axes"),
    FAILS("LeakyReLU", "act_type=prelu", "3x5 4", MXC_ESHAPE, "argument 'gamma': expected shape (5,), found (4,)"),
    INFERS("LeakyReLU", "act_type=prelu", "?x6,? -> 2x? => 2x6,6 -> 2x6"),
    EMBEDDING("input_dim=5 output_dim=3 sparse_grad=True; input_dim=5 output_dim=3 sparse_grad=False", "2x4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "2x3@0:4i 5x3; 1 5x3; 7x1 5x3; 0 5x3; 2x3x4 5x3; 65 5x3; 1x1 5x3; "
                                          "2x1x3x1x2 5x3; 129 5x3; 17 5x3; s 5x3; 9 5x3@-1:1nf"),
    EMBEDDING("input_dim=5 output_dim=1", "s@3:4i 5x1"),
    EMBEDDING("input_dim=4 output_dim=7", "9@0:3i 4x7"),
    EMBEDDING("input_dim=30 output_dim=130", "3x50@0:29i 30x130"),
    EMBEDDING("input_dim=3 output_dim=600", "70@0:2i 3x600@-0.5:0.5"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=float64", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=float16", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=bfloat16", "6@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "0x2 5x3"),
    FAILS("Embedding", "input_dim=5 output_dim=3", "4 5x4", MXC_ESHAPE, "argument 'weight': expected shape (5,3)"),
    FAILS("Embedding", "input_dim=5", "4 5x4", MXC_EINVAL, "\"output_dim\" is missing"),
    FAILS("Embedding", "input_dim=5 output_dim=3 dtype=int32", "4 5x3", MXC_EINVAL, "dtype is int32"),
    FAILS("Embedding", "input_dim=5 output_dim=3", "1x1x1x1x1x1x1x1 5x3", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("Embedding", "input_dim=5 output_dim=3", "?,? -> 4x2x? => 4x2,5x3 -> 4x2x3"),
    SOFTMAX("softmax", ref_softmax),
    SOFTMAX("log_softmax", ref_log_softmax),
    SOFTMAX("softmin", ref_softmin),
    MASKED_SOFTMAX("masked_softmax", ref_masked_softmax, NULL),
    MASKED_SOFTMAX("masked_log_softmax", ref_masked_log_softmax, grad_masked_log_softmax),
};

MXC_CASES(layer_cases, cases);
