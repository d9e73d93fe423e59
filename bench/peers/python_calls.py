# SPDX-License-Identifier: Apache-2.0
"""Time of small calls from Python, arrays of 4 elements: mxc, and NumPy and PyTorch where they are installed.

PYTHONPATH=python chrt -f 20 taskset -c 1 python3 bench/peers/python_calls.py"""

import importlib
import time


def measure(name, call, calls=100000, repeats=9):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    print(f"{name:<40} {best * 1e6:5.2f} us")


for module, make in (("mxc", "array"), ("numpy", "array"), ("torch", "tensor")):
    try:
        library = importlib.import_module(module)
    except ImportError:
        continue
    a, b = (getattr(library, make)([1.0, 2.0, 3.0, 4.0]) for _ in range(2))
    measure(f"{module}: a + b", lambda: a + b)
    measure(f"{module}: a + 1.0", lambda: a + 1.0)
    measure(f"{module}: a[1:3]", lambda: a[1:3])
    if module == "mxc":
        measure("mxc.op.elemwise_add(a, b)", lambda: library.op.elemwise_add(a, b))
        measure("a.asnumpy()", a.asnumpy)
