/* SPDX-License-Identifier: Apache-2.0 */
/* Operators, gradients and the front end's own operators through MXNet's interface. */

#include <math.h>

#include <mxc/mxc.h>

#include "functions.h"
#include "front.h"

static OpHandle op(const char *name) {
    OpHandle handle;
    assert_mx(NNGetOpHandle(name, &handle));
    return handle;
}

/* A call with one parameter (or none: key NULL), which makes one output. */
static NDArrayHandle call(const char *name, int n, NDArrayHandle const *in, const char *key, const char *value) {
    NDArrayHandle *out = NULL;
    const int *stypes;
    int n_out = 0;
    assert_mx(MXImperativeInvokeEx(op(name), n, in, &n_out, &out, key != NULL, &key, &value, &stypes));
    assert_int_equal(n_out, 1);
    assert_int_equal(stypes[0], 0);
    return out[0];
}

static void test_names_and_descriptions(void **state) {
    (void)state;
    const char **names, **args, **types, **docs, *name, *doc, *key, *type;
    uint32_t n, n_args;
    OpHandle none;
    assert_mx(MXListAllOpNames(&n, &names));
    assert_true(n > 600);
    for (uint32_t i = 0; i < n; i++) {
        assert_mx(MXSymbolGetAtomicSymbolInfo(op(names[i]), &name, &doc, &n_args, &args, &types, &docs, &key, &type));
        assert_string_equal(name, names[i]);
        for (uint32_t k = 0; k < n_args; k++) /* these become arguments of functions in Python */
            assert_true(args[k][0] && !strpbrk(args[k], ".[]() ,"));
    }
    assert_mx(MXSymbolGetAtomicSymbolInfo(op("Concat"), &name, &doc, &n_args, &args, &types, &docs, &key, &type));
    assert_string_equal(types[0], "NDArray-or-Symbol[]");
    assert_string_equal(key, "num_args");
    assert_mx(MXSymbolGetAtomicSymbolInfo(op("Pooling"), &name, &doc, &n_args, &args, &types, &docs, &key, &type));
    assert_string_equal(args[1], "kernel"); /* in MXNet's order, as calls give them by place */
    assert_mx_fails(NNGetOpHandle("absent", &none), "absent");
}

/* Functions of the front end name the inputs as they are described. */
static void test_inputs_have_the_names_described(void **state) {
    (void)state;
    const char *const names[] = {"_contrib_Proposal", "_contrib_MultiBoxDetection",
                                 "_contrib_quantize", "_contrib_dequantize",
                                 "cast_storage",      "_sparse_cast_storage"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name, *doc, **args, **types, **docs, *key, *type;
        SymbolHandle inputs[8], symbol;
        uint32_t n_args, n = 0;
        assert_mx(MXSymbolGetAtomicSymbolInfo(op(names[i]), &name, &doc, &n_args, &args, &types, &docs, &key, &type));
        while (n < n_args && n < 8 && !strcmp(types[n], "NDArray-or-Symbol")) {
            inputs[n] = front_variable(args[n]);
            n++;
        }
        assert_true(n > 0);
        assert_mx(MXSymbolCreateAtomicSymbol(op(names[i]), 0, NULL, NULL, &symbol));
        assert_mx(MXSymbolCompose(symbol, "it", n, args, inputs));
        MXSymbolFree(symbol);
        for (uint32_t k = 0; k < n; k++)
            MXSymbolFree(inputs[k]);
    }
}

/* Crop counts its inputs in a parameter, though it has two at most. */
static void test_counted_inputs(void **state) {
    (void)state;
    const char *name, *doc, **args, **types, **docs, *key, *type;
    uint32_t n;
    assert_mx(MXSymbolGetAtomicSymbolInfo(op("Crop"), &name, &doc, &n, &args, &types, &docs, &key, &type));
    assert_string_equal(key, "num_args");
    assert_mx(MXSymbolGetAtomicSymbolInfo(op("Custom"), &name, &doc, &n, &args, &types, &docs, &key, &type));
    assert_string_equal(key, "");
}

