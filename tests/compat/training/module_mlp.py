# SPDX-License-Identifier: Apache-2.0
"""Module with a multilayer perceptron: training step by step, saving, loading, prediction and scores."""
import os
import tempfile

import mxnet as mx
import numpy as np

from common import Seeded, blobs, mlp, report, report_params, train_module

data, labels = blobs(200, 10, 4)
module = mx.mod.Module(mlp(4))
train_module("mlp", module, data, labels, 25, 24, params={"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-3})

iterator = mx.io.NDArrayIter(data, labels, 30)  # does not divide 200: the last batch is padded
report("predicted", module.predict(iterator).asnumpy().sum())
report("rows", module.predict(iterator).shape[0])
report("accuracy", dict(module.score(iterator, "acc"))["accuracy"])
report("top2", dict(module.score(iterator, mx.metric.create("top_k_accuracy", top_k=2))).popitem()[1])
report("loss", dict(module.score(iterator, "ce"))["cross-entropy"])

with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "net")
    module.save_checkpoint(prefix, 3)
    symbol, args, states = mx.model.load_checkpoint(prefix, 3)
    report_params("loaded", args, states)
    again = mx.mod.Module.load(prefix, 3)
    again.bind(iterator.provide_data, iterator.provide_label, for_training=False)
    report("loaded.accuracy", dict(again.score(iterator, "acc"))["accuracy"])

# fit, with a metric of one's own and a callback after each batch
seen = []
fitted = mx.mod.Module(mlp(4, "tanh"))
metric = mx.metric.np(lambda label, prediction: float((prediction.argmax(1) == label).mean()), name="mine")
fitted.fit(mx.io.NDArrayIter(data, labels, 20), eval_data=mx.io.NDArrayIter(data, labels, 40), num_epoch=3,
           eval_metric=metric, initializer=Seeded(), optimizer_params=(("learning_rate", 0.1),),
           batch_end_callback=lambda param: seen.append(param.nbatch),
           eval_end_callback=lambda param: report("fit.eval%d" % param.epoch, param.eval_metric.get()[1]))
report("fit.batches", len(seen))
report_params("fit", *fitted.get_params())
internals = mlp(4).get_internals()
report("inner", mx.mod.Module(internals["act1_output"], label_names=None) is not None)
report("inputs", np.prod(mlp(4).infer_shape(data=(7, 10))[0][1]))
