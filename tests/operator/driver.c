/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked of every operator case: both directions in every dtype, request and memory; inference; errors. */
#include "support.h"

#include <math.h>

#include "operator/driver.h"

typedef mxc_ndarray *(*array_maker)(const mxc_shape *shape, mxc_dtype dtype, const double *values);

static void release_all(int n, mxc_ndarray **arrays) {
    for (int i = 0; i < n; i++) {
        mxc_ndarray_release(arrays[i]);
        arrays[i] = NULL;
    }
}

static int64_t size_of(const mxc_shape *shape) {
    return mxc_shape_size(shape);
}

/* What is in an array before something is added to it. */
static double *earlier_values(const mxc_shape *shape) {
    int64_t n = size_of(shape);
    double *values = calloc((size_t)n + 1, sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)(i % 5);
    return values;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void make_inputs(const fixture *f, array_maker make, mxc_ndarray **in) {
    for (int i = 0; i < f->n_in; i++)
        in[i] = make(&f->in_shape[i], f->in_type[i], f->in[i]);
    for (int i = 0; i < f->n_aux; i++)
        in[f->n_in + i] = array_of(&f->aux_shape[i], f->aux_type[i], f->aux[i]);
}

static void invoke(const fixture *f, mxc_ndarray **in, int n_out, mxc_ndarray **out, const mxc_req *req) {
    char name[256];
    mxc_ndarray *ordered[2 * CASE_SLOTS];
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        ordered[i] = in[mxc_op_input_index(f->op, i)];
    mxc_status status = mxc_op_invoke(f->op, f->n_in + f->n_aux, ordered, n_out, out, req, f->sig.is_train);
    if (status != MXC_OK)
        fail_msg("%s: forward: %s", fixture_name(f, name, sizeof name), mxc_last_error());
}

static void expect_output(const fixture *f, const char *what, int i, mxc_ndarray *array, const double *expected,
                          const double *before) {
    double *found = values_of(array);
    if (!(f->c->flags & CASE_RANDOM))
        expect_near(f, what, i, found, expected, before, size_of(&f->out_shape[i]), f->out_type[i]);
    free(found);
}

static void expect_aux(const fixture *f, mxc_ndarray **in) {
    for (int i = 0; i < f->n_aux; i++) {
        double *found = values_of(in[f->n_in + i]);
        expect_near(f, "auxiliary state", i, found, f->aux_after[i], NULL, size_of(&f->aux_shape[i]), f->aux_type[i]);
        free(found);
    }
}

/* Outputs made by the call. */
static void check_fresh(const fixture *f, array_maker make, const char *what) {
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS] = {0};
    make_inputs(f, make, in);
    invoke(f, in, f->n_visible, out, NULL);
    for (int i = 0; i < f->n_visible; i++)
        expect_output(f, what, i, out[i], f->out[i], NULL);
    expect_aux(f, in);
    release_all(f->n_in + f->n_aux, in);
    release_all(f->n_visible, out);
}

/* Outputs given, one request for all. */
static void check_request(const fixture *f, mxc_req req) {
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS];
    guarded g[CASE_SLOTS];
    double *before[CASE_SLOTS];
    mxc_req reqs[CASE_SLOTS];
    char name[256];
    make_inputs(f, array_of, in);
    for (int i = 0; i < f->n_out; i++) {
        before[i] = earlier_values(&f->out_shape[i]);
        g[i] = guarded_of(&f->out_shape[i], f->out_type[i], req == MXC_REQ_WRITE ? NULL : before[i]);
        out[i] = g[i].array;
        reqs[i] = req;
    }
    invoke(f, in, f->n_out, out, reqs);
    for (int i = 0; i < f->n_out; i++) {
        if (req == MXC_REQ_NULL) {
            double *found = values_of(out[i]);
            expect_near(f, "output of request null", i, found, before[i], NULL, size_of(&f->out_shape[i]),
                        f->out_type[i]);
            free(found);
        } else if (i < f->n_visible) {
            expect_output(f, req == MXC_REQ_ADD ? "output added to" : "output written", i, out[i], f->out[i],
                          req == MXC_REQ_ADD ? before[i] : NULL);
        }
        guarded_close(&g[i], fixture_name(f, name, sizeof name));
        free(before[i]);
    }
    release_all(f->n_in + f->n_aux, in);
}