static void test_calls(void **state) {
    (void)state;
    NDArrayHandle in[] = {front_filled(2, 2, 1), front_filled(2, 2, 2)};
    NDArrayHandle sum = call("broadcast_add", 2, in, NULL, NULL), both = call("Concat", 2, in, "dim", "0");
    assert_float_equal(front_at(sum, 3), 3, 0);
    assert_float_equal(front_at(both, 7), 2, 0);
    NDArrayHandle infinite = call("_mul_scalar", 1, in, "scalar", "inf");
    NDArrayHandle least = call("_maximum_scalar", 1, in, "scalar", "-inf"),
                  nan = call("_plus_scalar", 1, in, "scalar", "nan");
    assert_true(isinf(front_at(infinite, 0)) && isnan(front_at(nan, 0)));
    assert_float_equal(front_at(least, 0), 1, 0);
    /* to an array that is given, also where it is an input; and to a handle that has none yet */
    NDArrayHandle out[] = {in[0]}, *outputs = out;
    int n_out = 1;
    assert_mx(MXImperativeInvoke(op("broadcast_add"), 2, in, &n_out, &outputs, 0, NULL, NULL));
    assert_float_equal(front_at(in[0], 0), 3, 0);
    assert_mx(MXImperativeInvoke(op("dot"), 2, in, &n_out, &outputs, 0, NULL, NULL)); /* not in place */
    assert_float_equal(front_at(in[0], 0), 12, 0);
    assert_mx(MXNDArrayCreateNone(&out[0]));
    assert_mx(MXImperativeInvoke(op("negative"), 1, in, &n_out, &outputs, 0, NULL, NULL));
    assert_float_equal(front_at(out[0], 0), -12, 0);
    NDArrayHandle all[] = {in[0], in[1], sum, both, infinite, least, nan, out[0]};
    for (int i = 0; i < 8; i++)
        MXNDArrayFree(all[i]);
}

/* Weights of layers on several CPU contexts are updated by one call: weight -= lr grad. */
static void test_update_of_weights_on_several_contexts(void **state) {
    (void)state;
    const char *const keys[] = {"lrs", "wds", "num_weights"}, *const values[] = {"(0.5,0.25)", "(0,0)", "2"};
    const float ones[2] = {1, 1}, grads[2] = {2, 4};
    const uint32_t shape = 2;
    NDArrayHandle in[4], out[2], *outputs = out;
    int n_out = 2, type, id;
    for (int i = 0; i < 4; i++) {
        assert_mx(MXNDArrayCreateEx(&shape, 1, 1, i / 2, 0, 0, &in[i]));
        assert_mx(MXNDArraySyncCopyFromCPU(in[i], i % 2 ? grads : ones, 2));
    }
    out[0] = in[0];
    out[1] = in[2];
    assert_mx(MXImperativeInvoke(op("multi_sgd_update"), 4, in, &n_out, &outputs, 3, keys, values));
    assert_float_equal(front_at(in[0], 1), -1, 0);
    assert_float_equal(front_at(in[2], 1), 0, 0);
    assert_float_equal(front_at(in[3], 1), 4, 0);
    assert_mx(MXNDArrayGetContext(in[2], &type, &id));
    assert_int_equal(id, 1);
    out[1] = in[0];
    out[0] = front_filled(1, 2, 0);
    assert_mx_fails(MXImperativeInvoke(op("multi_sgd_update"), 4, in, &n_out, &outputs, 3, keys, values), "output 0");
    MXNDArrayFree(out[0]);
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(in[i]);
}

static void test_refusals_have_reasons(void **state) {
    (void)state;
    NDArrayHandle in = front_filled(1, 2, 1), *out = NULL;
    const char *key = "axis", *value = "5";
    int n_out = 0;
    assert_mx_fails(MXImperativeInvoke(op("_sparse_retain"), 1, &in, &n_out, &out, 0, NULL, NULL), "sparse");
    assert_mx_fails(MXImperativeInvoke(op("sum"), 1, &in, &n_out, &out, 1, &key, &value), "axis 5");
    assert_mx_fails(MXImperativeInvoke(op("FullyConnected"), 1, &in, &n_out, &out, 0, NULL, NULL), "num_hidden");
    assert_mx_fails(MXImperativeInvoke(NULL, 1, &in, &n_out, &out, 0, NULL, NULL), "NULL");
    MXNDArrayFree(in);
}

