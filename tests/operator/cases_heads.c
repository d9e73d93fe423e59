/* Cases of the output layers, and of the operators that move or sum whole arrays: Flatten, Reshape, Concat, add_n. */
#include <math.h>

#include "operator/cases.h"

/* ---- softmax ----------------------------------------------------------------------------------------------------- */

/* Arrays as (outer, k, inner), softmax along k. */
typedef struct split {
    int64_t outer, k, inner;
} split;

static split split_of(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    split p = {1, 1, 1};
    int channel = case_is(r, "multi_output", "True") || case_is(r, "mode", "channel");
    int axis = channel ? 1 : case_is(r, "preserve_shape", "True") ? s->ndim - 1 : 1;
    int end = channel || case_is(r, "preserve_shape", "True") ? axis + 1 : s->ndim;
    for (int i = 0; i < s->ndim; i++)
        *(i < axis ? &p.outer : i < end ? &p.k : &p.inner) *= s->dim[i];
    return p;
}

static void ref_softmax(const op_run *r) {
    split p = split_of(r);
    for (int64_t i = 0; i < p.outer * p.inner; i++) {
        const double *x = r->in[0] + i / p.inner * p.k * p.inner + i % p.inner;
        double *y = r->out[0] + (x - r->in[0]), most = -INFINITY, sum = 0;
        for (int64_t k = 0; k < p.k; k++)
            most = fmax(most, x[k * p.inner]);
        for (int64_t k = 0; k < p.k; k++)
            sum += exp(x[k * p.inner] - most);
        for (int64_t k = 0; k < p.k; k++)
            y[k * p.inner] = exp(x[k * p.inner] - most) / sum;
    }
}

static double loss_divisor(const op_run *r, split p) {
    double ignore = case_number(r, "ignore_label", -1), count = 0;
    if (case_is(r, "normalization", "batch"))
        return (double)(p.outer * p.inner);
    if (!case_is(r, "normalization", "valid"))
        return (double)p.inner;
    for (int64_t i = 0; i < p.outer * p.inner; i++)
        count += r->in[1][i] != ignore;
    return fmax(count, 1);
}

static void grad_softmax_output(const op_run *r) {
    split p = split_of(r);
    int dense = mxc_shape_equal(&r->in_shape[1], &r->in_shape[0]);
    double scale = case_number(r, "grad_scale", 1) / (dense ? 1 : loss_divisor(r, p));
    for (int64_t i = 0; i < p.outer * p.k * p.inner; i++) {
        int64_t row = i / (p.k * p.inner), k = i / p.inner % p.k, at = row * p.inner + i % p.inner;
        double alpha = case_number(r, "smooth_alpha", 0), off = p.k > 1 ? alpha / (double)(p.k - 1) : 0;
        double target = dense ? r->in[1][i] : r->in[1][at] == (double)k ? 1 - alpha : off;
        double value = scale * (r->out[0][i] - target);
        if (!dense && case_is(r, "use_ignore", "True") && r->in[1][at] == case_number(r, "ignore_label", -1))
            value = 0;
        r->in_grad[0][i] = value * (case_is(r, "out_grad", "True") ? r->out_grad[0][i] : 1);
    }
}

/* ---- regressions ------------------------------------------------------------------------------------------------- */

static void ref_identity(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void ref_logistic(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = 1 / (1 + exp(-r->in[0][i]));
}

static void grad_regression(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]);
    double scale = case_number(r, "grad_scale", 1) / ((double)n / (double)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = scale * (r->out[0][i] - r->in[1][i]);
}

static void grad_mae(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]);
    double scale = case_number(r, "grad_scale", 1) / ((double)n / (double)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = scale * ((r->out[0][i] > r->in[1][i]) - (r->out[0][i] < r->in[1][i]));
}

/* ---- Concat, add_n ----------------------------------------------------------------------------------------------- */

static void ref_concat(const op_run *r) {
    int ndim = r->out_shape[0].ndim, axis = (int)case_number(r, "dim", 1);
    int64_t outer = 1, inner = 1, at = 0;
    axis = axis < 0 ? axis + ndim : axis;
    for (int i = 0; i < ndim; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : r->out_shape[0].dim[i];
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < r->n_in; i++) {
            int64_t row = r->in_shape[i].dim[axis] * inner;
            for (int64_t j = 0; j < row; j++)
                r->out[0][at++] = r->in[i][o * row + j];
        }
}