static void check_inplace(const fixture *f) {
    const mxc_inplace *pair = mxc_op_get_def(f->op)->inplace_forward;
    for (; pair && pair->from >= 0; pair++) {
        mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS] = {0};
        int from = pair->from - MXC_FROM_IN(0);
        if (from < 0 || from >= f->n_in || pair->to >= f->n_visible || f->in_type[from] != f->out_type[pair->to] ||
            !mxc_shape_equal(&f->in_shape[from], &f->out_shape[pair->to]))
            continue;
        make_inputs(f, array_of, in);
        out[pair->to] = in[from];
        invoke(f, in, f->n_visible, out, NULL);
        for (int i = 0; i < f->n_visible; i++)
            expect_output(f, "output in place", i, out[i], f->out[i], NULL);
        out[pair->to] = NULL;
        release_all(f->n_in + f->n_aux, in);
        release_all(f->n_visible, out);
    }
}

/* The first argument given twice. */
static void check_same_twice(const fixture *f) {
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS] = {0};
    double *values[CASE_SLOTS], *expected[CASE_SLOTS];
    if (f->n_in != 2 || !f->c->reference || !mxc_shape_equal(&f->in_shape[0], &f->in_shape[1]) || f->n_aux ||
        f->c->constant)
        return;
    values[0] = values[1] = f->in[0];
    for (int i = 0; i < f->n_out; i++)
        expected[i] = calloc((size_t)size_of(&f->out_shape[i]) + 1, sizeof(double));
    fixture_reference(f, values, f->aux, expected);
    in[0] = in[1] = array_of(&f->in_shape[0], f->in_type[0], f->in[0]);
    invoke(f, in, f->n_visible, out, NULL);
    for (int i = 0; i < f->n_visible; i++)
        expect_output(f, "output of one array twice", i, out[i], expected[i], NULL);
    for (int i = 0; i < f->n_out; i++)
        free(expected[i]);
    mxc_ndarray_release(in[0]);
    release_all(f->n_visible, out);
}

static void check_forward(const fixture *f) {
    check_fresh(f, array_of, "output");
    check_fresh(f, array_as_view, "output of views");
    check_request(f, MXC_REQ_WRITE);
    check_request(f, MXC_REQ_ADD);
    check_request(f, MXC_REQ_NULL);
    check_inplace(f);
    check_same_twice(f);
}

/* ---- gradients by differences ------------------------------------------------------------------------------------ */

/* Elements of an input whose derivative is checked; each costs two runs of the reference, so they are fewer where a run
 * is long, and a fourth of them in other dtypes than float64. Sanitizers look at memory and threads, not at numbers. */
enum { DIFFERENCES = TEST_SANITIZED ? 1 : 24, DIFFERENCES_OF_LARGE = TEST_SANITIZED ? 1 : 6, LARGE_OUTPUT = 4096 };

static double loss(const fixture *f, double *const *in) {
    double *out[CASE_SLOTS], *aux[CASE_SLOTS], sum = 0;
    for (int i = 0; i < f->n_out; i++)
        out[i] = calloc((size_t)size_of(&f->out_shape[i]) + 1, sizeof(double));
    for (int i = 0; i < f->n_aux; i++) {
        aux[i] = calloc((size_t)size_of(&f->aux_shape[i]) + 1, sizeof(double));
        memcpy(aux[i], f->aux[i], (size_t)size_of(&f->aux_shape[i]) * sizeof(double));
    }
    fixture_reference(f, in, aux, out);
    for (int i = 0; i < f->n_visible; i++)
        for (int64_t j = 0, n = size_of(&f->out_shape[i]); j < n; j++)
            sum += out[i][j] * f->out_grad[i][j];
    for (int i = 0; i < f->n_out; i++)
        free(out[i]);
    for (int i = 0; i < f->n_aux; i++)
        free(aux[i]);
    return sum;
}

/* Expected gradients: by the case's formula, or by central differences of the reference at some elements, NaN at
 * others. */
