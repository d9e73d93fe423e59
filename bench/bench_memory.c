/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of the arrays inside two nets, before anything is allocated: each by itself, with in-place reuse, and with
 * sharing (and slices in inference); for training also with recomputation. Nothing is run.
 */
#include <mxc/executor.h>

#include "nets.h"

static const char *const inputs[] = {"data", "softmax_label"};

static mxc_memory_report plan(mxc_symbol *net, mxc_shape data, int train, mxc_recompute recompute) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_shape shapes[2];
    mxc_memory_report report;
    options.recompute = recompute;
    shapes[0] = data;
    nets_check(mxc_shape_set(&shapes[1], 1, data.dim));
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 2, .names = inputs, .shapes = shapes, .req = train ? MXC_REQ_WRITE : MXC_REQ_NULL};
    nets_check(mxc_executor_plan(net, &options, &spec, &report));
    return report;
}

/* whole: bytes without planning and without nodes that are computed again. */
static void print_row(const char *net, const char *mode, const mxc_memory_report *r, int64_t whole) {
    printf("%-22s %-24s %12lld %12lld %12lld %8.3f\n", net, mode, (long long)r->internal_unplanned,
           (long long)r->internal_inplace, (long long)r->internal_planned, (double)r->internal_planned / (double)whole);
}

static void print_net(const char *name, mxc_symbol *net, int ndim, const int64_t *dims) {
    static const char *const modes[] = {"training", "training, recompute 1", "training, recompute 2"};
    mxc_memory_report r;
    mxc_shape data;
    int64_t whole = 0;
    nets_check(mxc_shape_set(&data, ndim, dims));
    for (int i = 0; i < 3; i++) {
        r = plan(net, data, 1, (mxc_recompute)i);
        whole = i ? whole : r.internal_unplanned;
        print_row(name, modes[i], &r, whole);
    }
    r = plan(net, data, 0, MXC_RECOMPUTE_NONE);
    print_row(name, "inference", &r, r.internal_unplanned);
    mxc_symbol_release(net);
}

int main(void) {
    printf("%-22s %-24s %12s %12s %12s %8s\n", "net", "mode", "unplanned", "in place", "shared", "ratio");
    print_net("LeNet, batch 64", nets_lenet(), 4, (int64_t[]){64, 1, 28, 28});
    print_net("ResNet-20, batch 32", nets_resnet20(), 4, (int64_t[]){32, 3, 32, 32});
    return 0;
}
