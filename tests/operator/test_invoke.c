/* SPDX-License-Identifier: Apache-2.0 */
/* Calling operators on arrays: an operator registered from outside, and what calls are refused for, in which words. */
#include "support.h"

#include <math.h>

#include <mxc/executor.h>

#include "base/sys.h"

/* ---- an operator of the user's own: out = data scale + offset, scale (1,); counts its training runs in aux ------- */

typedef struct affine_params {
    double offset;
} affine_params;

static const mxc_param affine_schema[] = {
    {MXC_PARAM_FIELD(affine_params, offset), .name = "offset", .type = MXC_PARAM_FLOAT, .initial = "0", .doc = "added"},
    MXC_PARAM_END,
};

static int states; /* made and not destroyed */

static mxc_status affine_infer(mxc_op_sig *sig) {
    mxc_shape one = {.ndim = 1, .dim = {1}};
    MXC_TRY(mxc_sig_set_shape(sig, 1, &one));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(0), &one));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &sig->in_shape[0]));
    return mxc_sig_set_shape(sig, 0, &sig->out_shape[0]);
}

static size_t affine_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? (size_t)mxc_shape_size(&sig->in_shape[0]) * sizeof(float) : 0;
}

static mxc_status affine_open(const mxc_op_sig *sig, void **out) {
    (void)sig;
    *out = &states;
    states++;
    return MXC_OK;
}

static void affine_close(void *state) {
    (*(int *)state)--;
}

static void put(float *to, mxc_req req, double value) {
    if (req != MXC_REQ_NULL)
        *to = (float)(req == MXC_REQ_ADD ? *to + value : value);
}

static mxc_status affine_forward(const mxc_op_call *call) {
    const float *x = call->in[0].data, scale = *(const float *)call->in[1].data;
    if (call->state != &states)
        return MXC_FAIL(MXC_EUSER, "t_affine: no state");
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        put((float *)call->out[0].data + i, call->req[0], x[i] * scale + ((const affine_params *)call->params)->offset);
    *(float *)call->aux[0].data += (float)call->is_train;
    return MXC_OK;
}

/* Through scratch, since a gradient may take out_grad's memory. */
static mxc_status affine_backward(const mxc_op_call *call) {
    int64_t n = mxc_shape_size(&call->in[0].shape);
    const float *x = call->in[0].data, *g = memcpy(call->temp, call->out_grad[0].data, (size_t)n * sizeof(float));
    double scale = *(const float *)call->in[1].data, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += g[i] * x[i];
        if (call->req[0] != MXC_REQ_NULL)
            put((float *)call->in_grad[0].data + i, call->req[0], g[i] * scale);
    }
    if (call->req[1] != MXC_REQ_NULL)
        put(call->in_grad[1].data, call->req[1], sum);
    return MXC_OK;
}

static const mxc_op_def affine = {
    .size = sizeof affine,
    .name = "t_affine",
    .doc = "out = data scale + offset",
    .params = affine_schema,
    .param_size = sizeof(affine_params),
    .args = "data,scale",
    .aux = "runs",
    .infer_shape = affine_infer,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .needs = {.out_grad = 1, .in = 3},
    .temp_bytes = affine_temp,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .state_create = affine_open,
    .state_destroy = affine_close,
    .forward = {[MXC_CPU] = affine_forward},
    .backward = {[MXC_CPU] = affine_backward},
};

static mxc_status fail_run(const mxc_op_call *call) {
    return MXC_FAIL(MXC_EUSER, "t_broken: %d tries", (int)mxc_shape_size(&call->in[0].shape));
}

static const mxc_op_def broken = {
    .size = sizeof broken,
    .name = "t_broken",
    .doc = "fails",
    .forward = {[MXC_CPU] = fail_run},
};

static mxc_ndarray *vector_of(int64_t n, const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, values, &array));
    return array;
}