static void expect_gradients(const fixture *f) {
    const double eps = 1e-6;
    int is_large = f->n_out && size_of(&f->out_shape[0]) > LARGE_OUTPUT;
    int most = is_large ? DIFFERENCES_OF_LARGE : DIFFERENCES, every = is_large || f->dtype == MXC_F64 ? 1 : 4;
    if (f->c->gradient) {
        op_run run = {
            .params = f->c->params ? f->c->params : "",
            .is_train = 1,
            .n_in = f->n_in,
            .n_aux = f->n_aux,
            .n_out = f->n_out,
            .in_shape = f->in_shape,
            .aux_shape = f->aux_shape,
            .out_shape = f->out_shape,
            .in = f->in,
            .aux = f->aux,
            .out = f->out,
            .out_grad = f->out_grad,
            .in_grad = f->in_grad,
        };
        f->c->gradient(&run);
        return;
    }
    for (int i = 0; i < f->n_in; i++) {
        int64_t n = size_of(&f->in_shape[i]), stride = (n > most ? n / most + 1 : 1) * every;
        for (int64_t j = 0; j < n; j++) {
            double kept = f->in[i][j], above;
            f->in_grad[i][j] = NAN;
            if (j % stride || mxc_need_has(f->c->constant, i))
                continue;
            f->in[i][j] = kept + eps;
            above = loss(f, f->in);
            f->in[i][j] = kept - eps;
            f->in_grad[i][j] = (above - loss(f, f->in)) / (2 * eps);
            f->in[i][j] = kept;
        }
    }
}

/* Tolerances of differences, on top of the dtype's. */
static void expect_gradient_near(const fixture *f, int i, const double *found) {
    int exact = f->dtype == MXC_F64 && f->in_type[i] == MXC_F64;
    char name[256];
    for (int64_t j = 0; j < size_of(&f->in_shape[i]); j++) {
        double want = f->in_grad[i][j];
        if (isnan(want) && !f->c->gradient)
            continue;
        if (exact && isfinite(want) && !(fabs(found[j] - want) <= 1e-5 + 1e-3 * fabs(want)))
            fail_msg("%s: gradient of argument %d, element %lld: found %.12g, by differences %.12g",
                     fixture_name(f, name, sizeof name), i, (long long)j, found[j], want);
        if (!exact || !isfinite(want))
            expect_near(f, "gradient", i, found + j, &want, NULL, 1, f->in_type[i]);
    }
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct backward_run {
    const fixture *f;
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS], *out_grad[CASE_SLOTS];
    double *gradient[CASE_SLOTS]; /* what the first run found */
} backward_run;

static mxc_status call_backward(backward_run *b, mxc_ndarray **in_grad, const mxc_req *req) {
    const fixture *f = b->f;
    mxc_op_needs needs;
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS], *out_grad[CASE_SLOTS];
    mxc_op_get_needs(f->op, &needs);
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        in[i] = b->in[i];
    for (int i = 0; i < f->n_out; i++) {
        out[i] = mxc_need_has(needs.out, i) ? b->out[i] : NULL;
        out_grad[i] = mxc_need_has(needs.out_grad, i) ? b->out_grad[i] : NULL;
    }
    return mxc_op_invoke_backward(f->op, out_grad, in, out, in_grad, req);
}

static void run_backward(backward_run *b, mxc_ndarray **in_grad, const mxc_req *req) {
    char name[256];
    if (call_backward(b, in_grad, req) != MXC_OK)
        fail_msg("%s: backward: %s", fixture_name(b->f, name, sizeof name), mxc_last_error());
}

static void open_backward(backward_run *b, const fixture *f) {
    *b = (backward_run){.f = f};
    make_inputs(f, array_of, b->in);
    invoke(f, b->in, f->n_out, b->out, NULL);
    for (int i = 0; i < f->n_out; i++) {
        if (i >= f->n_visible)
            memset(f->out_grad[i], 0, (size_t)size_of(&f->out_shape[i]) * sizeof(double));
        b->out_grad[i] = array_of(&f->out_shape[i], f->out_type[i], f->out_grad[i]);
    }
}

static void close_backward(backward_run *b) {
    release_all(b->f->n_in + b->f->n_aux, b->in);
    release_all(b->f->n_out, b->out);
    release_all(b->f->n_out, b->out_grad);
    for (int i = 0; i < b->f->n_in; i++)
        free(b->gradient[i]);
}

