/* Cases of layers that came later: LeakyReLU, softmax, log_softmax. */
#include <math.h>

#include "operator/cases.h"

/* ---- LeakyReLU ------------------------------------------------------------------------------------------------- */

static void ref_leaky(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]), inner = 1;
    int elu = case_is(r, "act_type", "elu");
    double slope = case_number(r, "slope", 0.25);
    for (int i = 2; i < r->in_shape[0].ndim; i++)
        inner *= r->in_shape[0].dim[i];
    for (int64_t i = 0; i < n; i++) {
        double x = r->in[0][i];
        if (r->n_in == 2)
            slope = r->in[1][i / inner % r->in_shape[0].dim[1] % r->in_shape[1].dim[0]];
        r->out[0][i] = x > 0 ? x : elu ? slope * expm1(x) : slope * x;
    }
}

/* ---- softmax --------------------------------------------------------------------------------------------------- */

static void softmax(const op_run *r, int is_log) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, k;
    double temperature = case_number(r, "temperature", 1);
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < case_size(s); i++) {
        const double *x = r->in[0] + i / (k * inner) * k * inner + i % inner;
        double sum = 0;
        for (int64_t j = 0; j < k; j++)
            sum += exp((x[j * inner] - r->in[0][i]) / temperature);
        r->out[0][i] = is_log ? -log(sum) : 1 / sum;
    }
}

static void ref_softmax(const op_run *r) {
    softmax(r, 0);
}

static void ref_log_softmax(const op_run *r) {
    softmax(r, 1);
}

#define RUN(name, given, shapes, ref) {.op = name, .params = given, .in = shapes, .reference = ref}
#define FAILS(name, given, shapes, code, text) \
    {.op = name, .params = given, .in = shapes, .status = code, .error = text}
#define INFERS(name, given, text) {.op = name, .params = given, .infer = text}

#define SOFTMAX(name, ref)                                                    \
    RUN(name, "", "7@-4:4", ref), RUN(name, "", "5x3@-9:9", ref),             \
    RUN(name, "", "1x1", ref), RUN(name, "axis=1", "3x5x2@-4:4", ref),        \
    RUN(name, "axis=0", "4x7@-4:4", ref), RUN(name, "axis=-2", "2x3x4x5@-4:4", ref), \
    RUN(name, "axis=1", "2x3x300@-4:4", ref), RUN(name, "", "3x130@-9:9", ref), \
    RUN(name, "temperature=2.5", "4x9@-4:4", ref), RUN(name, "axis=1 temperature=0.5", "2x5x3@-2:2", ref), \
    RUN(name, "temperature=None", "4x9@-4:4", ref), RUN(name, "", "0x5", ref), RUN(name, "axis=0", "0x5", ref), \
    RUN(name, "", "40x500@-4:4", ref),                                        \
    FAILS(name, "axis=2", "4x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),     \
    FAILS(name, "temperature=0", "4x5", MXC_EINVAL, "temperature"),           \
    INFERS(name, "axis=1", "?x3 -> 2x? => 2x3 -> 2x3")

static const op_case cases[] = {
    RUN("LeakyReLU", "", "3x5@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "slope=0.1", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=leaky slope=0.01 lower_bound=0.2", "2x3x4x5@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "3x5@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu slope=1.5", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "3x5@-2:2.3 5@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x3x4x5@-2:2.3 3@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x1x7@-2:2.3 1@0:1", ref_leaky),
    {.op = "LeakyReLU", .params = "act_type=prelu", .in = "2x3x4@-2:2.3 1@0.2:0.3", .reference = ref_leaky,
     .flags = CASE_ONE_OF_FORMS},
    RUN("LeakyReLU", "act_type=prelu", "2x40x30x9@-2:2.3 40@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "0x3x4 3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "0x3", ref_leaky),
    FAILS("LeakyReLU", "act_type=rrelu", "3x5", MXC_EUNSUPPORTED, "LeakyReLU: act_type rrelu"),
    FAILS("LeakyReLU", "act_type=relu", "3x5", MXC_EINVAL, "act_type"),
    FAILS("LeakyReLU", "act_type=prelu", "3 3", MXC_ESHAPE, "expected at least 2 axes"),
    FAILS("LeakyReLU", "act_type=prelu", "3x5 4", MXC_ESHAPE, "argument 'gamma': expected shape (5,), found (4,)"),
    INFERS("LeakyReLU", "act_type=prelu", "?x6,? -> 2x? => 2x6,6 -> 2x6"),
    SOFTMAX("softmax", ref_softmax),
    SOFTMAX("log_softmax", ref_log_softmax),
};

MXC_CASES(layer_cases, cases);
