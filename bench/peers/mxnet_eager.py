#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time calls on small arrays from MXNet's Python front end, on MXNet's library and on libmxc's, by turns.

    mxnet_eager.py PYTHON LIBRARY [ROUNDS]

PYTHON has MXNet 1.9.1; LIBRARY is the path of libmxnet.so. Prints the processor time of a call, of all threads together, as
the median of the rounds, each the best of five. Elapsed time says little about calls of some microseconds where other
programs run.
"""
import os
import statistics
import subprocess
import sys

CALLS = ["a + b", "a * 2", "mx.nd.exp(a)", "a.reshape((100,))"]
PROGRAM = """
import os, sys, time
import mxnet as mx
wanted = os.environ.get("MXNET_LIBRARY_PATH")
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libmxnet.so" in line}
if wanted and loaded != {os.path.realpath(wanted)}:
    sys.exit("expected the library %s, found %s" % (wanted, loaded))
a, b = mx.nd.ones((10, 10)), mx.nd.ones((10, 10))
for call in sys.argv[1:]:
    code, best = compile(call, "call", "eval"), 1e9
    for _ in range(5):
        mx.nd.waitall()
        start = time.process_time()
        for _ in range(3000):
            eval(code)
        mx.nd.waitall()
        best = min(best, (time.process_time() - start) / 3000)
    print(best * 1e6)
"""


def measure(python, library):
    env = {name: value for name, value in os.environ.items() if name != "MXNET_LIBRARY_PATH"}
    if library:
        env["MXNET_LIBRARY_PATH"] = os.path.realpath(library)
    done = subprocess.run([python, "-W", "ignore", "-c", PROGRAM] + CALLS, env=env, stdout=subprocess.PIPE, check=True)
    return [float(line) for line in done.stdout.split()]


def main():
    python, library, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if not os.path.isfile(library):
        sys.exit("no library %s" % library)
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(measure(python, None))
        ours.append(measure(python, library))
    for i, call in enumerate(CALLS):
        pairs = [statistics.median(times[i] for times in side) for side in (ours, theirs)]
        ranges = ["%.1f to %.1f" % (min(t[i] for t in side), max(t[i] for t in side)) for side in (ours, theirs)]
        print("%-18s libmxc %5.1f us (%s), MXNet %5.1f us (%s)" % (call, pairs[0], ranges[0], pairs[1], ranges[1]))


if __name__ == "__main__":
    main()