static void expect_values(mxc_ndarray *array, int64_t n, const float *expected) {
    float found[8];
    assert_ok(mxc_ndarray_get(array, found, (size_t)n * sizeof *found));
    for (int64_t i = 0; i < n; i++)
        if (found[i] != expected[i])
            fail_msg("element %d is %g, expected %g", (int)i, (double)found[i], (double)expected[i]);
}

static void release_all(int n, mxc_ndarray **arrays) {
    for (int i = 0; i < n; i++)
        mxc_ndarray_release(arrays[i]);
}

static void test_own_operator_on_arrays(void **state) {
    static const char *const key = "offset", *const value = "1";
    mxc_ndarray *in[3] = {vector_of(2, (float[]){3, 4}), vector_of(1, (float[]){2}), vector_of(1, (float[]){0})};
    mxc_ndarray *out[1] = {NULL}, *grads[2] = {vector_of(2, (float[]){100, 100}), vector_of(1, (float[]){100})};
    mxc_ndarray *head = vector_of(2, (float[]){1, 10});
    mxc_req reqs[2] = {MXC_REQ_ADD, MXC_REQ_WRITE};
    mxc_op *op;
    (void)state;
    assert_ok(mxc_op_create("t_affine", 1, &key, &value, &op));
    assert_ok(mxc_op_invoke(op, 3, in, 1, out, NULL, 1));
    expect_values(out[0], 2, (float[]){7, 9});
    expect_values(in[2], 1, (float[]){1});
    assert_ok(mxc_op_invoke_backward(op, &head, in, out, grads, reqs));
    expect_values(grads[0], 2, (float[]){102, 120});
    expect_values(grads[1], 1, (float[]){43});
    mxc_ndarray_release(out[0]);
    out[0] = in[0]; /* in place */
    assert_ok(mxc_op_invoke(op, 3, in, 1, out, NULL, 0));
    expect_values(in[0], 2, (float[]){7, 9});
    expect_values(in[2], 1, (float[]){1});
    assert_int_equal(states, 0);
    release_all(3, in);
    release_all(2, grads);
    mxc_ndarray_release(head);
    mxc_op_release(op);
}

static void test_own_operator_in_a_symbol(void **state) {
    static const char *const key = "offset", *const value = "1";
    mxc_symbol *symbol;
    mxc_executor *executor;
    mxc_names names;
    mxc_ndarray *args[2] = {vector_of(2, (float[]){3, 4}), vector_of(1, (float[]){2})},
                *runs = vector_of(1, (float[]){0});
    mxc_ndarray *grads[2] = {vector_of(2, (float[]){0, 0}), vector_of(1, (float[]){0})},
                *head = vector_of(2, (float[]){1, 10});
    (void)state;
    assert_ok(mxc_symbol_op("t_affine", "mine", 1, &key, &value, 0, NULL, NULL, &symbol));
    assert_ok(mxc_symbol_list_aux(symbol, &names));
    assert_string_equal(names.items[0], "mine_runs");
    mxc_names_release(&names);
    assert_ok(mxc_executor_bind(symbol, NULL, args, grads, NULL, &runs, &executor));
    assert_int_equal(states, 1);
    assert_ok(mxc_executor_forward(executor, 1));
    assert_ok(mxc_executor_forward(executor, 1));
    expect_values(mxc_executor_output(executor, 0), 2, (float[]){7, 9});
    assert_ok(mxc_executor_backward(executor, 1, &head));
    expect_values(grads[0], 2, (float[]){2, 20});
    expect_values(grads[1], 1, (float[]){43});
    expect_values(runs, 1, (float[]){2});
    mxc_executor_destroy(executor);
    assert_int_equal(states, 0);
    mxc_symbol_release(symbol);
    release_all(2, args);
    release_all(2, grads);
    mxc_ndarray_release(runs);
    mxc_ndarray_release(head);
}

