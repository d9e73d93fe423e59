/* SPDX-License-Identifier: Apache-2.0 */
/* The differentiation pass: the backward nodes that it appends. test_symbol_gradient.c runs them. */
#include "executor/graphs.h"

/* Wants the gradients of the first n arguments. */
static mxci_program *run(mxc_symbol *symbol, int32_t n) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
    for (int32_t i = 0; i < n; i++)
        p->wanted[i] = 1;
    assert_ok(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads));
    return p;
}

static void test_product(void **state) {
    mxci_program *p = run(net_on2("elemwise_mul", "y", "", net_variable("data"), net_variable("w")), 1);
    (void)state;
    assert_entry(p->graph, p->grads[0], "elemwise_mul_backward(head_grad,data,w)");
    assert_int_equal(p->grads[1], -1);
    assert_entry(p->graph, p->heads[0], "head_grad");
    mxci_program_destroy(p);
}

/* An argument with two readers gets the sum of both gradients. */
static void test_sum(void **state) {
    mxc_symbol *w = net_variable("data"), *a = net_on("tanh", "a", "", mxc_symbol_retain(w));
    mxci_program *p = run(net_on2("elemwise_add", "y", "", a, w), 1);
    (void)state;
    assert_entry(
        p->graph, p->grads[0],
        "add_n(elemwise_add_backward(head_grad).1,tanh_backward(elemwise_add_backward(head_grad),tanh(data)))");
    mxci_program_destroy(p);
}

/* A loss starts the pass by itself, and a gradient that is zero is left out. */
static void test_loss_and_zero(void **state) {
    mxc_symbol *stopped = net_on("BlockGrad", "stop", "", net_variable("w"));
    mxci_program *p = run(net_on2("LinearRegressionOutput", "loss", "", net_variable("data"), stopped), 2);
    (void)state;
    assert_int_equal(p->heads[0], -1);
    assert_entry(p->graph, p->grads[0],
                 "LinearRegressionOutput_backward(BlockGrad(w),LinearRegressionOutput(data,BlockGrad(w)))");
    assert_int_equal(p->grads[1], -1);
    mxci_program_destroy(p);
}

static mxc_status compute(const mxc_op_call *call) {
    (void)call;
    return MXC_OK;
}

static const mxc_op_def opaque = {
    .size = sizeof(mxc_op_def),
    .name = "opaque",
    .doc = "has no backward, nor a gradient of zero",
    .forward = MXC_ON_CPU(compute),
};

static void test_refused(void **state) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p;
    (void)state;
    assert_ok(mxc_op_register(&opaque));
    p = graph_program(net_on("opaque", "wall", "", net_variable("data")), &shape, MXC_F32, mxc_cpu(0));
    p->wanted[0] = 1;
    assert_fails(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads), MXC_EUNSUPPORTED, "wall");
    mxci_program_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_loss_and_zero),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