static void check_gradient_written(backward_run *b) {
    const fixture *f = b->f;
    mxc_ndarray *in_grad[CASE_SLOTS];
    mxc_req req[CASE_SLOTS];
    guarded g[CASE_SLOTS];
    char name[256];
    for (int i = 0; i < f->n_in; i++) {
        g[i] = guarded_of(&f->in_shape[i], f->in_type[i], NULL);
        in_grad[i] = g[i].array;
        req[i] = MXC_REQ_WRITE;
    }
    run_backward(b, in_grad, req);
    for (int i = 0; i < f->n_in; i++) {
        b->gradient[i] = values_of(in_grad[i]);
        if (!mxc_need_has(f->c->constant, i))
            expect_gradient_near(f, i, b->gradient[i]);
        guarded_close(&g[i], fixture_name(f, name, sizeof name));
    }
}

/* One gradient added to, the others not wanted; then the reverse of that. */
static void check_gradient_requests(backward_run *b, int chosen, mxc_req chosen_req, mxc_req other_req) {
    const fixture *f = b->f;
    mxc_ndarray *in_grad[CASE_SLOTS];
    mxc_req req[CASE_SLOTS];
    guarded g[CASE_SLOTS];
    double *before[CASE_SLOTS];
    char name[256];
    for (int i = 0; i < f->n_in; i++) {
        before[i] = earlier_values(&f->in_shape[i]);
        g[i] = guarded_of(&f->in_shape[i], f->in_type[i], before[i]);
        in_grad[i] = g[i].array;
        req[i] = i == chosen ? chosen_req : other_req;
    }
    run_backward(b, in_grad, req);
    for (int i = 0; i < f->n_in; i++) {
        double *found = values_of(in_grad[i]);
        const double *want = req[i] == MXC_REQ_NULL ? before[i] : b->gradient[i];
        expect_near(f, "gradient of request", (int)req[i], found, want, req[i] == MXC_REQ_ADD ? before[i] : NULL,
                    size_of(&f->in_shape[i]), f->in_type[i]);
        free(found);
        free(before[i]);
        guarded_close(&g[i], fixture_name(f, name, sizeof name));
    }
}

/* The array that an in-place pair of backward takes over; NULL if there is none or backward does not read it. */
static mxc_ndarray *inplace_source(backward_run *b, int from) {
    mxc_op_needs needs;
    mxc_op_get_needs(b->f->op, &needs);
    if (from >= MXC_FROM_OUT(0))
        return mxc_need_has(needs.out, from - MXC_FROM_OUT(0)) ? b->out[from - MXC_FROM_OUT(0)] : NULL;
    if (from >= MXC_FROM_IN(0))
        return mxc_need_has(needs.in, from - MXC_FROM_IN(0)) ? b->in[from - MXC_FROM_IN(0)] : NULL;
    return mxc_need_has(needs.out_grad, from) ? b->out_grad[from] : NULL;
}

static void check_gradient_inplace(const fixture *f, double *const *gradient) {
    const mxc_inplace *pair = mxc_op_get_def(f->op)->inplace_backward;
    for (; pair && pair->from >= 0; pair++) {
        backward_run b;
        mxc_ndarray *in_grad[CASE_SLOTS], *source;
        if (pair->to >= f->n_in)
            continue;
        open_backward(&b, f);
        source = inplace_source(&b, pair->from);
        if (source && mxc_ndarray_dtype(source) == f->in_type[pair->to] &&
            mxc_shape_equal(mxc_ndarray_shape(source), &f->in_shape[pair->to])) {
            for (int i = 0; i < f->n_in; i++)
                in_grad[i] =
                    i == pair->to ? mxc_ndarray_retain(source) : array_of(&f->in_shape[i], f->in_type[i], f->in[i]);
            run_backward(&b, in_grad, NULL);
            for (int i = 0; i < f->n_in; i++) {
                double *found = values_of(in_grad[i]);
                expect_near(f, "gradient in place", i, found, gradient[i], NULL, size_of(&f->in_shape[i]),
                            f->in_type[i]);
                free(found);
            }
            release_all(f->n_in, in_grad);
        }
        close_backward(&b);
    }
}

static int has_gradient(const fixture *f) {
    const mxc_op_def *def = mxc_op_get_def(f->op);
    return f->n_in && (def->backward[MXC_CPU] || (def->flags & MXC_OP_ZERO_GRADIENT));
}