/* The failure of a run shows at the wait, with the operator's words. */
static void test_own_failure(void **state) {
    mxc_ndarray *x = vector_of(3, (float[]){1, 2, 3}), *out[1] = {NULL};
    float found[3];
    (void)state;
    assert_ok(mxc_invoke("t_broken", 1, &x, 0, NULL, NULL, 1, out));
    assert_fails(mxc_ndarray_get(out[0], found, sizeof found), MXC_EUSER, "t_broken: 3 tries");
    mxc_ndarray_release(out[0]);
    mxc_ndarray_release(x);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* A fully connected layer of 3 on data (2,5), one thing of which is wrong. */
typedef struct layer {
    mxc_ndarray *in[3], *out[1];
    mxc_op *op;
} layer;

static mxc_ndarray *zeros(int ndim, int64_t a, int64_t b, mxc_dtype dtype) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(ndim, (int64_t[]){a, b}, dtype, mxc_cpu(0), &array));
    assert_ok(mxc_ndarray_fill(array, 0));
    return array;
}

static void open_layer(layer *l) {
    static const char *const key = "num_hidden", *const value = "3";
    l->in[0] = zeros(2, 2, 5, MXC_F32);
    l->in[1] = zeros(2, 3, 5, MXC_F32);
    l->in[2] = zeros(1, 3, 0, MXC_F32);
    l->out[0] = NULL;
    assert_ok(mxc_op_create("FullyConnected", 1, &key, &value, &l->op));
}

static void close_layer(layer *l) {
    release_all(3, l->in);
    mxc_ndarray_release(l->out[0]);
    mxc_op_release(l->op);
}

static void replace(mxc_ndarray **array, mxc_ndarray *other) {
    mxc_ndarray_release(*array);
    *array = other;
}

static void expect_refusal(layer *l, int n_in, int n_out, const mxc_req *req, mxc_status status, const char *message) {
    mxc_ndarray *given = l->out[0];
    assert_fails(mxc_op_invoke(l->op, n_in, l->in, n_out, l->out, req, 0), status, message);
    assert_non_null(strstr(mxc_last_error(), "FullyConnected: "));
    assert_ptr_equal(l->out[0], given);
    close_layer(l);
    open_layer(l);
}

static void test_wrong_inputs(void **state) {
    layer l;
    (void)state;
    open_layer(&l);
    expect_refusal(&l, 2, 1, NULL, MXC_EINVAL, "expected 3 arrays (3 arguments, 0 auxiliary states), found 2");
    replace(&l.in[1], NULL);
    expect_refusal(&l, 3, 1, NULL, MXC_EINVAL, "argument 'weight' is NULL");
    replace(&l.in[1], zeros(2, 4, 5, MXC_F32));
    expect_refusal(&l, 3, 1, NULL, MXC_ESHAPE, "argument 'weight': expected shape (3,5), found (4,5)");
    replace(&l.in[2], zeros(1, 3, 0, MXC_F64));
    expect_refusal(&l, 3, 1, NULL, MXC_EDTYPE, "argument 'bias': expected dtype float32, found float64");
    replace(&l.in[0], zeros(2, 2, 5, MXC_U8));
    expect_refusal(&l, 3, 1, NULL, MXC_EDTYPE, "uint8");
    close_layer(&l);
}

static void test_wrong_outputs(void **state) {
    mxc_req add = MXC_REQ_ADD, none = (mxc_req)9;
    layer l;
    (void)state;
    open_layer(&l);
    expect_refusal(&l, 3, 2, NULL, MXC_EINVAL, "expected 1 outputs, found 2");
    expect_refusal(&l, 3, 1, &add, MXC_EINVAL, "output 'output': request add, but no array to add to");
    expect_refusal(&l, 3, 1, &none, MXC_EINVAL, "request 9 of output 0 is none");
    l.out[0] = zeros(2, 3, 2, MXC_F32);
    expect_refusal(&l, 3, 1, NULL, MXC_ESHAPE, "output 'output': expected shape (2,3), found (3,2)");
    l.out[0] = zeros(2, 2, 3, MXC_F64);
    expect_refusal(&l, 3, 1, NULL, MXC_EDTYPE, "output 'output': expected dtype float32, found float64");
    l.out[0] = mxc_ndarray_retain(l.in[0]);
    replace(&l.in[0], zeros(2, 2, 3, MXC_F32));
    replace(&l.in[1], zeros(2, 3, 3, MXC_F32));
    replace(&l.out[0], mxc_ndarray_retain(l.in[0]));
    expect_refusal(&l, 3, 1, NULL, MXC_EINVAL,
                   "output 'output' shares memory with argument 'data', which this operator cannot do in place");
    close_layer(&l);
}

