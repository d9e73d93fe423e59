/* SPDX-License-Identifier: Apache-2.0 */
/* One case in one dtype: its operator, its inputs as numbers and as arrays, what the reference says, comparing. */
#include "support.h"

#include <math.h>

#include "math/cast_kernels.h"
#include "operator/driver.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static int is_integer(mxc_dtype dtype) {
    return (MXC_DTYPES_INT & MXC_DTYPE_BIT(dtype)) != 0;
}

static double *new_values(int64_t n) {
    double *values = calloc((size_t)n + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static double *copy_values(const double *values, int64_t n) {
    double *copy = new_values(n);
    memcpy(copy, values, (size_t)n * sizeof *copy);
    return copy;
}

static void *encode(const double *values, mxc_dtype dtype, int64_t n) {
    void *data = calloc((size_t)n + 1, 8);
    assert_non_null(data);
    mxci_convert(MXC_F64, values, dtype, data, n);
    return data;
}

/* Round in place to what the dtype can hold. */
static void round_values(mxc_dtype dtype, double *values, int64_t n) {
    char *narrow = calloc((size_t)n + 1, 8);
    assert_non_null(narrow);
    mxci_convert(MXC_F64, values, dtype, narrow, n);
    mxci_convert(dtype, narrow, MXC_F64, values, n);
    free(narrow);
}

/* What stands at a place of each period instead of a value: a NaN and an infinity of either sign, as far as wanted. */
static double special(const case_input *in, int64_t place, double value) {
    double specials[4] = {value, value, value, value};
    int n = 0;
    if (in->nan)
        specials[n++] = NAN;
    if (in->infinite) {
        specials[n++] = INFINITY;
        specials[n++] = -INFINITY;
    }
    return place % 2 || place > 4 ? value : specials[place / 2];
}

/* Distinct numbers of [low, high): the middles of n equal parts, shuffled. Special ones come in other periods by seed,
 * so that those of several inputs meet in every way. */
static double *random_values(const case_input *in, mxc_dtype dtype, uint64_t seed) {
    int64_t n = mxc_shape_size(&in->shape), period = 7 + 2 * (int64_t)(seed % 5);
    double *values = new_values(n);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int64_t i = 0; i < n; i++)
        values[i] = in->low + (in->high - in->low) * ((double)i + 0.5) / (double)n;
    for (int64_t i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t j = (int64_t)((state >> 33) % (uint64_t)(i + 1));
        double swap = values[i];
        values[i] = values[j];
        values[j] = swap;
    }
    for (int64_t i = 0; i < n; i++) {
        if (in->whole)
            values[i] = floor(in->low + (values[i] - in->low) * (in->high + 1 - in->low) / (in->high - in->low));
        else if (is_integer(dtype))
            values[i] = trunc(values[i] * 7);
    }
    for (int64_t i = 0; i < n; i++)
        values[i] = special(in, i % period, values[i]);
    round_values(dtype, values, n);
    return values;
}

/* ---- the fixture ------------------------------------------------------------------------------------------------- */

static void infer(fixture *f) {
    mxc_op_sig *sig = &f->sig;
    *sig = (mxc_op_sig){.op = f->op,
                        .params = mxc_op_params(f->op),
                        .n_in = f->n_in,
                        .n_out = f->n_out,
                        .n_aux = f->n_aux,
                        .in_shape = f->in_shape,
                        .out_shape = f->out_shape,
                        .aux_shape = f->aux_shape,
                        .in_type = f->in_type,
                        .out_type = f->out_type,
                        .aux_type = f->aux_type,
                        .context = mxc_cpu(0),
                        .parallelism = 1,
                        .is_train = (f->c->flags & CASE_TRAIN) != 0};
    for (int i = 0; i < CASE_SLOTS; i++) {
        f->out_shape[i].ndim = -1;
        f->in_type[i] = f->out_type[i] = f->aux_type[i] = MXC_DTYPE_UNKNOWN;
    }
    if (f->n_in)
        f->in_type[0] = f->dtype;
    assert_ok(mxc_op_infer_type(sig));
    for (int i = 0; i < f->n_in; i++)
        if (f->in_type[i] == MXC_DTYPE_UNKNOWN)
            f->in_type[i] = f->dtype;
    assert_ok(mxc_op_infer_type(sig));
    assert_ok(mxc_op_infer_shape(sig));
}

/* What is not known of outputs before the inputs have values. */
static void infer_from_data(fixture *f) {
    const mxc_op_def *def = mxc_op_get_def(f->op);
    mxc_tensor in[CASE_SLOTS];
    char name[256];
    if (def->infer_from_data) {
        for (int i = 0; i < f->n_in; i++)
            in[i] = (mxc_tensor){.data = encode(f->in[i], f->in_type[i], mxc_shape_size(&f->in_shape[i])),
                                 .dtype = f->in_type[i],
                                 .shape = f->in_shape[i]};
        assert_ok(def->infer_from_data(&f->sig, in));
        for (int i = 0; i < f->n_in; i++)
            free(in[i].data);
    }
    for (int i = 0; i < f->n_out; i++)
        if (!mxc_shape_known(&f->out_shape[i]) || f->out_type[i] == MXC_DTYPE_UNKNOWN)
            fail_msg("%s: output %d is not inferred", fixture_name(f, name, sizeof name), i);
}

static void prepare(fixture *f) {
    op_run run = {.params = f->c->params ? f->c->params : "", .n_in = f->n_in, .in_shape = f->in_shape, .in = f->in};
    f->c->prepare(&run);
    for (int i = 0; i < f->n_in; i++)
        round_values(f->in_type[i], f->in[i], mxc_shape_size(&f->in_shape[i]));
}

static void set_values(fixture *f, const case_input *inputs) {
    for (int i = 0; i < f->n_in; i++)
        f->in[i] = random_values(&inputs[i], f->in_type[i], (uint64_t)i + 7);
    if (f->c->prepare)
        prepare(f);
    for (int i = 0; i < f->n_aux; i++) {
        f->aux[i] = random_values(&inputs[f->n_in + i], f->aux_type[i], (uint64_t)i + 77);
        f->aux_after[i] = copy_values(f->aux[i], mxc_shape_size(&f->aux_shape[i]));
    }
    infer_from_data(f);
    for (int i = 0; i < f->n_out; i++) {
        case_input grad = {.shape = f->out_shape[i], .low = -1, .high = 1};
        f->out[i] = new_values(mxc_shape_size(&f->out_shape[i]));
        f->out_grad[i] = random_values(&grad, f->out_type[i], (uint64_t)i + 777);
    }
    for (int i = 0; i < f->n_in; i++)
        f->in_grad[i] = new_values(mxc_shape_size(&f->in_shape[i]));
}

void fixture_open(fixture *f, const op_case *c, mxc_dtype dtype) {
    case_params params;
    case_input inputs[CASE_SLOTS];
    int n;
    *f = (fixture){.c = c, .dtype = dtype};
    case_parse_params(c->params, &params);
    assert_ok(mxc_op_create(c->op, params.n, params.keys, params.values, &f->op));
    n = case_parse_inputs(c->in, inputs);
    f->n_in = mxc_op_n_args(f->op);
    f->n_out = mxc_op_n_outputs(f->op);
    f->n_aux = mxc_op_n_aux(f->op);
    f->n_visible = mxc_op_n_visible(f->op);
    if (n != f->n_in + f->n_aux || f->n_out > CASE_SLOTS)
        fail_msg("case %s(%s): has %d inputs, expected %d", c->op, c->params ? c->params : "", n, f->n_in + f->n_aux);
    for (int i = 0; i < n; i++)
        *(i < f->n_in ? &f->in_shape[i] : &f->aux_shape[i - f->n_in]) = inputs[i].shape;
    infer(f);
    set_values(f, inputs);
    if (c->reference)
        fixture_reference(f, f->in, f->aux_after, f->out);
}

void fixture_close(fixture *f) {
    for (int i = 0; i < CASE_SLOTS; i++) {
        free(f->in[i]);
        free(f->aux[i]);
        free(f->aux_after[i]);
        free(f->out[i]);
        free(f->out_grad[i]);
        free(f->in_grad[i]);
    }
    mxc_op_release(f->op);
}

void fixture_reference(const fixture *f, double *const *in, double *const *aux, double *const *out) {
    op_run run = {
        .params = f->c->params ? f->c->params : "",
        .is_train = f->sig.is_train,
        .n_in = f->n_in,
        .n_aux = f->n_aux,
        .n_out = f->n_out,
        .in_shape = f->in_shape,
        .aux_shape = f->aux_shape,
        .out_shape = f->out_shape,
        .in_type = f->in_type,
        .out_type = f->out_type,
        .in = in,
        .aux = aux,
        .out = out,
    };
    f->c->reference(&run);
}

const char *fixture_name(const fixture *f, char *out, size_t size) {
    snprintf(out, size, "%s(%s) of %s in %s", f->c->op, f->c->params ? f->c->params : "", f->c->in,
             mxc_dtype_name(f->dtype));
    return out;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

mxc_context case_context = {MXC_CPU, 0};

mxc_ndarray *array_of(const mxc_shape *shape, mxc_dtype dtype, const double *values) {
    mxc_ndarray *array;
    void *data = encode(values, dtype, mxc_shape_size(shape));
    assert_ok(mxc_ndarray_create(shape->ndim, shape->dim, dtype, case_context, &array));
    assert_ok(mxc_ndarray_set(array, data, mxc_ndarray_bytes(array)));
    free(data);
    return array;
}

double *values_of(mxc_ndarray *array) {
    int64_t n = mxc_ndarray_size(array);
    double *values = new_values(n);
    void *data = calloc((size_t)n + 1, 8);
    assert_non_null(data);
    assert_ok(mxc_ndarray_get(array, data, mxc_ndarray_bytes(array)));
    mxci_convert(mxc_ndarray_dtype(array), data, MXC_F64, values, n);
    free(data);
    return values;
}

/* The values in the middle of a block, which has so many of value edge before and behind them. */
static mxc_ndarray *array_within(const mxc_shape *shape, mxc_dtype dtype, const double *values, int64_t edges,
                                 double edge, mxc_ndarray **block) {
    int64_t n = mxc_shape_size(shape);
    double *padded = new_values(n + 2 * edges);
    mxc_shape flat = {.ndim = 1, .dim = {n + 2 * edges}};
    mxc_ndarray *rows, *view;
    for (int64_t i = 0; i < n + 2 * edges; i++)
        padded[i] = i >= edges && i < n + edges && values ? values[i - edges] : edge;
    *block = array_of(&flat, dtype, padded);
    assert_ok(mxc_ndarray_slice(*block, edges, edges + n, &rows));
    assert_ok(mxc_ndarray_reshape(rows, shape->ndim, shape->dim, &view));
    mxc_ndarray_release(rows);
    free(padded);
    return view;
}

mxc_ndarray *array_as_view(const mxc_shape *shape, mxc_dtype dtype, const double *values) {
    mxc_ndarray *block, *view = array_within(shape, dtype, values, 3, 99, &block);
    mxc_ndarray_release(block);
    return view;
}

static double guard_of(mxc_dtype dtype) {
    return dtype == MXC_BOOL ? 1 : 99;
}

static void close_device_guards(guarded *g, const char *name) {
    double *all = values_of(g->around), guard = guard_of(mxc_ndarray_dtype(g->around));
    int64_t n = mxc_ndarray_size(g->around);
    for (int64_t i = 0; i < CASE_GUARD; i++)
        if (all[i] != guard || all[n - 1 - i] != guard)
            fail_msg("%s: wrote outside its output", name);
    free(all);
    mxc_ndarray_release(g->array);
    mxc_ndarray_release(g->around);
}

guarded guarded_of(const mxc_shape *shape, mxc_dtype dtype, const double *values) {
    int64_t n = mxc_shape_size(shape);
    guarded g = {.bytes = (size_t)n * mxc_dtype_size(dtype)};
    if (case_context.device != MXC_CPU) {
        g.array = array_within(shape, dtype, values, CASE_GUARD, guard_of(dtype), &g.around);
        return g;
    }
    g.block = aligned_alloc(64, (g.bytes + 63) / 64 * 64 + 2 * CASE_GUARD);
    assert_non_null(g.block);
    memset(g.block, 0xa5, g.bytes + 2 * CASE_GUARD);
    if (values)
        mxci_convert(MXC_F64, values, dtype, g.block + CASE_GUARD, n);
    assert_ok(mxc_ndarray_wrap(shape->ndim, shape->dim, dtype, g.block + CASE_GUARD, NULL, NULL, &g.array));
    return g;
}

void guarded_close(guarded *g, const char *name) {
    if (g->around) {
        close_device_guards(g, name);
        return;
    }
    assert_ok(mxc_ndarray_wait_to_write(g->array));
    mxc_ndarray_release(g->array);
    for (size_t i = 0; i < CASE_GUARD; i++)
        if (g->block[i] != 0xa5 || g->block[CASE_GUARD + g->bytes + i] != 0xa5)
            fail_msg("%s: wrote outside its output", name);
    free(g->block);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static double dtype_tolerance(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F64:
        return 1e-9;
    case MXC_F32:
        return 2e-5;
    case MXC_F16:
        return 8e-3;
    case MXC_BF16:
        return 5e-2;
    default:
        return 0;
    }
}

static int is_near(double found, double expected, double tolerance) {
    if (isnan(expected) || isnan(found))
        return isnan(expected) && isnan(found);
    return found == expected || (isfinite(expected) && fabs(found - expected) <= tolerance * (1 + fabs(expected)));
}

void expect_near(const fixture *f, const char *what, int slot, const double *found, const double *expected,
                 const double *before, int64_t n, mxc_dtype dtype) {
    double tolerance =
        fmax(dtype_tolerance(dtype), dtype_tolerance(f->dtype)) * (f->c->tolerance > 0 ? f->c->tolerance : 1);
    char name[256];
    for (int64_t i = 0; i < n; i++) {
        double want = expected[i];
        if (is_integer(dtype)) { /* sums wrap */
            int64_t whole = (int64_t)want + (before ? (int64_t)before[i] : 0);
            char narrow[8];
            mxci_convert(MXC_I64, &whole, dtype, narrow, 1);
            mxci_convert(dtype, narrow, MXC_F64, &want, 1);
        } else if (before) {
            want += before[i];
        }
        if (dtype == MXC_BOOL)
            want = want != 0;
        if (!is_near(found[i], want, tolerance))
            fail_msg("%s: %s %d, element %lld: found %.17g, expected %.17g", fixture_name(f, name, sizeof name), what,
                     slot, (long long)i, found[i], want);
    }
}
