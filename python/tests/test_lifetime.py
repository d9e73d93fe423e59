# SPDX-License-Identifier: Apache-2.0
"""Threads, processes, signals, releases, and the end of the interpreter."""

import concurrent.futures
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxc
from conftest import run_python
from mxc._api import _objects, ffi, lib

PRELOADED = os.environ.get("LD_PRELOAD", "")
unless_thread = pytest.mark.skipif("libtsan" in PRELOADED,
                                   reason="the thread sanitizer cannot follow children that start threads")


def in_use():
    stats = ffi.new("mxc_storage_stats *")
    mxc.waitall()
    assert lib.mxc_storage_get_stats_on(1, 0, stats) == 0
    return stats.bytes_in_use


def test_released_at_once():
    """Without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        before, objects = in_use(), len(_objects)
        for _ in range(3):
            a = mxc.ones((256, 256))
            a.attach_grad()
            with mxc.record():
                b = (a * 2 + a[3:5].sum()).sum()
            b.backward()
            view = np.asarray(a)
            shared = mxc.from_dlpack(np.ones((256, 256), "float32"))
            executor = (mxc.var("x") * 2).simple_bind(x=(256, 256))
            executor.set_monitor(lambda name, array: None)
            executor.forward()
            batches = mxc.DataIter.from_python([mxc.ones((256, 256))]).prefetch()
            next(batches)
            capsule = a.__dlpack__()
            del a, b, view, shared, executor, batches, capsule
        assert in_use() < before + 4096  # scratch memory of threads; each array has 256 KiB
        assert len(_objects) <= objects + 3  # a monitor is kept until another is set
    finally:
        gc.enable()


QUEUED = """
import mxc, numpy as np
a = mxc.array(np.eye(120) * 3 + np.random.rand(120, 120) * .1)
b = mxc.ones((200, 200))
for _ in range(20):
    c, d = mxc.op.linalg_inverse(a), b.dot(b)
"""


def test_exit_with_work_queued():
    """LAPACK on a worker, while exit() tears libraries down, is what crashes without the wait at exit."""
    programs = [QUEUED, QUEUED + "import atexit; atexit.unregister(mxc._api._end)"]
    times = 3 if "san.so" in PRELOADED else 15  # a sanitizer is slow, and sees it at once
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(run_python, programs * times))


def test_exit_with_callbacks():
    """Threads of the library that call Python when the interpreter ends; and objects that outlive the package."""
    run_python("""
import mxc, numpy as np, threading, time
class Source:
    def __iter__(self):
        while True:
            yield np.zeros((2, 2), "float32")
batches = mxc.DataIter.from_python(Source()).prefetch(3)
next(batches)
executor = (mxc.var("x") * 2).simple_bind(x=(2, 2))
executor.set_monitor(lambda name, array: time.sleep(0.01))
for _ in range(5):
    executor.forward()
class Late:
    def __init__(self): self.array = mxc.ones(3); self.view = np.asarray(self.array)
    def __del__(self): self.array
keep = Late(); keep.me = keep; capsule = mxc.ones(2).__dlpack__()
mxc.late = keep
def spin():
    while True: mxc.ones(10) + 1
threading.Thread(target=spin, daemon=True).start()
""")
    done = subprocess.run([sys.executable, "-c", "import mxc; a = mxc.op.take(mxc.ones(2), mxc.array([7]), mode='raise')"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "mxc: at exit" in done.stderr
    assert run_python("import mxc, sys; mxc.ones(2); print('fine'); sys.exit(0)") == "fine\n"


def test_interrupt_of_a_wait():
    """Ctrl-C reaches Python while the main thread waits for work of the library."""
    program = """
import mxc, sys, threading, time
executor = (mxc.var("x") * 2).simple_bind(x=(2,))
entered = threading.Event()
def slow(name, array):
    print("in", flush=True)
    time.sleep(WAIT)
executor.set_monitor(slow)
out = executor.forward()[0]
try:
    CALL
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    import os; os._exit(0)
"""

    def interrupt(call):
        process = subprocess.Popen([sys.executable, "-c", program.replace("CALL", call).replace("WAIT", "30")],
                                   stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout.readline() == "in\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n", call
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.wait()
    calls = "out.asnumpy()", "mxc.waitall()", "out.wait_to_read()", "out.wait_to_write()", "print(out)"
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        list(pool.map(interrupt, calls))


def test_threads():
    """16 threads with arrays, gradients, executors and predictors at once."""
    net = mxc.op.SoftmaxOutput(mxc.op.FullyConnected(mxc.var("data"), num_hidden=3, name="fc"), name="softmax")
    params = {"arg:fc_weight": mxc.ones((3, 4)), "arg:fc_bias": mxc.zeros(3)}
    predictor = mxc.Predictor.create(net, params, {"data": (2, 4)})
    shared, failures = mxc.ones(8), []

    def work(number):
        try:
            mine = predictor.clone()
            x = mxc.full(8, number)
            x.attach_grad()
            for i in range(15):
                with mxc.record():
                    y = (x * x * shared).sum() if i % 2 else (x[2:6] * 3).sum()
                assert mxc.is_recording() is False
                y.backward()
                assert x.grad[3].item() == (2 * number if i % 2 else 3)
                assert mine(np.full((2, 4), number, "float32")).shape == (2, 3)
                assert (shared + number)[0].item() == 1 + number
                assert np.from_dlpack(shared).sum() == 8
                executor = net.simple_bind(data=(2, 4))
                executor.forward(is_train=True)
                executor.backward()
        except BaseException as problem:
            failures.append(problem)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert not failures


def in_child(array):
    """The child of a pool computes with what it is sent, and with what it makes."""
    assert mxc.ones(3).sum().item() == 3
    with mxc.record():
        array.attach_grad()
        out = (array * array).sum()
    out.backward()
    return array.grad * 2


@pytest.mark.parametrize("method", [pytest.param("fork", marks=unless_thread), "spawn"])
def test_processes(method):
    queued = [mxc.ones((200, 200)).dot(mxc.ones((200, 200))) for _ in range(5)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map(in_child, [mxc.array([1, 2]), mxc.array([3, 4])])
    assert [result.tolist() for result in results] == [[4, 8], [12, 16]]
    assert queued[-1][0, 0].item() == 200


@unless_thread
def test_fork_with_callbacks():
    """fork() waits for running functions, with the GIL that a callback of theirs needs."""
    executor = (mxc.var("x") * 2).simple_bind(x=(2,))
    executor.set_monitor(lambda name, array: time.sleep(0.02))

    class Source:
        def __iter__(self):
            for i in range(200):
                time.sleep(0.001)
                yield np.full((2, 2), i, "float32")
    batches = mxc.DataIter.from_python(Source()).prefetch(2)
    for _ in range(5):
        next(batches)
        executor.forward()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            os._exit(0 if mxc.ones(2).sum().item() == 2 else 1)
        assert os.waitpid(pid, 0)[1] == 0
    batches.close()
    executor.set_monitor(None)


def test_interrupt_of_fit():
    program = """
import mxc, numpy as np
net = mxc.op.SoftmaxOutput(mxc.op.FullyConnected(mxc.var("data"), num_hidden=3), name="softmax")
def ready(progress, end):
    if progress.updates == 3: print("ready", flush=True)
try:
    mxc.fit(net, (np.zeros((64, 4), "float32"), np.zeros(64, "float32")), epochs=10**6, callbacks=[ready])
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted\n" and process.returncode == 0