/* A view that overlaps half of an output is refused even where the operator works in place. */
static void test_overlap(void **state) {
    mxc_ndarray *block = zeros(1, 6, 0, MXC_F32), *low, *high;
    (void)state;
    assert_ok(mxc_ndarray_slice(block, 0, 4, &low));
    assert_ok(mxc_ndarray_slice(block, 2, 6, &high));
    assert_fails(mxc_invoke_into("relu", 1, &low, 0, NULL, NULL, 1, &high), MXC_EINVAL,
                 "shares memory with argument 'data'");
    mxc_ndarray_release(low);
    mxc_ndarray_release(high);
    mxc_ndarray_release(block);
}

static void test_wrong_backward(void **state) {
    mxc_ndarray *grads[3] = {zeros(2, 2, 5, MXC_F32), zeros(2, 3, 5, MXC_F32), NULL}, *head = zeros(2, 2, 3, MXC_F32);
    mxc_ndarray *short_head = zeros(2, 2, 2, MXC_F32), *none = NULL, *x = zeros(1, 2, 0, MXC_F32);
    mxc_req all[3] = {MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_WRITE};
    mxc_op *step;
    layer l;
    (void)state;
    open_layer(&l);
    assert_fails(mxc_op_invoke_backward(l.op, &head, l.in, NULL, grads, all), MXC_EINVAL, "is asked for but NULL");
    assert_fails(mxc_op_invoke_backward(l.op, &none, l.in, NULL, grads, NULL), MXC_EINVAL,
                 "FullyConnected: backward needs");
    assert_fails(mxc_op_invoke_backward(l.op, &short_head, l.in, NULL, grads, NULL), MXC_ESHAPE, "FullyConnected");
    grads[2] = zeros(1, 4, 0, MXC_F32);
    assert_fails(mxc_op_invoke_backward(l.op, &head, l.in, NULL, grads, NULL), MXC_ESHAPE,
                 "expected shape (3,), found (4,)");
    assert_ok(mxc_op_create("t_broken", 0, NULL, NULL, &step));
    assert_fails(mxc_op_invoke_backward(step, &x, &x, &x, &none, NULL), MXC_EUNSUPPORTED, "t_broken: has no gradient");
    mxc_op_release(step);
    close_layer(&l);
    release_all(3, grads);
    mxc_ndarray_release(head);
    mxc_ndarray_release(short_head);
    mxc_ndarray_release(x);
}

/* ---- memory and threads ------------------------------------------------------------------------------------------ */

/* Each allocation of a call fails in turn: an error, no output, no leak. */
static void test_no_memory(void **state) {
    mxc_engine *engine;
    int64_t live;
    mxc_status status;
    layer l;
    int n = 0;
    (void)state;
    open_layer(&l);
    assert_ok(mxc_op_invoke(l.op, 3, l.in, 1, l.out, NULL, 0)); /* the operator keeps the block of its last call */
    mxc_ndarray_release(l.out[0]);
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine)); /* raises once more what an earlier test let fail */
    live = mxci_alloc_live();
    do {
        l.out[0] = NULL;
        mxci_test_fail_alloc(++n, 0);
        status = mxc_op_invoke(l.op, 3, l.in, 1, l.out, NULL, 0);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK) {
            assert_int_equal(status, MXC_ENOMEM);
            assert_null(l.out[0]);
            assert_true(mxci_alloc_live() <= live);
        }
    } while (status != MXC_OK && n < 100);
    assert_true(n > 2);
    assert_ok(mxc_ndarray_wait_to_read(l.out[0]));
    close_layer(&l);
}

