/* SPDX-License-Identifier: Apache-2.0 */
/* Executors through MXNet's interface: binding to given and to new arrays, sharing, running, reshaping, monitors. */
#include "front.h"

/* y = a * b, bound with gradients of both; a is 2s and b 3s. */
typedef struct product {
    SymbolHandle a, b, net;
    NDArrayHandle args[2], grads[2];
    ExecutorHandle executor;
} product;

static void bind_product(product *p, const uint32_t reqs[2]) {
    p->a = front_variable("a");
    p->b = front_variable("b");
    SymbolHandle in[2] = {p->a, p->b};
    p->net = front_op("elemwise_mul", "y", NULL, NULL, 2, in);
    for (int i = 0; i < 2; i++) {
        p->args[i] = front_filled(2, 3, (float)i + 2);
        p->grads[i] = front_filled(2, 3, 10);
    }
    assert_mx(
        MXExecutorBindEX(p->net, 1, 0, 0, NULL, NULL, NULL, 2, p->args, p->grads, reqs, 0, NULL, NULL, &p->executor));
}

static void free_product(product *p) {
    assert_mx(MXExecutorFree(p->executor));
    for (int i = 0; i < 2; i++) {
        MXNDArrayFree(p->args[i]);
        MXNDArrayFree(p->grads[i]);
    }
    MXSymbolFree(p->net);
    MXSymbolFree(p->b);
    MXSymbolFree(p->a);
}

static float first_output(ExecutorHandle executor) {
    NDArrayHandle *outputs;
    uint32_t n;
    assert_mx(MXExecutorOutputs(executor, &n, &outputs));
    NDArrayHandle output = outputs[0];
    float value = front_at(output, 0);
    for (uint32_t i = 1; i < n; i++)
        MXNDArrayFree(outputs[i]);
    MXNDArrayFree(output);
    return value;
}

static void test_bind_and_run(void **state) {
    (void)state;
    product p;
    const uint32_t reqs[2] = {1, 3};
    const char *text;
    SymbolHandle optimized;
    bind_product(&p, reqs);
    NDArrayHandle ones = front_filled(2, 3, 1), wide = front_filled(3, 3, 1);
    /* gradients also follow an inference run */
    for (int is_train = 1; is_train >= 0; is_train--) {
        assert_mx(MXExecutorForward(p.executor, is_train));
        assert_float_equal(first_output(p.executor), 6, 0);
        assert_mx(MXExecutorBackward(p.executor, 1, &ones));
    }
    assert_float_equal(front_at(p.grads[0], 5), 3, 0);
    assert_float_equal(front_at(p.grads[1], 5), 10 + 2 + 2, 0);
    assert_mx_fails(MXExecutorBackwardEx(p.executor, 0, NULL, 1), "y_output");
    assert_mx_fails(MXExecutorBackwardEx(p.executor, 1, &wide, 1), "(3,3)");
    assert_mx(MXExecutorPrint(p.executor, &text));
    assert_non_null(strstr(text, "TempSpace resource requested\n"));
    assert_mx(MXExecutorGetOptimizedSymbol(p.executor, &optimized));
    MXSymbolFree(optimized);
    MXNDArrayFree(ones);
    MXNDArrayFree(wide);
    free_product(&p);
}

static void test_bind_refuses(void **state) {
    (void)state;
    product p;
    const uint32_t reqs[2] = {0, 0};
    ExecutorHandle executor;
    bind_product(&p, reqs);
    assert_mx_fails(MXExecutorBind(p.net, 1, 0, 1, p.args, NULL, NULL, 0, NULL, &executor), "expected 2 arguments");
    assert_mx_fails(MXExecutorBind(p.net, 9, 0, 2, p.args, NULL, NULL, 0, NULL, &executor), "device type 9");
    NDArrayHandle none[2] = {p.args[0], NULL};
    assert_mx_fails(MXExecutorBind(p.net, 1, 0, 2, none, NULL, NULL, 0, NULL, &executor), "b");
    assert_mx_fails(MXExecutorForward(NULL, 0), "NULL");
    assert_mx(MXExecutorFree(NULL));
    free_product(&p);
}

/* What a simple bind gives back. */
typedef struct bound {
    uint32_t n_args, n_aux;
    NDArrayHandle *args, *grads, *aux, *shared_handles, held[32];
    int n_held, n_shared;
    const char **shared_names;
    ExecutorHandle executor;
} bound;

static void hold(bound *b, uint32_t n, NDArrayHandle *handles) {
    for (uint32_t i = 0; i < n; i++)
        if (handles[i])
            b->held[b->n_held++] = handles[i];
}