static void check_backward(const fixture *f) {
    backward_run b;
    if ((f->c->flags & CASE_NO_GRADIENT) || !f->n_in)
        return;
    open_backward(&b, f);
    if (!has_gradient(f)) {
        assert_int_not_equal(call_backward(&b, b.in, NULL), MXC_OK);
        close_backward(&b);
        return;
    }
    expect_gradients(f);
    check_gradient_written(&b);
    for (int i = 0; i < f->n_in; i++) {
        check_gradient_requests(&b, i, MXC_REQ_ADD, MXC_REQ_NULL);
        check_gradient_requests(&b, i, MXC_REQ_NULL, MXC_REQ_WRITE);
    }
    check_gradient_requests(&b, 0, MXC_REQ_ADD, MXC_REQ_ADD);
    check_gradient_inplace(f, b.gradient);
    close_backward(&b);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static void expect_shape_within(const fixture *f, const char *what, int i, const mxc_shape *found,
                                const mxc_shape *full) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT], name[256];
    int fits = found->ndim < 0 || found->ndim == full->ndim;
    for (int k = 0; fits && k < found->ndim; k++)
        fits = found->dim[k] < 0 || found->dim[k] == full->dim[k];
    if (!fits)
        fail_msg("%s: partial inference of %s %d: found %s, expected what fits %s", fixture_name(f, name, sizeof name),
                 what, i, mxc_shape_format(found, have, sizeof have), mxc_shape_format(full, want, sizeof want));
}

/* With only one slot known (or none), inference succeeds and says nothing wrong. */
static void check_partial(const fixture *f) {
    for (int known = -1; known < f->n_in + f->n_out; known++) {
        fixture g = *f;
        mxc_op_sig *sig = &g.sig;
        sig->in_shape = g.in_shape, sig->out_shape = g.out_shape, sig->aux_shape = g.aux_shape;
        sig->in_type = g.in_type, sig->out_type = g.out_type, sig->aux_type = g.aux_type;
        for (int i = 0; i < CASE_SLOTS; i++) {
            if (i != known)
                g.in_shape[i].ndim = -1;
            if (i + f->n_in != known)
                g.out_shape[i].ndim = -1;
            g.aux_shape[i].ndim = -1;
            g.in_type[i] = g.out_type[i] = g.aux_type[i] = MXC_DTYPE_UNKNOWN;
        }
        assert_ok(mxc_op_infer_type(sig));
        assert_ok(mxc_op_infer_shape(sig));
        for (int i = 0; i < f->n_in; i++)
            expect_shape_within(f, "argument", i, &g.in_shape[i], &f->in_shape[i]);
        for (int i = 0; i < f->n_out; i++)
            expect_shape_within(f, "output", i, &g.out_shape[i], &f->out_shape[i]);
        for (int i = 0; i < f->n_aux; i++)
            expect_shape_within(f, "auxiliary state", i, &g.aux_shape[i], &f->aux_shape[i]);
    }
}

