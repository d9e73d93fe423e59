# SPDX-License-Identifier: Apache-2.0
"""Iterators and record files: what each batch holds, and the files that one side writes and the other reads."""
import os
import struct
import tempfile

import mxnet as mx
import numpy as np

from common import random, report


def show(name, iterator, epochs=2):
    for epoch in range(epochs):
        for i, batch in enumerate(iterator):
            data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
            weights = np.arange(data.size).reshape(data.shape) % 7
            report("%s.%d.%d.data" % (name, epoch, i), (data * weights).sum())
            report("%s.%d.%d.label" % (name, epoch, i), label.sum())
            report("%s.%d.%d.pad" % (name, epoch, i), batch.pad)
        iterator.reset()
    report(name + ".axes", iterator.provide_data[0][1][-1])


with tempfile.TemporaryDirectory() as folder:
    rng = random("io")
    csv, csv_label = os.path.join(folder, "data.csv"), os.path.join(folder, "label.csv")
    np.savetxt(csv, rng.standard_normal((10, 6)), delimiter=",")
    np.savetxt(csv_label, np.arange(10), delimiter=",")
    show("csv", mx.io.CSVIter(data_csv=csv, data_shape=(2, 3), label_csv=csv_label, batch_size=5))
    show("round", mx.io.CSVIter(data_csv=csv, data_shape=(6,), batch_size=4, round_batch=True))

    images, labels = os.path.join(folder, "images"), os.path.join(folder, "labels")
    with open(images, "wb") as file:
        file.write(struct.pack(">iiii", 0x803, 23, 5, 4) + bytes(rng.randint(0, 256, 23 * 20).astype("uint8")))
    with open(labels, "wb") as file:
        file.write(struct.pack(">ii", 0x801, 23) + bytes(rng.randint(0, 10, 23).astype("uint8")))
    for flat in (False, True):
        show("mnist%d" % flat, mx.io.MNISTIter(image=images, label=labels, batch_size=5, shuffle=False, flat=flat,
                                               silent=True))

    records = os.path.join(folder, "some.rec")
    texts = [b"", b"a", b"record", struct.pack("<I", 0xced7230a) * 3, bytes(bytearray(range(256)))]
    writer = mx.recordio.MXIndexedRecordIO(records + ".idx", records, "w")
    for i, text in enumerate(texts):
        writer.write_idx(i, text)
    writer.close()
    reader = mx.recordio.MXRecordIO(records, "r")
    for i in range(len(texts)):
        report("record%d" % i, sum(bytearray(reader.read())) + i)
    report("end", reader.read() is None)
    indexed = mx.recordio.MXIndexedRecordIO(records + ".idx", records, "r")
    for i in (3, 1, 4):
        report("indexed%d" % i, len(indexed.read_idx(i)))
    report("bytes", os.path.getsize(records))

    packed = mx.recordio.pack(mx.recordio.IRHeader(0, [1.0, 2.0], 7, 0), b"image")
    header, content = mx.recordio.unpack(packed)
    report("header", header.label.sum() + header.id + len(content))

data, labels = random("array").standard_normal((11, 3)), np.arange(11)
for handling in ("pad", "discard"):
    show("array." + handling, mx.io.NDArrayIter(data, labels, 4, last_batch_handle=handling))
show("resized", mx.io.ResizeIter(mx.io.NDArrayIter(data[:8], labels[:8], 4), 3))
show("prefetched", mx.io.PrefetchingIter(mx.io.NDArrayIter(data[:8], labels[:8], 4)))
