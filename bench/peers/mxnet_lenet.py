#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time Module.fit of LeNet through MXNet's Python front end, on MXNet's library and on libmxc's, alternating.

    mxnet_lenet.py PYTHON LIBRARY [--rounds N] [--batch N]

PYTHON has MXNet's package; LIBRARY is the path of libmxnet.so. Each round trains one epoch after a first one that is
not timed. Prints images per second, the median of all rounds, and the ratio.
"""
import argparse
import os
import statistics
import subprocess
import sys

TRAIN = '''
import sys, time
import numpy as np
import mxnet as mx

batch, n = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.RandomState(0)
data = mx.io.NDArrayIter(rng.rand(n, 1, 28, 28).astype("f"), rng.randint(0, 10, n).astype("f"), batch)
net = mx.sym.Variable("data")
for i, filters in enumerate((20, 50)):
    net = mx.sym.Convolution(net, kernel=(5, 5), num_filter=filters)
    net = mx.sym.Activation(net, act_type="tanh")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2))
net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=500)
net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=10)
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
times = [time.perf_counter()]
module.fit(data, num_epoch=3, optimizer_params=(("learning_rate", 0.05), ("momentum", 0.9)),
           initializer=mx.init.Xavier(), epoch_end_callback=lambda *_: times.append(time.perf_counter()))
print(n / min(b - a for a, b in zip(times[1:], times[2:])))
'''


def run(options, library):
    env = dict(os.environ)
    env.pop("MXNET_LIBRARY_PATH", None)
    if library:
        env["MXNET_LIBRARY_PATH"] = os.path.abspath(library)
    out = subprocess.run([options.python, "-W", "ignore", "-c", TRAIN, str(options.batch), str(options.images)], env=env,
                         stdout=subprocess.PIPE, check=True, text=True, cwd="/")
    return float(out.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--images", type=int, default=6400)
    options = parser.parse_args()
    speeds = {"MXNet": [], "libmxc": []}
    for _ in range(options.rounds):
        speeds["MXNet"].append(run(options, None))
        speeds["libmxc"].append(run(options, options.library))
    for name in speeds:
        print("%-7s %8.0f images/s" % (name, statistics.median(speeds[name])))
    print("ratio   %8.2f" % (statistics.median(speeds["libmxc"]) / statistics.median(speeds["MXNet"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
