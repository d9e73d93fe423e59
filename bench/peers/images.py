#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Image records into batches in other libraries, beside ours and libturbojpeg alone: decode, random crop 224, mirror,
normalise, from the JPEGs of 480 pixels a side that bench_image makes.

    python3 bench/peers/images.py build/release/bench/bench_image [ROUNDS]

All in turn, again and again, on one file; prints a table of medians: images a second of processor time (of all threads
of the program), the share of libturbojpeg's, and images a second. Needs numpy and Pillow; mxnet 1.9.1 where it is there.
"""
import io
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

try:
    import mxnet
except ImportError:
    mxnet = None

SIDE, CROP, BATCH, BATCHES = 480, 224, 32, 8
MEAN, STD = np.array([123.68, 0, 0], np.float32), np.array([58.4, 1, 1], np.float32)


def read_jpegs(path):
    """The images of a record file: each record is magic, length, a head of 24 bytes, the image, filled up to 4 bytes."""
    with open(path, "rb") as file:
        data = file.read()
    at, images = 0, []
    while at < len(data):
        _, length = struct.unpack_from("<II", data, at)
        images.append(data[at + 8 + 24:at + 8 + length])
        at += 8 + (length + 3) // 4 * 4
    return images


def pillow_batch(images, numbers, out):
    for row, number in enumerate(numbers):
        image = Image.open(io.BytesIO(images[number])).convert("RGB")
        x, y = random.randint(0, SIDE - CROP), random.randint(0, SIDE - CROP)
        image = image.crop((x, y, x + CROP, y + CROP))
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        out[row] = ((np.asarray(image, np.float32) - MEAN) / STD).transpose(2, 0, 1)


def rates(take_batch):
    """Images a second of processor time and of wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(BATCHES):
        take_batch()
    n = BATCH * BATCHES
    return n / (time.process_time() - cpu), n / (time.perf_counter() - wall)


def measure_pillow(path):
    images, out = read_jpegs(path), np.empty((BATCH, 3, CROP, CROP), np.float32)
    return rates(lambda: pillow_batch(images, random.sample(range(len(images)), BATCH), out))


def measure_mxnet(path, threads):
    batches = mxnet.io.ImageRecordIter(path_imgrec=path, data_shape=(3, CROP, CROP), batch_size=BATCH, shuffle=True,
                                       rand_crop=True, rand_mirror=True, mean_r=123.68, std_r=58.4, prefetch_buffer=4,
                                       preprocess_threads=threads, verbose=False)

    def take():
        try:
            batch = batches.next()
        except StopIteration:
            batches.reset()
            batch = batches.next()
        batch.data[0].wait_to_read()

    for _ in range(6):  # threads and memory are there, and batches ahead
        take()
    return rates(take)


def measure_ours(bench, path):
    lines = subprocess.run([bench, "--once", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (float(cpu), float(wall)) for name, cpu, wall in (line.split("\t") for line in lines)}


def one_round(bench, path):
    found = measure_ours(bench, path)
    found["Pillow and numpy, 1 thread"] = measure_pillow(path)
    if mxnet:
        for threads in (1, 2):
            found[f"mxnet {mxnet.__version__} ImageRecordIter, {threads} thread{'s' * (threads > 1)}"] = measure_mxnet(path, threads)
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "images.rec")
        subprocess.run([sys.argv[1], "--make", path], check=True)
        rounds = [one_round(sys.argv[1], path) for _ in range(int(sys.argv[2]) if len(sys.argv) == 3 else 5)]
    print(f"{'':44} {'images/CPU':>10} {'of alone':>8} {'images/s':>10}")
    alone = None
    for name in rounds[0]:
        cpu, wall = (statistics.median(r[name][i] for r in rounds) for i in (0, 1))
        alone = alone or cpu
        print(f"{name:44} {cpu:10.0f} {cpu / alone:8.2f} {wall:10.0f}")


if __name__ == "__main__":
    main()
