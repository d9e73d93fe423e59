#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of bench_gpu in PyTorch, on the first GPU: bytes moved by element-wise operators and reductions on arrays of
256 MiB, with a copy on the GPU as the baseline; matrix products; a training step of LeNet, eager and compiled.

torch_gpu.py [--quick | --describe]. --describe prints versions and the GPU's properties, and measures nothing.
"""
import statistics
import sys
import time

import torch
from torch import nn


def describe():
    print("PyTorch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN", torch.backends.cudnn.version())
    if torch.cuda.is_available():
        print(torch.cuda.get_device_properties(0))


def seconds_of(call, quick):
    """Median of samples of about 20 ms, each queued at once and waited for once."""
    def sample(calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    sample(3)
    calls = 1 if quick else int(0.02 / sample(3)) + 1
    return statistics.median(sample(calls) for _ in range(11))


def print_rows(quick):
    size = (1 << 16) if quick else (256 << 20)
    print(f"{'64 KiB' if quick else '256 MiB':<24}{'GB/s':>10}{'of copy':>9}")
    copy = None
    for dtype, short in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        n = size // dtype.itemsize
        a, b = torch.rand(n, device="cuda").to(dtype), torch.rand(n, device="cuda").to(dtype)
        to = torch.empty_like(a)
        rows, wide = a.view(-1, 1024), a.view(-1, 8192)
        for name, moves, call in (
                ("copy", 2, lambda: to.copy_(a)), ("relu", 2, lambda: torch.relu(a)), ("exp", 2, lambda: torch.exp(a)),
                ("gelu", 2, lambda: nn.functional.gelu(a)), ("a + b", 3, lambda: a + b), ("a + 1", 2, lambda: a + 1),
                ("sum, all", 1, lambda: a.sum()), ("sum, last axis", 1, lambda: rows.sum(1)),
                ("sum, first axis", 1, lambda: rows.sum(0)), ("max, last axis", 1, lambda: rows.amax(1)),
                ("softmax, last axis", 2, lambda: torch.softmax(rows, 1)),
                ("transpose", 2, lambda: wide.t().contiguous())):
            rate = moves * size / seconds_of(call, quick) * 1e-9
            copy = copy or rate
            print(f"{name + ' ' + short:<24}{rate:>10.1f}{100 * rate / copy:>8.0f}%")


def print_products(quick):
    print(f"\n{'dot':<24}{'size':>10}{'TFLOP/s':>10}")
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        n = 32 if quick else 1024
        while n <= (32 if quick else 8192):
            a, b = (torch.rand(n, n, device="cuda").to(dtype) for _ in range(2))
            print(f"{str(dtype)[6:]:<24}{n:>10}{2e-12 * n ** 3 / seconds_of(lambda: a @ b, quick):>10.1f}")
            n *= 2


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, 10))


def print_training(quick):
    data, label = torch.rand(64, 1, 28, 28, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    for way in ("eager",) if quick else ("eager", "compiled"):
        torch.cuda.reset_peak_memory_stats()
        net = lenet().cuda()
        run = net if way == "eager" else torch.compile(net, mode="reduce-overhead")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

        def step():
            optimizer.zero_grad()
            nn.functional.cross_entropy(run(data), label).backward()
            optimizer.step()

        seconds = seconds_of(step, quick)
        print(f"\nLeNet, batch 64, {way}: {1e3 * seconds:.3f} ms a training step, {64 / seconds:.0f} images/s, "
              f"{torch.cuda.max_memory_allocated() >> 20} MiB at most", flush=True)


def main():
    describe()
    if "--describe" in sys.argv:
        return
    print_rows("--quick" in sys.argv)
    print_products("--quick" in sys.argv)
    print_training("--quick" in sys.argv)


if __name__ == "__main__":
    main()