/* One operator, called again before its last run is over. */
static void test_calls_overlap(void **state) {
    enum { CALLS = 200 };
    int64_t dims[] = {4096};
    mxc_ndarray *x, *out[CALLS] = {NULL};
    mxc_op *op;
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_op_create("_plus_scalar", 1, (const char *[]){"scalar"}, (const char *[]){"1"}, &op));
    assert_ok(mxc_ndarray_fill(x, 0));
    for (int i = 0; i < CALLS; i++)
        assert_ok(mxc_op_invoke(op, 1, i ? &out[i - 1] : &x, 1, &out[i], NULL, 0));
    mxc_op_release(op);
    for (int i = 0; i < CALLS; i++) {
        float *values;
        assert_ok(mxc_ndarray_data(out[i], (void **)&values));
        assert_true(values[0] == (float)(i + 1) && values[4095] == (float)(i + 1));
    }
    release_all(CALLS, out);
    mxc_ndarray_release(x);
}

/* What inference found is used again, but not where anything is different. */
static void test_calls_differ(void **state) {
    mxc_ndarray *two = vector_of(2, (float[]){1, 2}), *three = vector_of(3, (float[]){1, 2, 3}), *in[2], *out, *wide;
    mxc_ndarray *matrix = zeros(2, 2, 3, MXC_F32);
    mxc_op *op;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_F64, (double[]){1, 2, 3}, &wide));
    assert_ok(mxc_op_create("broadcast_add", 0, NULL, NULL, &op));
    for (int i = 0; i < 3; i++) {
        assert_ok(mxc_op_apply(op, two, two, &out));
        expect_values(out, 2, (float[]){2, 4});
        mxc_ndarray_release(out);
        assert_fails(mxc_op_apply(op, two, three, &out), MXC_ESHAPE, "broadcast_add: ");
        assert_null(out);
        assert_fails(mxc_op_apply(op, three, wide, &out), MXC_EDTYPE, "expected dtype float32, found float64");
        assert_fails(mxc_op_apply(op, three, NULL, &out), MXC_EINVAL, "expected 2 arrays");
        assert_ok(mxc_op_apply(op, matrix, three, &out));
        assert_int_equal(mxc_ndarray_shape(out)->ndim, 2);
        expect_values(out, 6, (float[]){1, 2, 3, 1, 2, 3});
        mxc_ndarray_release(out);
        assert_ok(mxc_op_apply(op, wide, wide, &out));
        assert_int_equal(mxc_ndarray_dtype(out), MXC_F64);
        in[0] = in[1] = wide;
        assert_ok(mxc_op_invoke(op, 2, in, 1, &out, NULL, 0)); /* to an array that is given */
        in[1] = two;
        assert_fails(mxc_op_invoke(op, 2, in, 1, &out, NULL, 0), MXC_EDTYPE, "expected dtype");
        in[0] = two;
        assert_fails(mxc_op_invoke(op, 2, in, 1, &out, NULL, 0), MXC_ESHAPE, "expected shape (2,), found (3,)");
        mxc_ndarray_release(out);
    }
    mxc_op_release(op);
    assert_ok(mxc_op_create("split", 2, (const char *[]){"num_outputs", "axis"}, (const char *[]){"2", "0"}, &op));
    assert_fails(mxc_op_apply(op, two, NULL, &out), MXC_EINVAL, "expected 2 outputs, found 1");
    mxc_op_release(op);
    release_all(4, (mxc_ndarray *[]){two, three, wide, matrix});
}

/* With is_int=False integers are converted to float64 and not the scalar to integers. */
static void test_scalar_of_integers(void **state) {
    static const char *const keys[] = {"scalar", "is_int"};
    static const int32_t values[] = {1, 2, -3};
    const char *given[] = {"1.5", "False"};
    mxc_ndarray *x, *out[2] = {NULL};
    double wide[3];
    int32_t narrow[3];
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_I32, values, &x));
    assert_ok(mxc_invoke("_plus_scalar", 1, &x, 2, keys, given, 1, &out[0]));
    assert_int_equal(mxc_ndarray_dtype(out[0]), MXC_F64);
    assert_ok(mxc_ndarray_get(out[0], wide, sizeof wide));
    assert_true(wide[0] == 2.5 && wide[1] == 3.5 && wide[2] == -1.5);
    given[1] = "True";
    assert_ok(mxc_invoke("_plus_scalar", 1, &x, 2, keys, given, 1, &out[1]));
    assert_int_equal(mxc_ndarray_dtype(out[1]), MXC_I32);
    assert_ok(mxc_ndarray_get(out[1], narrow, sizeof narrow));
    assert_true(narrow[0] == 2 && narrow[1] == 3 && narrow[2] == -2);
    release_all(2, out);
    mxc_ndarray_release(x);
}

