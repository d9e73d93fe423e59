# SPDX-License-Identifier: Apache-2.0
"""What the libraries' programs (run_*.py) share: the files of a row, and the results that are compared."""
import os

import numpy as np

import rows


def result_path(directory, row, library, option):
    return os.path.join(directory, "-".join(part.replace(" ", "_") for part in (row, library, option)) + ".npy")


class Files:
    """The parameters, which are read when they are asked for, the inputs and the labels of a row."""

    def __init__(self, row, directory):
        self.file = np.load(os.path.join(directory, row.name + ".npz"))
        self.inputs = {name: self.file[name] for name in rows.inputs_of(row)}
        self.label = self.file["label"] if "label" in self.file else None
        self.data = self.inputs["data"]
        self.caches = [array for name, array in self.inputs.items() if name != "data"]
        self.names = [name for name in self.file.files if name not in self.inputs and name != "label"]

    def __getitem__(self, name):
        return self.file[name]


class Runner:
    """step() runs once: a training step, or an inference from a NumPy array to a NumPy array, which it returns. outcome is
    the array that is compared, of what step() has returned."""

    def __init__(self, step, outcome=np.array):
        self.step, self.outcome = step, outcome


def cross_entropy(probabilities, label):
    return -np.log(probabilities[np.arange(len(label)), label.astype(int)]).mean()


class Text:
    """Steps of generate(), which keep the last keys and values in the caches: each replaces the oldest ones.

    run() returns the outputs as NumPy arrays; caches are the arrays that it reads.
    """

    def __init__(self, run, caches):
        self.run, self.caches, self.n = run, caches, 0

    def step(self):
        scores, *new = self.run()
        for cache, row in zip(self.caches, new):
            cache[:, :, self.n % cache.shape[2]] = row[:, :, 0]
        self.n += 1
        return scores
