#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet or an MLP on MNIST or Fashion-MNIST with mxc.fit, and classifies images with the saved model.

train_mnist.py --data /usr/share/datasets/fashion-mnist --network lenet --epochs 5 --checkpoint net"""

from __future__ import annotations

import argparse
import os

import mxc
from mxc import DataIter, Symbol, op


def mlp() -> Symbol:
    net = op.Flatten(mxc.var("data"))
    for i, width in enumerate((128, 64)):
        net = op.FullyConnected(net, num_hidden=width, name=f"fc{i + 1}")
        net = op.Activation(net, act_type="relu")
    return op.SoftmaxOutput(op.FullyConnected(net, num_hidden=10, name="fc3"), name="softmax")


def lenet() -> Symbol:
    net = mxc.var("data")
    for i, filters in enumerate((20, 50)):
        net = op.Convolution(net, kernel=(5, 5), num_filter=filters, name=f"conv{i + 1}")
        net = op.Pooling(op.Activation(net, act_type="tanh"), pool_type="max", kernel=(2, 2), stride=(2, 2))
    net = op.Activation(op.FullyConnected(net, num_hidden=500, name="fc1"), act_type="tanh")
    return op.SoftmaxOutput(op.FullyConnected(net, num_hidden=10, name="fc2"), name="softmax")


def images(folder: str, kind: str, batch_size: int) -> DataIter:
    files = [os.path.join(folder, f"{kind}-{part}-ubyte.gz") for part in ("images-idx3", "labels-idx1")]
    return DataIter("MNISTIter", image=files[0], label=files[1], batch_size=batch_size, shuffle=kind == "train")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder with the four .gz files")
    parser.add_argument("--network", choices=("mlp", "lenet"), default="mlp")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--batches", type=int, help="train so many batches per epoch instead of all")
    parser.add_argument("--checkpoint", help="prefix of the files of the model")
    parser.add_argument("--bar", action="store_true", help="show a tqdm bar")
    args = parser.parse_args()

    train, test = images(args.data, "train", args.batch_size), images(args.data, "t10k", args.batch_size)
    if args.batches:
        train = train.resize(args.batches)
    options = {"checkpoint": args.checkpoint, "overwrite": True} if args.checkpoint else {}
    net = mlp() if args.network == "mlp" else lenet()
    result = mxc.fit(net, train, test, epochs=args.epochs, learning_rate=0.1, optimizer_params={"momentum": 0.9},
                     progress_bar=args.bar, **options)
    print(f"Test accuracy {100 * result.progress.valid_accuracy:.1f} % after {result.progress.updates} updates")

    predictor = mxc.Predictor.create(net, result.params, {"data": (1, 1, 28, 28)})
    test.reset()
    batch = next(test)
    predictor.forward(batch.data[0][0:1])
    for number, score in mxc.top_classes(predictor.outputs[0], 3):
        print(f"class {number}: {score:.3f}")
    print(f"label {int(batch.label[0][0])}")


if __name__ == "__main__":
    main()