/* The mean of integers has no fraction. */
static void test_mean_of_integers(void **state) {
    (void)state;
    const uint32_t dims[] = {3};
    const int32_t values[] = {1, 2, 5};
    NDArrayHandle in, mean;
    int32_t found;
    assert_mx(MXNDArrayCreateEx(dims, 1, 1, 0, 0, MXC_I32, &in));
    assert_mx(MXNDArraySyncCopyFromCPU(in, values, 3));
    mean = call("mean", 1, &in, NULL, NULL);
    assert_mx(MXNDArraySyncCopyToCPU(mean, &found, 1));
    assert_int_equal(found, 2);
    MXNDArrayFree(in);
    MXNDArrayFree(mean);
}

static void test_older_functions(void **state) {
    (void)state;
    FunctionHandle function, *list;
    NDArrayHandle array = front_filled(2, 2, 0), target;
    const float seven = 7;
    uint32_t n, reads, numbers, writes;
    int mask;
    assert_mx(MXListFunctions(&n, &list));
    assert_true(n >= 6);
    assert_mx(MXGetFunction("_set_value", &function));
    assert_mx(MXFuncDescribe(function, &reads, &numbers, &writes, &mask));
    assert_int_equal(numbers, 1);
    assert_mx(MXFuncInvoke(function, NULL, &seven, &array));
    assert_float_equal(front_at(array, 3), 7, 0);
    assert_mx(MXNDArrayCreateNone(&target));
    assert_mx(MXGetFunction("_copyto", &function));
    assert_mx(MXFuncInvoke(function, &array, NULL, &target));
    assert_float_equal(front_at(target, 0), 7, 0);
    assert_mx_fails(MXGetFunction("absent", &function), "absent");
    MXNDArrayFree(array);
    MXNDArrayFree(target);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static void test_gradients(void **state) {
    (void)state;
    NDArrayHandle x = front_filled(1, 2, 3), grad = front_filled(1, 2, 0), y, in[2] = {x, x}, *grads, found;
    const uint32_t write = 1;
    int before, fresh, *stypes;
    bool is_recording;
    assert_mx(MXAutogradMarkVariables(1, &x, &write, &grad));
    assert_mx(MXAutogradSetIsRecording(1, &before));
    assert_mx(MXAutogradIsRecording(&is_recording));
    assert_true(is_recording);
    y = call("broadcast_mul", 2, in, NULL, NULL);
    assert_mx(MXAutogradSetIsRecording(0, &before));
    assert_mx(MXAutogradBackward(1, &y, NULL, 1));
    assert_float_equal(front_at(grad, 1), 6, 0);
    assert_mx(MXNDArrayGetGradState(x, &fresh));
    assert_int_equal(fresh, 1);
    assert_mx(MXNDArrayGetGrad(x, &found));
    assert_float_equal(front_at(found, 0), 6, 0);
    MXNDArrayFree(found);
    assert_mx(MXAutogradBackwardEx(1, &y, NULL, 1, &x, 0, 0, 1, &grads, &stypes));
    assert_float_equal(front_at(grads[0], 0), 6, 0);
    MXNDArrayFree(grads[0]);
    assert_mx_fails(MXAutogradBackward(1, &y, NULL, 0), "");
    assert_mx(MXNDArrayDetach(y, &found));
    assert_mx_fails(MXAutogradBackward(1, &found, NULL, 0), "recorded");
    NDArrayHandle all[] = {x, grad, y, found};
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(all[i]);
}

static int n_shown;

/* Reads the array, which calls the library from within a call, and frees the handle. */
static void show(const char *name, const char *op, NDArrayHandle array) {
    const int64_t *shape;
    int ndim;
    assert_non_null(strchr(name, '_'));
    assert_true(*op != 0);
    assert_mx(MXNDArrayGetShapeEx64(array, &ndim, &shape));
    assert_mx(MXNDArrayWaitToRead(array));
    assert_mx(MXNDArrayFree(array));
    n_shown++;
}

static void test_cached_operator(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    CachedOpHandle cached;
    NDArrayHandle *out = NULL;
    const char *const keys[] = {"static_alloc"}, *const values[] = {"True"};
    const uint32_t dims[] = {2};
    const float zeros[] = {0, 0};
    NDArrayHandle in[] = {front_filled(1, 4, 1), front_filled(2, 4, 1), NULL, NULL};
    int n_out = 0;
    for (int i = 2; i < 4; i++) {
        assert_mx(MXNDArrayCreateEx(dims, 1, 1, 0, 0, 0, &in[i]));
        assert_mx(MXNDArraySyncCopyFromCPU(in[i], zeros, 2));
    }
    assert_mx(MXCreateCachedOpEx(net, 1, keys, values, &cached));
    assert_mx_fails(MXInvokeCachedOp(cached, 1, in, &n_out, &out), "takes 4 inputs, found 1");
    MXNDArrayFree(in[3]);
    assert_mx(MXNDArraySlice(in[2], 0, 1, &in[3])); /* one label */
    for (int i = 0; i < 3; i++) {
        out = NULL;
        assert_mx(MXInvokeCachedOp(cached, 4, in, &n_out, &out));
        assert_int_equal(n_out, 1);
        NDArrayHandle made = out[0];
        assert_float_equal(front_at(made, 1), 0.5, 1e-6);
        assert_mx(MXInvokeCachedOp(cached, 4, in, &n_out, &out)); /* to the array that is given */
        MXNDArrayFree(made);
    }
    for (int all = 0; all < 2; all++) {
        out = NULL, n_out = 0, n_shown = 0;
        assert_mx(MXCachedOpRegisterOpHook(cached, show, all));
        assert_mx(MXInvokeCachedOp(cached, 4, in, &n_out, &out));
        assert_int_equal(n_shown, all ? 7 : 2); /* FullyConnected(data, weight, bias), SoftmaxOutput(data, label) */
        assert_float_equal(front_at(out[0], 1), 0.5, 1e-6);
        for (int i = 0; i < n_out; i++)
            assert_mx(MXNDArrayFree(out[i]));
    }
    assert_mx(MXCachedOpRegisterOpHook(cached, NULL, false));
    assert_mx_fails(MXCachedOpRegisterOpHook(NULL, show, false), "NULL");
    assert_mx(MXFreeCachedOp(cached));
    assert_mx(MXFreeCachedOp(NULL));
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(in[i]);
    MXSymbolFree(net);
}

/* ---- the front end's own operators ------------------------------------------------------------------------------- */

static int deleted, fails;

static int delete_it(void *context) {
    (void)context;
    deleted++;
    return 1;
}

static int list_data(char ***out, void *context) {
    static char data[] = "data";
    static char *names[] = {data, NULL};
    (void)context;
    *out = names;
    return 1;
}

static int list_none(char ***out, void *context) {
    static char *names[] = {NULL};
    (void)context;
    *out = names;
    return 1;
}

/* What a front end may do in its functions: a call with so many arrays that the lists of an outer call would move. */
static void call_the_library(void) {
    enum { MANY = 3000 };
    static NDArrayHandle in[MANY];
    NDArrayHandle one = front_filled(1, 1, 1), sum;
    for (int i = 0; i < MANY; i++)
        in[i] = one;
    sum = call("add_n", MANY, in, NULL, NULL);
    assert_float_equal(front_at(sum, 0), MANY, 0);
    MXNDArrayFree(sum);
    MXNDArrayFree(one);
}

static int infer_shape(int n, int *ndims, int **shapes, void *context) {
    (void)context;
    call_the_library();
    ndims[n - 1] = ndims[0];
    shapes[n - 1] = shapes[0];
    return 1;
}

static int infer_type(int n, int *types, void *context) {
    (void)context;
    types[n - 1] = types[0];
    return 1;
}

static int needs(const int *out_grad, const int *in, const int *out, int *n, int **needed, void *context) {
    static int answer[2];
    (void)out;
    (void)context;
    answer[0] = out_grad[0];
    answer[1] = in[0];
    *n = 2;
    *needed = answer;
    return 1;
}

/* out = data^2, or its gradient: the arrays belong to this function. */
static int square(int n, void **arrays, int *tags, const int *reqs, int is_train, void *context) {
    const char *key = "scalar", *value = "2";
    NDArrayHandle by_tag[5] = {NULL}, result, *outputs = &result;
    int n_out = 1, failed = fails;
    (void)is_train;
    (void)context;
    for (int i = 0; i < n; i++)
        by_tag[tags[i]] = arrays[i];
    result = by_tag[2] ? by_tag[2] : by_tag[1];
    if (!failed && reqs[0] == MXC_REQ_WRITE) {
        NDArrayHandle in[] = {by_tag[0], by_tag[2] ? by_tag[3] : by_tag[0]};
        failed = MXImperativeInvoke(op("broadcast_mul"), 2, in, &n_out, &outputs, 0, NULL, NULL);
        if (!failed && by_tag[2])
            failed = MXImperativeInvoke(op("_mul_scalar"), 1, &result, &n_out, &outputs, 1, &key, &value);
    }
    for (int i = 0; i < n; i++)
        MXNDArrayFree(arrays[i]);
    return !failed;
}

static int create_operator(const char *context_name, int n, unsigned **shapes, const int *ndims, const int *types,
                           struct MXCallbackList *out, void *context) {
    static void (*functions[])(void) = {(void (*)(void))delete_it, (void (*)(void))square, (void (*)(void))square};
    static void *contexts[3];
    (void)context;
    (void)types;
    *out = (struct MXCallbackList){3, functions, contexts};
    return strcmp(context_name, "cpu(0)") == 0 && n == 1 && ndims[0] == 2 && shapes[0][1] == 2;
}

static int describe(const char *op_type, const int n, const char **keys, const char **values,
                    struct MXCallbackList *out) {
    static void (*functions[])(void) = {(void (*)(void))delete_it,       (void (*)(void))list_data,
                                        (void (*)(void))list_data,       (void (*)(void))list_none,
                                        (void (*)(void))infer_shape,     (void (*)(void))needs,
                                        (void (*)(void))create_operator, (void (*)(void))infer_type};
    static void *contexts[8];
    call_the_library();
    *out = (struct MXCallbackList){8, functions, contexts};
    return n == 1 && !strcmp(keys[0], "scale") && !strcmp(values[0], "1") && strstr(op_type, "s") != NULL;
}

static NDArrayHandle call_custom(const char *type, NDArrayHandle x) {
    const char *const keys[] = {"op_type", "scale"}, *const values[] = {type, "1"};
    NDArrayHandle *out = NULL;
    int n_out = 0;
    assert_mx(MXImperativeInvoke(op("Custom"), 1, &x, &n_out, &out, 2, keys, values));
    return out[0];
}

/* Also under a name that libmxc has, and registered twice. */
static void test_custom_operator(void **state) {
    (void)state;
    static const char *const types[] = {"test_square", "softmax"};
    NDArrayHandle x = front_filled(2, 2, 3), grad = front_filled(2, 2, 0), y;
    const uint32_t write = 1;
    int before;
    assert_mx(MXAutogradMarkVariables(1, &x, &write, &grad));
    for (int i = 0; i < 2; i++) {
        assert_mx(MXCustomOpRegister(types[i], describe));
        assert_mx(MXCustomOpRegister(types[i], describe));
        assert_mx(MXAutogradSetIsRecording(1, &before));
        y = call_custom(types[i], x);
        assert_mx(MXAutogradSetIsRecording(0, &before));
        assert_float_equal(front_at(y, 3), 9, 0);
        assert_mx(MXAutogradBackward(1, &y, NULL, 0));
        assert_float_equal(front_at(grad, 3), 6, 0);
        MXNDArrayFree(y);
    }
    fails = 1;
    y = call_custom(types[0], x);
    float values[4];
    assert_mx_fails(MXNDArraySyncCopyToCPU(y, values, 4), "test_square: forward failed");
    assert_mx(MXNDArrayWaitAll()); /* it has been reported */
    fails = 0;
    MXNDArrayFree(y);
    MXNDArrayFree(x);
    MXNDArrayFree(grad);
    assert_true(deleted > 0);
}

/* ---- operators of NumpyOp ---------------------------------------------------------------------------------------- */

typedef void (*numpy_fn)(void);

static int numpy_runs;

/* Three times the input, also as the gradient of the one before. */
static void numpy_forward(int n, float **data, int *ndims, unsigned **shapes, int *tags, void *context) {
    assert_int_equal(n, 2);
    assert_ptr_equal(context, &numpy_runs);
    assert_true(tags[0] == 0 && tags[1] == 1 && ndims[0] == 2 && ndims[1] == 2);
    for (unsigned i = 0; i < shapes[0][0] * shapes[0][1]; i++)
        data[1][i] = 3 * data[0][i];
    numpy_runs++;
}

static void numpy_backward(int n, float **data, int *ndims, unsigned **shapes, int *tags, void *context) {
    (void)ndims, (void)context;
    assert_int_equal(n, 4);
    assert_true(tags[0] == 3 && tags[1] == 0 && tags[2] == 1 && tags[3] == 2);
    for (unsigned i = 0; i < shapes[3][0] * shapes[3][1]; i++)
        data[3][i] = 3 * data[0][i];
}

static void numpy_shape(int n, int *ndims, int **shapes, void *context) {
    (void)context;
    assert_int_equal(n, 2);
    ndims[1] = ndims[0];
    shapes[1] = shapes[0];
}

static void numpy_outputs(char ***out, void *context) {
    static char output[] = "output", *names[] = {output, NULL};
    (void)context;
    *out = names;
}

static void numpy_arguments(char ***out, void *context) {
    static char data[] = "data", *names[] = {data, NULL};
    (void)context;
    *out = names;
}

/* Its own functions are called; an address that the front end has not given, as in a file, is not. */
static void test_numpy_operator(void **state) {
    static const struct {
        numpy_fn functions[5];
        void *contexts[5];
    } info = {{(numpy_fn)numpy_forward, (numpy_fn)numpy_backward, (numpy_fn)numpy_shape, (numpy_fn)numpy_outputs,
               (numpy_fn)numpy_arguments},
              {&numpy_runs, NULL, NULL, NULL, NULL}};
    static const uint32_t add = 3;
    static const char unknown[] =
        "{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},{\"op\":\"Custom\","
        "\"name\":\"y\",\"attrs\":{\"op_type\":\"_Native\",\"info\":\"10\"},\"inputs\":[[0,0,0]]}],"
        "\"arg_nodes\":[0],\"heads\":[[1,0,0]],\"attrs\":{\"mxnet_version\":[\"int\",10901]}}";
    char digits[32];
    const char *const keys[] = {"info", "need_top_grad"}, *const values[] = {digits, "True"};
    NDArrayHandle x = front_filled(2, 2, 5), grad = front_filled(2, 2, 100), head = front_filled(2, 2, 7), *outputs;
    SymbolHandle data = front_variable("x"), symbol;
    ExecutorHandle executor;
    uint32_t n;
    (void)state;
    snprintf(digits, sizeof digits, "%llx", (unsigned long long)(uintptr_t)&info);
    assert_mx_fails(MXSymbolCreateAtomicSymbol(op("_Native"), 0, NULL, NULL, &symbol), "info is missing");
    assert_mx(MXSymbolCreateAtomicSymbol(op("_Native"), 2, (const char **)(uintptr_t)keys,
                                         (const char **)(uintptr_t)values, &symbol));
    assert_mx(MXSymbolCompose(symbol, "y", 1, NULL, &data));
    assert_mx(MXExecutorBind(symbol, 1, 0, 1, &x, &grad, (uint32_t *)(uintptr_t)&add, 0, NULL, &executor));
    assert_mx(MXExecutorForward(executor, 1));
    assert_mx(MXExecutorOutputs(executor, &n, &outputs));
    assert_true(front_at(outputs[0], 3) == 15);
    MXNDArrayFree(outputs[0]);
    assert_mx(MXExecutorBackward(executor, 1, &head));
    assert_true(front_at(grad, 0) == 121); /* added */
    assert_int_equal(numpy_runs, 1);
    MXExecutorFree(executor);
    MXSymbolFree(symbol);
    assert_mx_fails(MXSymbolCreateFromJSON(unknown, &symbol), "_Native");
    MXSymbolFree(data);
    MXNDArrayFree(x);
    MXNDArrayFree(grad);
    MXNDArrayFree(head);
}

static int function_backward(int n_out, int n_in, void **arrays, const int *reqs, int is_train, void *context) {
    NDArrayHandle out = arrays[n_out], *outputs = &out;
    const char *key = "scalar", *value = "5";
    int n = 1, failed = 0;
    (void)is_train;
    (void)context;
    call_the_library();
    if (reqs[0] == MXC_REQ_WRITE)
        failed = MXImperativeInvoke(op("_mul_scalar"), 1, (NDArrayHandle *)&arrays[0], &n, &outputs, 1, &key, &value);
    for (int i = 0; i < n_out + n_in; i++)
        MXNDArrayFree(arrays[i]);
    return !failed;
}

/* Its backward calls the library while the outer backward, of several heads and variables, goes on. */
static void test_function_with_backward(void **state) {
    (void)state;
    static void (*functions[])(void) = {(void (*)(void))function_backward, (void (*)(void))delete_it};
    static void *contexts[2];
    struct MXCallbackList list = {2, functions, contexts};
    NDArrayHandle x = front_filled(2, 2, 3), grad = front_filled(2, 2, 0), heads[4], *found;
    const uint32_t write = 1;
    int before, *stypes, deleted_before = deleted;
    assert_mx(MXAutogradMarkVariables(1, &x, &write, &grad));
    assert_mx(MXAutogradSetIsRecording(1, &before));
    for (int i = 0; i < 4; i++) {
        heads[i] = front_filled(2, 2, 1);
        assert_mx(MXCustomFunctionRecord(1, &x, 1, &heads[i], &list));
    }
    assert_mx(MXAutogradSetIsRecording(0, &before));
    assert_mx(MXAutogradBackward(4, heads, NULL, 1));
    assert_float_equal(front_at(grad, 3), 20, 0);
    assert_mx(MXAutogradBackwardEx(4, heads, NULL, 1, &x, 0, 0, 1, &found, &stypes));
    NDArrayHandle made = found[0];
    assert_float_equal(front_at(made, 0), 20, 0);
    MXNDArrayFree(made);
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(heads[i]);
    MXNDArrayFree(x);
    MXNDArrayFree(grad);
    assert_int_equal(deleted - deleted_before, 4);
}

/* functions.c does not link where a function is missing; a refused one says why. */
static void test_all_functions_exist(void **state) {
    (void)state;
    int n_refused = 0;
    assert_true(mxnet_n_functions > 280);
    for (size_t i = 0; i < mxnet_n_functions; i++) {
        const mxnet_function *f = &mxnet_functions[i];
        assert_non_null(f->address);
        if (!*f->reason)
            continue;
        assert_int_equal(f->address(), -1);
        assert_non_null(strstr(MXGetLastError(), f->name));
        assert_non_null(strstr(MXGetLastError(), f->reason));
        n_refused++;
    }
    assert_true(n_refused > 0);
}

/* Limits of an LSTM's cells have to be numbers, and have no effect. */
static void test_limits_of_cells(void **state) {
    (void)state;
    const char *keys[] = {"state_size", "num_layers", "mode", "lstm_state_clip_min"};
    const char *values[] = {"5", "1", "lstm", "-0.5"};
    SymbolHandle symbol;
    assert_mx(MXSymbolCreateAtomicSymbol(op("RNN"), 4, keys, values, &symbol));
    MXSymbolFree(symbol);
    values[3] = "low";
    assert_mx_fails(MXSymbolCreateAtomicSymbol(op("RNN"), 4, keys, values, &symbol), "lstm_state_clip_min");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_descriptions),
        cmocka_unit_test(test_inputs_have_the_names_described),
        cmocka_unit_test(test_counted_inputs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_update_of_weights_on_several_contexts),
        cmocka_unit_test(test_refusals_have_reasons),
        cmocka_unit_test(test_mean_of_integers),
        cmocka_unit_test(test_older_functions),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_cached_operator),
        cmocka_unit_test(test_custom_operator),
        cmocka_unit_test(test_numpy_operator),
        cmocka_unit_test(test_function_with_backward),
        cmocka_unit_test(test_limits_of_cells),
        cmocka_unit_test(test_all_functions_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