static void ref_add_n(const op_run *r) {
    for (int64_t j = 0; j < case_size(&r->out_shape[0]); j++) {
        r->out[0][j] = 0;
        for (int i = 0; i < r->n_in; i++)
            r->out[0][j] += r->in[i][j];
    }
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

#define SOFTMAX(given, shapes)                                                                         \
    {                                                                                                  \
        .op = "SoftmaxOutput", .params = given, .in = shapes, .constant = 2, .reference = ref_softmax, \
        .gradient = grad_softmax_output                                                                \
    }
/* A label of another form than the one that inference assumes. */
#define SOFTMAX_FORM(given, shapes)                                                                      \
    {                                                                                                    \
        .op = "SoftmaxOutput", .params = given, .in = shapes, .flags = CASE_ONE_OF_FORMS, .constant = 2, \
        .reference = ref_softmax, .gradient = grad_softmax_output                                        \
    }
#define SOFT_ACT(given, shapes) \
    { .op = "SoftmaxActivation", .params = given, .in = shapes, .reference = ref_softmax }
#define REGRESSION(name, given, shapes, forward, backward) \
    { .op = name, .params = given, .in = shapes, .constant = 2, .reference = forward, .gradient = backward }
/* Data and a label of its shape. */
#define LABELLED                                                                                                 \
    "; 1 1; 7 7; 65 65; 0 0; 0x3 0x3; 1x17 1x17; 3x129 3x129; 2x3x4 2x3x4; 1x5x1 1x5x1; 3x1x7 3x1x7; "           \
    "2x3x2x5 2x3x2x5; 1x1x1x1 1x1x1x1; 2x1x3x1x2 2x1x3x1x2; 1031 1031; 3x0x2 3x0x2; 64x2 64x2; 33x3 33x3; 5 5; " \
    "5x9@-1:1nf 5x9"
#define CONCAT(given, shapes) \
    { .op = "Concat", .params = given, .in = shapes, .reference = ref_concat }
#define RNN_CONCAT(given, shapes) \
    { .op = "_rnn_param_concat", .params = given, .in = shapes, .flags = CASE_ONE_OF_FORMS, .reference = ref_concat }
#define ADD_N(given, shapes) \
    { .op = "add_n", .params = given, .in = shapes, .reference = ref_add_n }
#define FLATTEN(shapes) \
    { .op = "Flatten", .in = shapes, .reference = ref_identity }
#define RESHAPE(given, shapes) \
    { .op = "Reshape", .params = given, .in = shapes, .reference = ref_identity }

static const op_case cases[] = {
    SOFTMAX("", "1x1 1@0:0"),
    SOFTMAX("", "4x10@-3:3 4@0:9i; 5x9@-3:3n 5@0:8i; 5x9@-3:3f 5@0:8i"),
    SOFTMAX("", "5x3@-30:30 5@0:2i"),
    SOFTMAX("", "5x67 5@0:66i"),
    SOFTMAX("use_ignore=True", "5x3 5@-1:2i"),
    SOFTMAX("", "0x3 0"),
    SOFTMAX("grad_scale=0.5", "6x8 6@0:7i"),
    SOFTMAX("grad_scale=2 normalization=batch", "6x8 6@0:7i"),
    SOFTMAX("normalization=valid ignore_label=2", "6x4 6@0:3i"),
    SOFTMAX("normalization=valid use_ignore=True ignore_label=0", "6x4 6@0:3i"),
    SOFTMAX("normalization=valid use_ignore=True ignore_label=0", "3x4 3@0:0.5i"), /* all ignored */
    SOFTMAX("use_ignore=True ignore_label=1", "6x4 6@0:3i"),
    SOFTMAX("smooth_alpha=0.1", "6x4 6@0:3i; 4x9 4; 5x67 5; 0x3 0"),
    SOFTMAX("smooth_alpha=0.3 use_ignore=True ignore_label=1 normalization=valid grad_scale=2", "6x4 6@0:3i"),
    SOFTMAX("smooth_alpha=0.2 multi_output=True", "2x5x3x4 2x12@0:4i"),
    SOFTMAX("smooth_alpha=1", "3x4 3@0:3i"),
    FAILS("SoftmaxOutput", "smooth_alpha=1.5", "4x5 4", MXC_EINVAL, "smooth_alpha"),
    SOFTMAX("out_grad=True", "6x4 6@0:3i"),
    SOFTMAX_FORM("", "6x4 6x4@0:1"),
    SOFTMAX_FORM("out_grad=True grad_scale=3 normalization=batch", "6x4 6x4@0:1"),
    SOFTMAX("", "3x2x4 3@0:7i"),
    SOFTMAX("preserve_shape=True", "3x2x4 3x2@0:3i"),
    SOFTMAX("preserve_shape=True normalization=batch", "3x2x4 3x2@0:3i"),
    SOFTMAX("multi_output=True", "2x5x3x4 2x12@0:4i"),
    SOFTMAX_FORM("multi_output=True normalization=batch", "2x5x3x4 2x3x4@0:4i"),
    SOFTMAX_FORM("multi_output=True normalization=valid use_ignore=True ignore_label=3", "2x5x3x4 2x1x3x4@0:4i"),
    SOFTMAX("multi_output=True out_grad=True", "2x3x300 2x300@0:2i"),
    SOFTMAX("multi_output=True", "4x5 4x1@0:4i"),
    FAILS("SoftmaxOutput", "", "4x5 3", MXC_ESHAPE, "label"),
    FAILS("SoftmaxOutput", "", "4 4", MXC_ESHAPE, "at least 2 axes"),
    FAILS("SoftmaxOutput", "multi_output=True", "4x5x6 4x5", MXC_ESHAPE, "label"),
    FAILS("SoftmaxOutput", "normalization=none", "4x5 4", MXC_EINVAL, "normalization"),
    INFERS("SoftmaxOutput", "", "8x10,? -> ? => 8x10,8 -> 8x10"),
    INFERS("SoftmaxOutput", "preserve_shape=True", "?,? -> 8x3x10 => 8x3x10,8x3 -> 8x3x10"),
    INFERS("SoftmaxOutput", "multi_output=True", "2x5x3x4,? -> ? => 2x5x3x4,2x12 -> 2x5x3x4"),
    INFERS("Softmax", "", "8x10,8x10 -> ? => 8x10,8x10 -> 8x10"),

    SOFT_ACT("", "3x5@-4:4; 1x1; 1x7; 7x1; 0x3; 65x3; 3x129; 2x3x4; 1x2x1x3; 17x2; 2x1x3x1x2; 5x9@-4:4nf"),
    SOFT_ACT("", "3x5x2@-4:4"),
    SOFT_ACT("mode=channel", "3x5x2x3@-4:4; 1x1x1x1; 1x7x1; 2x1x3; 7x3; 0x3x2; 9x5x3@-4:4nf"),
    SOFT_ACT("mode=channel", "2x3x520@-4:4"),
    SOFT_ACT("", "0x5"),
    FAILS("SoftmaxActivation", "mode=channel", "5", MXC_ESHAPE, "at least 2 axes"),

    REGRESSION("LinearRegressionOutput", "", "5x3 5x3" LABELLED, ref_identity, grad_regression),
    REGRESSION("LinearRegressionOutput", "grad_scale=0.1", "5x1 5", ref_identity, grad_regression),
    {.op = "LinearRegressionOutput",
     .in = "5x1 5x1",
     .flags = CASE_ONE_OF_FORMS,
     .constant = 2,
     .reference = ref_identity,
     .gradient = grad_regression},
    REGRESSION("LinearRegressionOutput", "", "5 5", ref_identity, grad_regression),
    REGRESSION("LogisticRegressionOutput", "grad_scale=2", "5x3x2@-4:4 5x3x2@0:1" LABELLED, ref_logistic,
               grad_regression),
    REGRESSION("MAERegressionOutput", "", "7x3 7x3" LABELLED, ref_identity, grad_mae),
    FAILS("LinearRegressionOutput", "", "5x3 5", MXC_ESHAPE, "label"),
    INFERS("LinearRegressionOutput", "", "6x1,? -> ? => 6x1,6 -> 6x1"),
    INFERS("MAERegressionOutput", "", "?,? -> 6x4 => 6x4,6x4 -> 6x4"),

    FLATTEN("3x4" CASE_AXES(CASE_ONE) "; 5x9@-1:1nf"),
    FLATTEN("3"),
    FLATTEN("2x3x4x5"),
    FLATTEN("0x3x4"),
    FLATTEN("3x0x4"),
    FAILS("Flatten", "", "s", MXC_ESHAPE, "at least one axis"),
    INFERS("Flatten", "", "?x3x4 -> 7x? => 7x3x4 -> 7x12"),
    INFERS("Flatten", "", "?x? -> 7x5 => 7x5 -> 7x5"),

    RESHAPE("shape=(6,4)", "2x3x4"),
    RESHAPE("shape=(-1,)", "2x3x4" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf"),
    RESHAPE("shape=(0,-1)", "2x3x4"),
    RESHAPE("shape=(-3,0) reverse=True", "2x3x4"),
    RESHAPE("target_shape=(0,12)", "2x3x4"),
    RESHAPE("shape=(0,0)", "0x5"),
    FAILS("Reshape", "shape=(5,5)", "2x3x4", MXC_ESHAPE, "elements"),
    FAILS("Reshape", "shape=(-1,-1)", "2x3x4", MXC_ESHAPE, "more than one -1"),
    FAILS("Reshape", "shape=(5,-1)", "2x3x4", MXC_ESHAPE, "divided"),
    FAILS("Reshape", "shape=(0,0,0,0)", "2x3x4", MXC_ESHAPE, "more axes"),
    FAILS("Reshape", "shape=(-4,5,-1,0,0)", "2x3x4", MXC_ESHAPE, "split"),
    FAILS("Reshape", "shape=(0,-4,3)", "2x3x4", MXC_ESHAPE, "-4"),
    FAILS("Reshape", "shape=(-4,-1,-1,0,0)", "2x3x4", MXC_ESHAPE, "-4"),
    FAILS("Reshape", "shape=(-5,)", "2x3x4", MXC_EINVAL, "shape"),
    FAILS("Reshape", "shape=(1,1,1,1,1,1,1,1,-1)", "2x3x4", MXC_ESHAPE, "8 axes"),
    FAILS("Reshape", "", "2x3x4", MXC_ESHAPE, "-1"),
    INFERS("Reshape", "shape=(4,0,2)", "2x3x4 -> ? => 2x3x4 -> 4x3x2"),
    INFERS("Reshape", "shape=(2,0,0)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(6,1,-1)", "2x3x4 -> ? => 2x3x4 -> 6x1x4"),
    INFERS("Reshape", "shape=(3,-1,8)", "2x3x4 -> ? => 2x3x4 -> 3x1x8"),
    INFERS("Reshape", "shape=(-2,)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(2,-2)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(-2,1,1)", "2x3x4 -> ? => 2x3x4 -> 2x3x4x1x1"),
    INFERS("Reshape", "shape=(-3,4)", "2x3x4 -> ? => 2x3x4 -> 6x4"),
    INFERS("Reshape", "shape=(-3,-3)", "2x3x4x5 -> ? => 2x3x4x5 -> 6x20"),
    INFERS("Reshape", "shape=(0,-3)", "2x3x4 -> ? => 2x3x4 -> 2x12"),
    INFERS("Reshape", "shape=(-3,-2)", "2x3x4 -> ? => 2x3x4 -> 6x4"),
    INFERS("Reshape", "shape=(-4,1,2,-2)", "2x3x4 -> ? => 2x3x4 -> 1x2x3x4"),
    INFERS("Reshape", "shape=(2,-4,-1,3,-2)", "2x3x4 -> ? => 2x3x4 -> 2x1x3x4"),
    INFERS("Reshape", "shape=(-1,0)", "10x5x4 -> ? => 10x5x4 -> 40x5"),
    INFERS("Reshape", "shape=(-1,0) reverse=True", "10x5x4 -> ? => 10x5x4 -> 50x4"),
    INFERS("Reshape", "shape=(-2,-4,2,-1) reverse=True", "3x5x8 -> ? => 3x5x8 -> 3x5x2x4"),
    INFERS("Reshape", "shape=(0,-1)", "?x3x4 -> 5x? => ?x3x4 -> 5x?"),
    INFERS("Reshape", "shape=(0,12)", "?x3x4 -> 5x? => 5x3x4 -> 5x12"),
    INFERS("Reshape", "target_shape=(2,0)", "2x3x4 -> ? => 2x3x4 -> 2x12"),
    INFERS("Reshape", "target_shape=(0,0) keep_highest=True", "2x3x4 -> ? => 2x3x4 -> 2x12"),

    CONCAT("num_args=1", "2x3"),
    CONCAT("num_args=2", "2x3 2x4; 1x1 1x1; 7x1 7x3; 0x3 0x2; 3x0 3x0; 65x2 65x7; 2x3x4 2x1x4; 2x1x3x1x2 2x4x3x1x2; "
                         "1x129 1x3; 17x1 17x1; 3x1x7 3x2x7; 1x33 1x33; 2x3x1x2 2x1x1x2; "
                         "2x1x2x1x2x1x2x1 2x3x2x1x2x1x2x1; 5x9@-1:1nf 5x2"),
    CONCAT("num_args=3 dim=0", "2x3 1x3 4x3"),
    CONCAT("num_args=2 dim=-1", "2x3x4 2x3x1"),
    CONCAT("num_args=3 dim=2", "2x3x4x5 2x3x1x5 2x3x2x5"),
    CONCAT("num_args=2", "2x0 2x4"),
    CONCAT("num_args=2 dim=0", "0x4 0x4"),
    RNN_CONCAT("num_args=3 dim=0", "4 5 7; 1 1 1; 0 3 2; 65 1 129; 1031 7 1; 2x3 1x3 4x3; 0 0 0; 3x2x1 1x2x1 2x2x1; "
                                   "9 9 9; "
                                   "12 1 0; 7x1 2x1 3x1; 17 33 2"),
    RNN_CONCAT("num_args=1 dim=0", "7; 2x3; 65; 0"),
    RNN_CONCAT("num_args=2", "2x3 2x4; 1x1 1x65; 3x2x2 3x5x2; 0x2 0x1"),
    INFERS("_rnn_param_concat", "num_args=4 dim=0", "5,?,?,7 -> 32 => 5,10,10,7 -> 32"),
    INFERS("_rnn_param_concat", "num_args=2 dim=0", "5,6 -> ? => 5,6 -> 11"),
    FAILS("Concat", "num_args=2", "2x3 3x3", MXC_ESHAPE, "arg1"),
    FAILS("Concat", "num_args=2 dim=3", "2x3 2x3", MXC_ESHAPE, "axis 3"),
    FAILS("Concat", "num_args=0", "2x3", MXC_EINVAL, "num_args"),
    INFERS("Concat", "num_args=2", "2x3x4,?x5x? -> ? => 2x3x4,2x5x4 -> 2x8x4"),
    INFERS("Concat", "num_args=2", "2x3,? -> 2x9 => 2x3,2x6 -> 2x9"),
    INFERS("Concat", "num_args=2", "?,? -> ? => ?,? -> ?"),

    ADD_N("num_args=1", "2x3"),
    ADD_N("num_args=2", "2x3 2x3" CASE_EACH(CASE_TWO) "; 5x9@-1:1nf 5x9@-1:1nf"),
    ADD_N("num_args=5", "40x50 40x50 40x50 40x50 40x50"),
    ADD_N("num_args=3", "0x3 0x3 0x3"),
    FAILS("add_n", "num_args=2", "2x3 3x2", MXC_ESHAPE, "arg1"),
    INFERS("ElementWiseSum", "num_args=3", "?x3,2x?,? -> ? => 2x3,2x3,2x3 -> 2x3"),
};

MXC_CASES(head_cases, cases);
