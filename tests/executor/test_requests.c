/* SPDX-License-Identifier: Apache-2.0 */
/* The request pass: what nodes do to their outputs, where these are, and sums that need not run. */
#include "executor/graphs.h"

static mxci_program *run(mxc_symbol *symbol, mxc_req req) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
    p->grad_req[0] = req;
    p->wanted[0] = req != MXC_REQ_NULL;
    if (p->wanted[0])
        assert_ok(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads));
    p->n_base_nodes = p->graph->n_nodes;
    assert_ok(mxci_pass_node_order(p, 0));
    assert_ok(mxci_pass_requests(p));
    return p;
}

static int32_t entry_of(const mxci_program *p, const char *name, int32_t output) {
    return p->graph->nodes[graph_find(p->graph, name)].first_entry + output;
}

static void test_locations(void **state) {
    mxci_program *p = run(net_on("square", "b", "", net_on("tanh", "a", "", net_variable("data"))), MXC_REQ_NULL);
    int32_t data = entry_of(p, "data", 0), a = entry_of(p, "a", 0), b = entry_of(p, "b", 0);
    (void)state;
    assert_int_equal(p->location[data].kind, MXCI_LOCATION_ARG);
    assert_int_equal(p->location[a].kind, MXCI_LOCATION_NONE); /* until memory is planned */
    assert_int_equal(p->location[b].kind, MXCI_LOCATION_OUTPUT);
    assert_true(p->req[a] == MXC_REQ_WRITE && p->req[b] == MXC_REQ_WRITE);
    assert_true(p->first[a] == 0 && p->last[a] == 1);
    mxci_program_destroy(p);
}

/* Nobody reads the batch's mean and variance. */
static void test_unread(void **state) {
    mxc_shape shape = net_shape(4, 2, 3, 4, 4);
    mxci_program *p = graph_program(net_on("BatchNorm", "bn", "", net_variable("data")), &shape, MXC_F32, mxc_cpu(0));
    (void)state;
    assert_ok(mxci_pass_node_order(p, 0));
    assert_ok(mxci_pass_requests(p));
    assert_int_equal(p->req[entry_of(p, "bn", 0)], MXC_REQ_WRITE);
    assert_int_equal(p->req[entry_of(p, "bn", 1)], MXC_REQ_NULL);
    assert_int_equal(p->req[entry_of(p, "bn", 2)], MXC_REQ_NULL);
    mxci_program_destroy(p);
}

/* The terms of a gradient's sum are added into the argument's gradient: the first writes or adds, as is asked for. */
static void expect_sum(mxc_req asked) {
    mxc_symbol *x = net_variable("data");
    mxc_symbol *a = net_on("tanh", "a", "", mxc_symbol_retain(x)), *b = net_on("square", "b", "", x);
    mxci_program *p = run(net_on2("elemwise_add", "sum", "", a, b), asked);
    int32_t one = entry_of(p, "a_backward", 0), other = entry_of(p, "b_backward", 0), sum = p->grads[0];
    int is_first = p->step_of[p->graph->entry_node[one]] < p->step_of[p->graph->entry_node[other]];
    assert_int_equal(p->step_of[p->graph->entry_node[sum]], -1);
    assert_true(p->root[one] == sum && p->root[other] == sum);
    assert_int_equal(p->location[sum].kind, MXCI_LOCATION_GRAD);
    assert_int_equal(p->req[is_first ? one : other], asked);
    assert_int_equal(p->req[is_first ? other : one], MXC_REQ_ADD);
    mxci_program_destroy(p);
}

static void test_sum_in_place(void **state) {
    (void)state;
    expect_sum(MXC_REQ_WRITE);
    expect_sum(MXC_REQ_ADD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_unread),
        cmocka_unit_test(test_sum_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
