# SPDX-License-Identifier: Apache-2.0
"""One row of bench/compare on one library, in a process of its own.

    worker.py LIBRARY OPTION ROW THREADS DIRECTORY

DIRECTORY has the row's parameters and input. Prints a line of JSON after the first call, another one when the results that
are compared are written, and then one for each line "run SECONDS" that it reads: the time of each call. libmxc's option
"prepare" only writes files.
"""
import importlib
import json
import os
import sys
import time

import numpy as np

import rows
from runner import result_path

WARM = 4  # calls before measuring; their losses or outputs are compared


def measure(step, seconds):
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


def peak():
    """MiB that the process has occupied at most; ru_maxrss has the parent's, too."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024


def main():
    library, option, name, threads, directory = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w")  # libraries print to stdout
    os.dup2(2, 1)

    def tell(**what):
        out.write(json.dumps(what) + "\n")
        out.flush()

    run = importlib.import_module("run_" + library)
    runner = run.make(rows.find(name), option, int(threads), directory)
    if runner is None:  # libmxc has prepared files
        return
    results = [runner.outcome(runner.step())]
    tell(version=run.VERSION)
    results += [runner.outcome(runner.step()) for _ in range(WARM - 1)]
    np.save(result_path(directory, name, library, option), np.stack(results))
    tell(saved=True)
    for line in sys.stdin:
        times = measure(runner.step, float(line.split()[1]))
        tell(times=times, peak=peak())


if __name__ == "__main__":
    main()