static void check_inference(const op_case *c) {
    mxc_shape before_in[2 * CASE_SLOTS], before_out[2 * CASE_SLOTS], in[2 * CASE_SLOTS], out[2 * CASE_SLOTS];
    mxc_dtype types[3][2 * CASE_SLOTS];
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    const char *at = c->infer;
    case_params params;
    mxc_op_sig sig = {0};
    mxc_op *op;
    case_parse_params(c->params, &params);
    assert_ok(mxc_op_create(c->op, params.n, params.keys, params.values, &op));
    sig = (mxc_op_sig){.op = op,
                       .params = mxc_op_params(op),
                       .n_in = mxc_op_n_args(op),
                       .n_out = mxc_op_n_outputs(op),
                       .n_aux = mxc_op_n_aux(op),
                       .in_shape = before_in,
                       .out_shape = before_out,
                       .in_type = types[0],
                       .out_type = types[1],
                       .aux_type = types[2]};
    sig.aux_shape = before_in + sig.n_in;
    assert_int_equal(case_parse_shapes(&at, before_in), sig.n_in + sig.n_aux);
    assert_int_equal(case_parse_shapes(&at, before_out), sig.n_out);
    assert_int_equal(case_parse_shapes(&at, in), sig.n_in + sig.n_aux);
    assert_int_equal(case_parse_shapes(&at, out), sig.n_out);
    assert_ok(mxc_op_infer_shape(&sig));
    for (int i = 0; i < sig.n_in + sig.n_aux + sig.n_out; i++) {
        int is_out = i >= sig.n_in + sig.n_aux, k = is_out ? i - sig.n_in - sig.n_aux : i;
        mxc_shape_format(is_out ? &before_out[k] : &before_in[k], have, sizeof have);
        mxc_shape_format(is_out ? &out[k] : &in[k], want, sizeof want);
        if (strcmp(have, want))
            fail_msg("%s(%s): inference of %s: %s %d: found %s, expected %s", c->op, c->params ? c->params : "",
                     c->infer, is_out ? "output" : "argument", k, have, want);
    }
    mxc_op_release(op);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void check_error(const op_case *c) {
    case_params params;
    case_input inputs[CASE_SLOTS];
    mxc_ndarray *in[CASE_SLOTS], *out[CASE_SLOTS] = {0};
    int n = c->in ? case_parse_inputs(c->in, inputs) : 0;
    mxc_op *op;
    mxc_status status;
    case_parse_params(c->params, &params);
    for (int i = 0; i < n; i++) {
        assert_ok(mxc_ndarray_create(inputs[i].shape.ndim, inputs[i].shape.dim, MXC_F32, case_context, &in[i]));
        assert_ok(mxc_ndarray_fill(in[i], 1));
    }
    status = mxc_op_create(c->op, params.n, params.keys, params.values, &op);
    if (status == MXC_OK)
        status = mxc_op_invoke(op, n, in, mxc_op_n_visible(op), out, NULL, 0);
    if (status != c->status || !strstr(mxc_last_error(), c->error))
        fail_msg("%s(%s) of %s: returned %s \"%s\", expected %s with \"%s\"", c->op, c->params ? c->params : "",
                 c->in ? c->in : "nothing", mxc_status_name(status), status ? mxc_last_error() : "",
                 mxc_status_name(c->status), c->error);
    mxc_op_release(op);
    release_all(n, in);
    for (int i = 0; i < CASE_SLOTS; i++)
        assert_null(out[i]);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int case_runs_in(const op_case *c, const mxc_op_def *def, mxc_dtype dtype) {
    unsigned set = def->dtypes ? def->dtypes : MXC_DTYPES_REAL, bit = MXC_DTYPE_BIT(dtype);
    int is_int = (bit & MXC_DTYPES_INT) != 0, is_16 = dtype == MXC_F16 || dtype == MXC_BF16;
    if (!(set & bit) || dtype == MXC_BOOL || (c->can_run && !c->can_run()))
        return 0;
    if ((c->flags & CASE_INT_ONLY) && !is_int)
        return 0;
    if ((c->flags & CASE_FLOAT_ONLY) && is_int)
        return 0;
    if ((c->flags & CASE_F64_ONLY) && dtype != MXC_F64)
        return 0;
    return !((c->flags & CASE_OUT_EXACT) && is_16);
}

void check_in_dtype(const op_case *c, mxc_dtype dtype) {
    fixture f;
    fixture_open(&f, c, dtype);
    if (!(c->flags & CASE_ONE_OF_FORMS))
        check_partial(&f);
    check_forward(&f);
    if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype))
        check_backward(&f);
    fixture_close(&f);
}

/* Sanitizers look at memory and threads, not at numbers, and are slow; on a device, waking threads takes most of the
 * time. There a case runs in its first dtype and, by a fixed choice, in a quarter of the others; with both, in a
 * quarter of all. */
static int is_due(int runs) {
    static uint32_t n;
    int on_device = case_context.device != MXC_CPU;
    if ((!TEST_SANITIZED && !on_device) || (runs == 0 && !(TEST_SANITIZED && on_device)))
        return 1;
    return (++n * 2654435769u) >> 30 == 0;
}

static void check_run(const op_case *c) {
    const mxc_op_def *def = mxc_op_find(c->op);
    int runs = 0, fits = 0;
    if (!def)
        fail_msg("case of %s: there is no such operator", c->op);
    for (int dtype = 0; dtype < MXC_DTYPE_LIMIT; dtype++)
        if (mxc_dtype_size((mxc_dtype)dtype) && case_runs_in(c, def, (mxc_dtype)dtype)) {
            fits++;
            if (!is_due(runs))
                continue;
            check_in_dtype(c, (mxc_dtype)dtype);
            runs++;
            if (!*c->in)
                break; /* a source's dtype is a parameter */
        }
    assert_true(fits > 0);
}

void check_case(const op_case *c) {
    case_set set;
    if (c->can_run && !c->can_run())
        skip();
    else if (c->error)
        check_error(c);
    else if (c->infer)
        check_inference(c);
    else
        for (int i = 0; case_set_at(c, i, &set); i++)
            check_run(&set.c);
}
