# SPDX-License-Identifier: Apache-2.0
"""BucketingModule with an unrolled LSTM that predicts the next token; perplexity without padding."""
import mxnet as mx
import numpy as np

from common import Seeded, random, report, report_params

BUCKETS, VOCABULARY, BATCH = [5, 8], 12, 8
rng = random("sentences")
sentences = []
for _ in range(64):
    start, step = rng.randint(1, VOCABULARY), rng.randint(1, 4)
    sentences.append([1 + (start + step * i) % (VOCABULARY - 1) for i in range(rng.choice(BUCKETS))])

np.random.seed(1)
import random as python_random
python_random.seed(1)
iterator = mx.rnn.BucketSentenceIter(sentences, BATCH, buckets=BUCKETS, invalid_label=0)
stack = mx.rnn.SequentialRNNCell()
stack.add(mx.rnn.LSTMCell(num_hidden=16, prefix="lstm0_"))
stack.add(mx.rnn.GRUCell(num_hidden=16, prefix="gru1_"))


def generate(length):
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embedded = mx.sym.Embedding(data, input_dim=VOCABULARY, output_dim=10, name="embed")
    stack.reset()
    outputs, _ = stack.unroll(length, inputs=embedded, merge_outputs=True)
    flat = mx.sym.Reshape(outputs, shape=(-1, 16))
    logits = mx.sym.FullyConnected(flat, num_hidden=VOCABULARY, name="pred")
    labels = mx.sym.Reshape(label, shape=(-1,))
    return mx.sym.SoftmaxOutput(logits, labels, name="softmax"), ("data",), ("softmax_label",)


module = mx.mod.BucketingModule(generate, default_bucket_key=iterator.default_bucket_key)
module.bind(iterator.provide_data, iterator.provide_label)
module.init_params(Seeded())
module.init_optimizer(kvstore=None, optimizer="adam", optimizer_params={"learning_rate": 0.02})
metric = mx.metric.Perplexity(0)
for epoch in range(4):
    iterator.reset()
    metric.reset()
    for i, batch in enumerate(iterator):
        module.forward(batch)
        module.update_metric(metric, batch.label)
        module.backward()
        module.update()
        report("lstm.%d.%d.length" % (epoch, i), batch.bucket_key)
        report("lstm.%d.%d.perplexity" % (epoch, i), metric.get()[1])
report_params("lstm", *module.get_params())
