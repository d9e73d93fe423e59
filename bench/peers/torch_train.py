#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of one training step in PyTorch on the CPU, for the networks of bench_train: LeNet and an MLP, batch 64.

Prints one table of medians. The fastest of contiguous and channels-last memory is reported, with 1 and 2 threads:
    for t in 1 2; do OMP_NUM_THREADS=$t OPENBLAS_NUM_THREADS=$t python3 bench/peers/torch_train.py; done
Needs PyTorch: python3-torch of Debian, or pip's.
"""
import os
import statistics
import time

import torch
from torch import nn


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, 10))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
                         nn.Linear(64, 10))


def step_ms(make, channels_last, seconds=4.0):
    torch.manual_seed(0)
    net = make()
    data = torch.rand(64, 1, 28, 28)
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
        data = data.contiguous(memory_format=torch.channels_last)
    label = torch.randint(0, 10, (64,))
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        optimizer.zero_grad()
        loss(net(data), label).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[len(times) // 10:])


def main():
    threads = int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads()))
    torch.set_num_threads(threads)
    print(f"PyTorch {torch.__version__}, {threads} threads: ms per training step, batch 64")
    print(f"{'network':<10}{'contiguous':>12}{'channels last':>15}{'best':>9}")
    for name, make in (("mlp", mlp), ("lenet", lenet)):
        plain, last = step_ms(make, False), step_ms(make, True)
        print(f"{name:<10}{plain:>12.3f}{last:>15.3f}{min(plain, last):>9.3f}")


if __name__ == "__main__":
    main()
