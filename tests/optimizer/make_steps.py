# SPDX-License-Identifier: Apache-2.0
"""Asks Apache MXNet 1.9.1 for ten steps of its optimizers: make_steps.py OUT, which is tests/optimizer/mxnet_steps.txt.

For each case a line with optimizer, dtype, shape, name of the weight, factors of learning rate and weight decay, 1 if the
learning rate changes from step to step, and the settings; then a line for each step with the weight after it. Weights and
gradients are made by the formulas below, here and in test_optimizer_rules.c.
"""
import math
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

STEPS = 10
COMMON = dict(wd=0.05, rescale_grad=0.5, clip_gradient=0.6)


def first_weight(n):
    return np.array([(2 * (i * 29 % 97) - 95) / 64 for i in range(n)], "f4")


def gradient(n, t):
    return np.array([(2 * ((i * 37 + t * 53 + i * t * 11) % 128) - 127) / 64 for i in range(n)], "f4")


def rate(base, t):
    return base * (1 + t % 3) / 2


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def run(out, optimizer, settings, shape, dtype="float32", name="w_weight", lr_mult=1.0, wd_mult=1.0, changes=0):
    o = mx.optimizer.create(optimizer, param_idx2name={0: name}, **settings)
    if lr_mult != 1:
        o.set_lr_mult({0: lr_mult})
    if wd_mult != 1:
        o.set_wd_mult({0: wd_mult})
    n = math.prod(shape)
    # lamb in float16 leaves its own float32 steps behind after the first one, so it is asked in float32: weights and
    # gradients are the same in both.
    asked = "float32" if optimizer == "lamb" else dtype
    weight = mx.nd.array(first_weight(n).reshape(shape), dtype=asked)
    state = o.create_state_multi_precision(0, weight)
    out.write("%s %s %s %s %g %g %d %s\n" % (optimizer, dtype, "x".join(map(str, shape)), name, lr_mult, wd_mult, changes,
                                           " ".join("%s=%s" % (k, text(v)) for k, v in settings.items())))
    for t in range(STEPS):
        if changes:
            o.set_learning_rate(rate(settings["learning_rate"], t))
        o.update_multi_precision(0, weight, mx.nd.array(gradient(n, t).reshape(shape), dtype=asked), state)
        out.write(" ".join("%.8g" % x for x in weight.asnumpy().ravel()) + "\n")


VARIANTS = {
    "sgd": [{}, {"momentum": 0.9}],
    "nag": [{"momentum": 0.9}],
    "signum": [{"momentum": 0.9, "wd_lh": 0.01}, {"momentum": 0.0}],
    "adam": [{"beta1": 0.8, "epsilon": 1e-3}],
    "rmsprop": [{}, {"centered": True, "gamma2": 0.7}],
    "ftrl": [{}],
    "adagrad": [{}, {"eps": 1e-2}],
    "adadelta": [{}, {"rho": 0.7, "epsilon": 1e-2}],
    "adamax": [{}, {"beta1": 0.7, "beta2": 0.8}],
    "nadam": [{}, {"schedule_decay": 0.1, "beta1": 0.7, "beta2": 0.8, "epsilon": 1e-3}],
    "ftml": [{}, {"beta1": 0.4, "beta2": 0.9, "epsilon": 1e-3}],
    "lamb": [{}, {"bias_correction": False, "lower_bound": 0.1, "upper_bound": 1.5}, {"epsilon": 1e-3}],
    "lars": [{"momentum": 0.9, "eta": 0.5}, {"momentum": 0.9, "eta": 0.1, "eps": 1e-2, "momentum_correction": False}],
    "lbsgd": [{"momentum": 0.9}, {"batch_scale": 3, "warmup_epochs": 2, "updates_per_epoch": 4, "momentum": 0.5},
              {"batch_scale": 2, "warmup_strategy": "power2", "warmup_epochs": 2, "updates_per_epoch": 4},
              {"batch_scale": 2, "warmup_strategy": "sqrt", "warmup_epochs": 2, "updates_per_epoch": 4},
              {"warmup_strategy": "lars", "momentum": 0.9},
              {"warmup_strategy": "lars", "batch_scale": 2, "begin_epoch": 1, "updates_per_epoch": 3}],
    "dcasgd": [{}, {"lamda": 0.5}],
    "groupadagrad": [{}, {"eps": 1e-2}],
}


def main(out):
    for optimizer, variants in VARIANTS.items():
        common = dict(COMMON)
        if optimizer in ("groupadagrad", "nag"):  # no decay; nag, run in place, takes it from the new weight in its momentum
            del common["wd"]
        for own in variants:
            settings = dict(learning_rate=0.125, **own)
            matrix = (3, 4)
            run(out, optimizer, settings, matrix)
            if optimizer != "groupadagrad":
                run(out, optimizer, dict(settings, **common), (7,), wd_mult=2.0)
                run(out, optimizer, dict(settings, **common), (2, 1, 3), lr_mult=0.5, changes=1)
                run(out, optimizer, dict(settings, **common), (1,), name="w_bias")
            else:
                run(out, optimizer, dict(settings, **common), (5, 2), lr_mult=0.5, changes=1)
            run(out, optimizer, dict(settings, multi_precision=True, **common), matrix, dtype="float16")


with open(sys.argv[1], "w") as file:
    main(file)
