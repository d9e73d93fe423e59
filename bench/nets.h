/* SPDX-License-Identifier: Apache-2.0 */
/* The nets that benches and tests measure, built through the public API. A failure ends the program with its message.
 */
#ifndef MXC_BENCH_NETS_H
#define MXC_BENCH_NETS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/symbol.h>

static inline void nets_check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "%s\n", mxc_last_error());
    exit(1);
}

static inline mxc_symbol *nets_variable(const char *name) {
    mxc_symbol *s;
    nets_check(mxc_symbol_variable(name, &s));
    return s;
}

/* An operator on n inputs, which are released. params: "kernel=(5,5) num_filter=20" or "". */
static inline mxc_symbol *nets_op(const char *op, const char *name, const char *params, int n_in, mxc_symbol **in) {
    char text[256], *at, *save = NULL;
    const char *keys[16], *values[16];
    int n = 0;
    mxc_symbol *s;
    snprintf(text, sizeof text, "%s", params);
    for (at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        keys[n] = at;
        values[n++] = equals + 1;
    }
    nets_check(mxc_symbol_op(op, name, n, keys, values, n_in, NULL, in, &s));
    for (int i = 0; i < n_in; i++)
        mxc_symbol_release(in[i]);
    return s;
}

static inline mxc_symbol *nets_on(const char *op, const char *name, const char *params, mxc_symbol *in) {
    return nets_op(op, name, params, 1, &in);
}

/* MXNet's LeNet, for data (B,1,28,28) and softmax_label (B). */
static inline mxc_symbol *nets_lenet(void) {
    mxc_symbol *s = nets_variable("data");
    s = nets_on("Convolution", "conv1", "kernel=(5,5) num_filter=20", s);
    s = nets_on("Activation", "tanh1", "act_type=tanh", s);
    s = nets_on("Pooling", "pool1", "pool_type=max kernel=(2,2) stride=(2,2)", s);
    s = nets_on("Convolution", "conv2", "kernel=(5,5) num_filter=50", s);
    s = nets_on("Activation", "tanh2", "act_type=tanh", s);
    s = nets_on("Pooling", "pool2", "pool_type=max kernel=(2,2) stride=(2,2)", s);
    s = nets_on("Flatten", "flatten", "", s);
    s = nets_on("FullyConnected", "fc1", "num_hidden=500", s);
    s = nets_on("Activation", "tanh3", "act_type=tanh", s);
    s = nets_on("FullyConnected", "fc2", "num_hidden=10", s);
    return nets_on("SoftmaxOutput", "softmax", "", s);
}

/* Two hidden layers, for data (B,D) and softmax_label (B). */
static inline mxc_symbol *nets_mlp(int hidden1, int hidden2, int classes) {
    char params[64];
    mxc_symbol *s = nets_variable("data");
    snprintf(params, sizeof params, "num_hidden=%d", hidden1);
    s = nets_on("FullyConnected", "fc1", params, s);
    s = nets_on("Activation", "relu1", "act_type=relu", s);
    snprintf(params, sizeof params, "num_hidden=%d", hidden2);
    s = nets_on("FullyConnected", "fc2", params, s);
    s = nets_on("Activation", "relu2", "act_type=relu", s);
    snprintf(params, sizeof params, "num_hidden=%d", classes);
    s = nets_on("FullyConnected", "fc3", params, s);
    return nets_on("SoftmaxOutput", "softmax", "", s);
}

static inline mxc_symbol *nets_conv_bn(mxc_symbol *in, const char *name, int channels, int kernel, int stride) {
    char params[128], part[64];
    snprintf(params, sizeof params, "kernel=(%d,%d) pad=(%d,%d) stride=(%d,%d) num_filter=%d no_bias=True", kernel,
             kernel, kernel / 2, kernel / 2, stride, stride, channels);
    in = nets_on("Convolution", name, params, in);
    snprintf(part, sizeof part, "%s_bn", name);
    return nets_on("BatchNorm", part, "fix_gamma=False", in);
}

static inline mxc_symbol *nets_relu(mxc_symbol *in, const char *name) {
    return nets_on("Activation", name, "act_type=relu", in);
}

static inline mxc_symbol *nets_residual(mxc_symbol *in, const char *name, int channels, int stride) {
    char a[32], b[32], relu[32], shortcut[32], plus[32], out[32];
    mxc_symbol *both[2];
    snprintf(a, sizeof a, "%s_a", name);
    snprintf(b, sizeof b, "%s_b", name);
    snprintf(relu, sizeof relu, "%s_relu", name);
    snprintf(shortcut, sizeof shortcut, "%s_shortcut", name);
    snprintf(plus, sizeof plus, "%s_plus", name);
    snprintf(out, sizeof out, "%s_out", name);
    both[1] = stride > 1 ? nets_conv_bn(mxc_symbol_retain(in), shortcut, channels, 1, stride) : mxc_symbol_retain(in);
    in = nets_relu(nets_conv_bn(in, a, channels, 3, stride), relu);
    both[0] = nets_conv_bn(in, b, channels, 3, 1);
    return nets_relu(nets_op("elemwise_add", plus, "", 2, both), out);
}

/* The residual net of 20 layers for CIFAR (three stages of three blocks), for data (B,3,32,32) and softmax_label (B).
 */
static inline mxc_symbol *nets_resnet20(void) {
    mxc_symbol *s = nets_relu(nets_conv_bn(nets_variable("data"), "first", 16, 3, 1), "first_relu");
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "s%d_%d", stage, i);
            s = nets_residual(s, name, 16 << stage, stage > 0 && i == 0 ? 2 : 1);
        }
    s = nets_on("Pooling", "pool", "pool_type=avg kernel=(8,8) global_pool=True", s);
    s = nets_on("FullyConnected", "fc", "num_hidden=10", nets_on("Flatten", "flatten", "", s));
    return nets_on("SoftmaxOutput", "softmax", "", s);
}

#endif