/* Simple bind of the classifier with so many rows; shared: names that are shared with the executor other. */
static int simple_bind(bound *b, SymbolHandle net, int rows, const char *req, uint32_t n_shared, const char **shared,
                       ExecutorHandle other, int n_pool, const char **pool_names, NDArrayHandle *pool) {
    const char *names[] = {"data", "unused_label"};
    const int dims[] = {rows, 3, rows};
    const uint32_t offsets[] = {0, 2, 3};
    *b = (bound){.n_shared = n_pool};
    int result = MXExecutorSimpleBindEx(net, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, 2, names, dims, offsets, 0, NULL,
                                        NULL, 0, NULL, NULL, n_shared, shared, &b->n_shared, pool_names, pool,
                                        &b->shared_names, &b->shared_handles, &b->n_args, &b->args, &b->grads,
                                        &b->n_aux, &b->aux, other, &b->executor);
    if (result)
        return result;
    hold(b, b->n_args, b->args);
    hold(b, b->n_args, b->grads);
    hold(b, b->n_aux, b->aux);
    if (n_pool >= 0)
        hold(b, (uint32_t)b->n_shared, b->shared_handles);
    return 0;
}

static void free_bound(bound *b) {
    MXExecutorFree(b->executor);
    for (int i = 0; i < b->n_held; i++)
        MXNDArrayFree(b->held[i]);
}

static void test_simple_bind(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    bound b;
    assert_mx(simple_bind(&b, net, 4, "write", 0, NULL, NULL, -1, NULL, NULL));
    assert_int_equal(b.n_args, 4);
    assert_non_null(b.grads[1]);
    assert_float_equal(front_at(b.args[1], 0), 0, 0);
    assert_mx(MXExecutorForward(b.executor, 1));
    assert_float_equal(first_output(b.executor), 0.5, 1e-6);
    assert_mx(MXExecutorBackward(b.executor, 0, NULL));
    assert_float_equal(front_at(b.grads[2], 0), -2, 1e-6);
    free_bound(&b);
    assert_mx_fails(simple_bind(&b, net, 4, "wrote", 0, NULL, NULL, -1, NULL, NULL), "\"wrote\"");
    MXSymbolFree(net);
}

/* As BucketingModule binds: parameters of the first executor, other arrays from the pool, which grows. */
static void test_simple_bind_shares(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    const char *params[] = {"fc_weight", "fc_bias"};
    bound large, small;
    assert_mx(simple_bind(&large, net, 4, "write", 0, NULL, NULL, 0, NULL, NULL));
    assert_true(large.n_shared >= 4);
    const char *names[16];
    NDArrayHandle pool[16];
    char text[16][64];
    for (int i = 0; i < large.n_shared; i++) {
        snprintf(text[i], sizeof text[i], "%s", large.shared_names[i]);
        names[i] = text[i];
        pool[i] = large.shared_handles[i];
    }
    NDArrayHandle weight = large.args[1], data = large.args[0];
    float six[6] = {1, 2, 3, 4, 5, 6}, twelve[12] = {9, 9, 9, 9, 9, 9};
    assert_mx(MXNDArraySyncCopyFromCPU(weight, six, 6));
    assert_mx(simple_bind(&small, net, 2, "write", 2, params, large.executor, large.n_shared, names, pool));
    assert_float_equal(front_at(small.args[1], 5), 6, 0);
    assert_mx(MXNDArraySyncCopyFromCPU(data, twelve, 12));
    assert_float_equal(front_at(small.args[0], 5), 9, 0); /* a view of the larger one */
    assert_mx(MXExecutorForward(small.executor, 0));
    assert_mx(MXExecutorForward(large.executor, 0));
    free_bound(&small);
    free_bound(&large);
    MXSymbolFree(net);
}

static void test_simple_bind_lacks_shapes(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    const uint32_t offsets[1] = {0};
    const char *req = "null", **names;
    int n_pool = -1;
    uint32_t n_args, n_aux;
    NDArrayHandle *args, *grads, *aux, *pool;
    ExecutorHandle executor;
    assert_mx_fails(MXExecutorSimpleBind(net, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, 0, NULL, NULL, offsets, 0, NULL,
                                         NULL, 0, NULL, NULL, 0, NULL, &n_pool, NULL, NULL, &names, &pool, &n_args,
                                         &args, &grads, &n_aux, &aux, NULL, &executor),
                    "data: ?");
    MXSymbolFree(net);
}

