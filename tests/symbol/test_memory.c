/* SPDX-License-Identifier: Apache-2.0 */
/* Failing each allocation in turn through making, composing, attributes, inference, JSON and pictures. */
#include "ops.h"

#include "base/sys.h"
#include "symbol/graph.h"

/* Everything a step makes, so that it is released wherever the step fails. */
typedef struct made {
    mxc_symbol *symbols[16];
    int n;
    char *texts[4];
    int n_texts;
    mxc_names names;
    mxc_inferred inferred;
    mxci_graph *graph;
    int in_scope;
} made;

static mxc_symbol **next(made *m) {
    return &m->symbols[m->n++];
}

static mxc_status make_net(made *m) {
    static const char *const keys[] = {"num_hidden", "weight_lr_mult", "ctx_group"}, *const values[] = {"10", "2", "a"};
    static const char *const scope_keys[] = {"mood"}, *const scope_values[] = {"calm"};
    static const char *const data[] = {"data"};
    mxc_symbol **x = next(m), **fc, **bn, **atomic, **copy, **other;
    MXC_TRY(mxc_attr_scope_enter(1, scope_keys, scope_values));
    m->in_scope = 1;
    MXC_TRY(mxc_symbol_variable("data", x));
    MXC_TRY(mxc_symbol_set_attr(*x, "__shape__", "(2,3)"));
    MXC_TRY(mxc_symbol_op("t_fc", NULL, 3, keys, values, 1, NULL, x, fc = next(m)));
    MXC_TRY(mxc_symbol_op("t_bn", "n", 0, NULL, NULL, 1, NULL, fc, bn = next(m)));
    MXC_TRY(mxc_symbol_atomic("t_concat", 0, NULL, NULL, atomic = next(m)));
    MXC_TRY(mxc_symbol_copy(*atomic, copy = next(m)));
    MXC_TRY(mxc_symbol_compose(*copy, "c", 2, NULL, fc));
    MXC_TRY(mxc_symbol_variable("other", other = next(m)));
    MXC_TRY(mxc_symbol_compose(*copy, "d", 1, data, other));
    MXC_TRY(mxc_symbol_group(2, fc, next(m)));
    return mxc_symbol_copy(*copy, next(m));
}

static mxc_status look_at(made *m, mxc_symbol *net) {
    static const char *const names[] = {"data"};
    mxc_dtype type = MXC_F32;
    mxc_symbol **all;
    MXC_TRY(mxc_symbol_list_attrs(net, 1, &m->names));
    mxc_names_release(&m->names);
    MXC_TRY(mxc_symbol_list_aux(net, &m->names));
    mxc_names_release(&m->names);
    MXC_TRY(mxc_symbol_list_outputs(net, &m->names));
    MXC_TRY(mxc_symbol_internals(net, all = next(m)));
    MXC_TRY(mxc_symbol_children(net, next(m)));
    MXC_TRY(mxc_symbol_find_output(*all, "n_gamma", next(m)));
    MXC_TRY(mxc_symbol_infer(net, 1, names, NULL, &type, &m->inferred));
    MXC_TRY(mxc_symbol_print(net, &m->texts[m->n_texts++]));
    MXC_TRY(mxc_symbol_to_dot(net, 0, NULL, NULL, &m->texts[m->n_texts++]));
    MXC_TRY(mxci_graph_from_symbol(net, &m->graph));
    return mxci_graph_to_symbol(m->graph, m->graph->n_outputs, m->graph->outputs, next(m));
}

static mxc_status there_and_back(made *m, mxc_symbol *net) {
    char **json = &m->texts[m->n_texts++];
    MXC_TRY(mxc_symbol_to_json(net, json));
    return mxc_symbol_from_json(*json, strlen(*json), next(m));
}

static mxc_status all_steps(made *m) {
    mxc_symbol *net;
    MXC_TRY(make_net(m));
    net = m->symbols[2];
    MXC_TRY(look_at(m, net));
    return there_and_back(m, net);
}

static void release(made *m) {
    for (int i = 0; i < m->n; i++)
        mxc_symbol_release(m->symbols[i]);
    for (int i = 0; i < m->n_texts; i++)
        mxci_free(m->texts[i]);
    mxc_names_release(&m->names);
    mxc_inferred_release(&m->inferred);
    mxci_graph_destroy(m->graph);
    if (m->in_scope)
        mxc_attr_scope_leave();
}

static void test_each_allocation_fails(void **state) {
    mxc_status status = MXC_ENOMEM;
    int64_t at;
    (void)state;
    for (at = 1; status != MXC_OK; at++) {
        made m = {.n = 0};
        int64_t live = mxci_alloc_live();
        mxci_test_fail_alloc(at, 0);
        status = all_steps(&m);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK && status != MXC_ENOMEM)
            fail_msg("allocation %lld: %s: %s", (long long)at, mxc_status_name(status), mxc_last_error());
        release(&m);
        if (mxci_alloc_live() != live)
            fail_msg("allocation %lld: %lld blocks are left", (long long)at, (long long)(mxci_alloc_live() - live));
    }
    assert_true(at > 300);
}

/* A symbol whose composition fails is as it was. */
static void test_compose_is_all_or_nothing(void **state) {
    static const char *const data[] = {"data"};
    mxc_symbol *net = test_mlp(), *other = test_var("other");
    mxc_status status = MXC_ENOMEM;
    char *before, *after;
    (void)state;
    for (int at = 1; status != MXC_OK; at++) {
        assert_ok(mxc_symbol_to_json(net, &before));
        mxci_test_fail_alloc(at, 1);
        status = mxc_symbol_compose(net, "whole", 1, data, &other);
        mxci_test_fail_alloc(0, 0);
        assert_ok(mxc_symbol_to_json(net, &after));
        assert_true((strcmp(before, after) == 0) == (status != MXC_OK));
        mxci_free(before);
        mxci_free(after);
    }
    mxc_symbol_release(net);
    mxc_symbol_release(other);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_compose_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
