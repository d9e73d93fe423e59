# SPDX-License-Identifier: Apache-2.0
"""Asks Apache MXNet 1.9.1 for learning rates and for initial values without random numbers: make_values.py OUT, which is
tests/train/mxnet_values.txt: a line for each case with its name, followed by the values."""
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx  # noqa: E402

S = mx.lr_scheduler
LINEAR, CONSTANT = (4, 0.2, "linear"), (4, 0.2, "constant")
SCHEDULES = {
    "multi_factor": lambda: S.MultiFactorScheduler([3, 6, 11], 0.5, 0.8),
    "multi_factor_linear": lambda: S.MultiFactorScheduler([3, 6, 11], 0.5, 0.8, *LINEAR),
    "multi_factor_constant": lambda: S.MultiFactorScheduler([5, 6, 11], 0.5, 0.8, *CONSTANT),
    "factor": lambda: S.FactorScheduler(3, 0.5, 0.15, 0.8),
    "poly": lambda: S.PolyScheduler(12, 0.8, 3, 0.1),
    "poly_linear": lambda: S.PolyScheduler(12, 0.8, 2, 0.1, *LINEAR),
    "poly_constant": lambda: S.PolyScheduler(12, 0.8, 2, 0.1, *CONSTANT),
    "cosine": lambda: S.CosineScheduler(12, 0.8, 0.1),
    "cosine_linear": lambda: S.CosineScheduler(12, 0.8, 0.1, *LINEAR),
    "cosine_constant": lambda: S.CosineScheduler(12, 0.8, 0.1, *CONSTANT),
}


def initialised(initializer, shape):
    array = mx.nd.ones(shape)
    initializer._init_weight(mx.init.InitDesc("w_weight", global_init=mx.init.One()), array)
    return array.asnumpy().ravel()


def main(out):
    for name, make in SCHEDULES.items():
        schedule = make()
        out.write("%s %s\n" % (name, " ".join("%.12g" % schedule(t) for t in range(1, 16))))
    for shape in [(1, 1, 4, 4), (2, 1, 3, 5), (1, 2, 5, 3)]:
        out.write("bilinear_%dx%dx%dx%d %s\n" % (*shape, " ".join("%.8g" % x for x in initialised(mx.init.Bilinear(), shape))))
    out.write("lstmbias %s\n" % " ".join("%g" % x for x in initialised(mx.init.LSTMBias(1.5), (12,))))
    for mode, both in [("lstm", False), ("lstm", True), ("gru", True), ("rnn_tanh", False)]:
        gates = {"lstm": 4, "gru": 3, "rnn_tanh": 1}[mode]
        directions, hidden, inputs = 1 + both, 2, 3
        size = sum(directions * gates * hidden * ((hidden * directions if layer else inputs) + hidden + 2) for layer in range(2))
        rnn = mx.init.FusedRNN(None, hidden, 2, mode, both, 1.5)
        out.write("fusedrnn_%s_%d %s\n" % (mode, both, " ".join("%g" % x for x in initialised(rnn, (size,)))))


with open(sys.argv[1], "w") as file:
    main(file)