static void test_reshape(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    bound b, reshaped = {0};
    const char *names[] = {"data", "softmax_label"};
    const int dims[] = {2, 3, 2};
    const uint32_t offsets[] = {0, 2, 3};
    assert_mx(simple_bind(&b, net, 4, "write", 0, NULL, NULL, -1, NULL, NULL));
    assert_mx(MXExecutorReshapeEx(0, 0, 1, 0, 0, NULL, NULL, NULL, 2, names, dims, offsets, &reshaped.n_args,
                                  &reshaped.args, &reshaped.grads, &reshaped.n_aux, &reshaped.aux, b.executor,
                                  &reshaped.executor));
    hold(&reshaped, reshaped.n_args, reshaped.args);
    hold(&reshaped, reshaped.n_args, reshaped.grads);
    assert_mx(MXExecutorForward(reshaped.executor, 0));
    assert_float_equal(first_output(reshaped.executor), 0.5, 1e-6);
    free_bound(&reshaped);
    free_bound(&b);
    MXSymbolFree(net);
}

/* Counts calls, and computes with what it is given, as front ends do. */
static void watch(const char *name, NDArrayHandle array, void *user) {
    int *n = user;
    NDArrayHandle row;
    if (strcmp(name, "fc_output") == 0) {
        assert_mx(MXNDArraySlice(array, 0, 1, &row));
        assert_float_equal(front_at(row, 0), 0, 0);
        MXNDArrayFree(row);
        ++*n;
    }
    MXNDArrayFree(array);
}

/* Names that a monitor has seen, in a row. */
static void note_name(const char *name, NDArrayHandle array, void *user) {
    char *seen = user;
    snprintf(seen + strlen(seen), 512 - strlen(seen), "%s ", name);
    MXNDArrayFree(array);
}

/* Gradients are numbered as MXNet does it, with those that nothing asks for. */
static void test_monitor_of_gradients(void **state) {
    (void)state;
    const uint32_t reqs[2] = {0, 1};
    char seen[512] = "";
    product p;
    bind_product(&p, reqs);
    NDArrayHandle head = front_filled(2, 3, 1);
    assert_mx(MXExecutorSetMonitorCallback(p.executor, note_name, seen));
    assert_mx(MXExecutorForward(p.executor, 1));
    assert_mx(MXExecutorBackward(p.executor, 1, &head));
    assert_string_equal(seen, "y_output y_backward_output0 y_backward_output1 ");
    MXNDArrayFree(head);
    free_product(&p);
}

/* A monitor of all sees inputs before the node, after the variable that each is, and the outputs that users do not. */
static void test_monitor_of_inputs(void **state) {
    (void)state;
    SymbolHandle x = front_variable("data"), norm = front_op("BatchNorm", "bn", "fix_gamma", "False", 1, &x),
                 net = front_op("Activation", "act", "act_type", "relu", 1, &norm);
    char seen[512];
    bound b;
    assert_mx(simple_bind(&b, net, 2, "write", 0, NULL, NULL, -1, NULL, NULL));
    for (int is_all = 0; is_all < 2; is_all++) {
        seen[0] = 0;
        assert_mx(MXExecutorSetMonitorCallbackEX(b.executor, note_name, seen, is_all));
        assert_mx(MXExecutorForward(b.executor, 1));
        assert_string_equal(seen, is_all ? "data bn_data bn_gamma bn_gamma bn_beta bn_beta bn_moving_mean "
                                           "bn_moving_mean bn_moving_var bn_moving_var bn_output bn_mean bn_var "
                                           "act_input0 act_output "
                                         : "bn_output bn_mean bn_var act_output ");
    }
    free_bound(&b);
    MXSymbolFree(x);
    MXSymbolFree(norm);
    MXSymbolFree(net);
}

static void test_monitor(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    bound b;
    int n = 0;
    assert_mx(simple_bind(&b, net, 4, "null", 0, NULL, NULL, -1, NULL, NULL));
    assert_mx(MXExecutorSetMonitorCallback(b.executor, watch, &n));
    assert_mx(MXExecutorForward(b.executor, 0));
    assert_int_equal(n, 1);
    assert_mx(MXExecutorSetMonitorCallbackEX(b.executor, NULL, NULL, true));
    assert_mx(MXExecutorForward(b.executor, 0));
    assert_int_equal(n, 1);
    free_bound(&b);
    MXSymbolFree(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bind_and_run),
        cmocka_unit_test(test_bind_refuses),
        cmocka_unit_test(test_simple_bind),
        cmocka_unit_test(test_simple_bind_shares),
        cmocka_unit_test(test_simple_bind_lacks_shapes),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_monitor_of_gradients),
        cmocka_unit_test(test_monitor_of_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