/* Weight i is i + 1, its gradient 1, its momentum -i: w, g, mom of each weight, then those of the next. */
static void test_inputs_in_groups(void **state) {
    enum { N = MXC_FLOATS_MAX };
    static const char *const keys[] = {"lrs", "wds", "num_weights", "momentum"};
    char lrs[16 * N] = "(", wds[16 * N] = "(", name[32];
    const char *values[] = {lrs, wds, "64", "0.5"};
    const int preloaded[] = {0, 1, 4, 2, 3};
    mxc_ndarray *in[3 * N], *out[N];
    mxc_op *op;
    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(lrs + strlen(lrs), 16, "%g,", i / 64.);
        strcat(wds, "0,");
        for (int k = 0; k < 3; k++) {
            const float value = k == 0 ? (float)i + 1 : k == 1 ? 1 : -(float)i;
            assert_ok(mxc_ndarray_from_data(1, (int64_t[]){1}, MXC_F32, &value, &in[3 * i + k]));
        }
        out[i] = in[3 * i];
    }
    strcat(lrs, ")");
    strcat(wds, ")");
    assert_ok(mxc_op_create("multi_sgd_mom_update", 4, keys, values, &op));
    assert_string_equal(mxc_op_arg_name(op, 127, name, sizeof name), "grad_63");
    assert_string_equal(mxc_op_aux_name(op, 63, name, sizeof name), "mom_63");
    assert_int_equal(mxc_op_input_index(op, 0), 0);
    assert_int_equal(mxc_op_input_index(op, 2), 2 * N);
    assert_int_equal(mxc_op_input_index(op, 3), 2);
    assert_int_equal(mxc_op_input_index(op, 3 * N - 1), 3 * N - 1);
    assert_ok(mxc_op_invoke(op, 3 * N, in, N, out, NULL, 0));
    for (int i = 0; i < N; i++) {
        const float step = -0.5f * (float)i - (float)i / 64;
        float found[2];
        assert_ok(mxc_ndarray_get(in[3 * i], &found[0], sizeof found[0]));
        assert_ok(mxc_ndarray_get(in[3 * i + 2], &found[1], sizeof found[1]));
        assert_true(fabsf(found[0] - (float)i - 1 - step) < 1e-5f && fabsf(found[1] - step) < 1e-5f);
    }
    mxc_op_release(op);
    release_all(3 * N, in);
    assert_ok(mxc_op_create("preloaded_multi_sgd_mom_update", 0, NULL, NULL, &op)); /* of one weight */
    for (int i = 0; i < 5; i++)
        assert_int_equal(mxc_op_input_index(op, i), preloaded[i]);
    assert_string_equal(mxc_op_arg_name(op, 2, name, sizeof name), "lrs");
    mxc_op_release(op);
    assert_int_equal(mxc_op_input_index(NULL, 3), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_operator_on_arrays),
        cmocka_unit_test(test_own_operator_in_a_symbol),
        cmocka_unit_test(test_own_failure),
        cmocka_unit_test(test_wrong_inputs),
        cmocka_unit_test(test_wrong_outputs),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_wrong_backward),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_scalar_of_integers),
        cmocka_unit_test(test_calls_overlap),
        cmocka_unit_test(test_calls_differ),
        cmocka_unit_test(test_inputs_in_groups),
    };
    if (mxc_op_register(&affine) != MXC_OK || mxc_op_register(&broken) != MXC_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
