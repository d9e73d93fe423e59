# SPDX-License-Identifier: Apache-2.0
"""Gluon of MXNet 1.9.1's front end: layers with and without hybridize, training, files, data."""
import os
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

from front import close, main


def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(),
            nn.Conv2D(8, 3, groups=2, in_channels=8), nn.LeakyReLU(.1), nn.GlobalAvgPool2D(), nn.Dense(5))
    return net


def fill(net):
    numbers = np.random.RandomState(0)
    for name, param in net.collect_params().items():
        values = numbers.uniform(-.3, .3, param.shape)
        param.set_data(nd.array(np.abs(values) + .5 if name.endswith(("gamma", "running_var")) else values))


def images(n=4):
    return nd.array(np.random.RandomState(1).rand(n, 3, 12, 12))


def test_training_is_the_same_hybridized():
    losses = []
    for flags in [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}]:
        net = network()
        net.initialize()
        net(images())
        fill(net)
        if flags is not None:
            net.hybridize(**flags)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": .1, "momentum": .9, "wd": 1e-3})
        loss, losses_here = gluon.loss.SoftmaxCrossEntropyLoss(), []
        for _ in range(4):
            with autograd.record():
                found = loss(net(images()), nd.array([0, 1, 2, 3]))
            found.backward()
            trainer.step(4)
            losses_here.append(found.asnumpy())
        losses.append(losses_here)
    assert np.mean(losses[0][3]) < np.mean(losses[0][0])
    for other in losses[1:]:
        close(other, losses[0], 1e-4)


def test_names_that_hooks_see():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2), nn.Activation("relu"))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 3)))
    seen = []
    net.register_op_hook(lambda name, op, array: seen.append(name.decode()), monitor_all=True)
    net(nd.ones((1, 3)))
    assert seen == ["net_dense0_fwd_data", "net_dense0_fwd_weight", "net_dense0_fwd_bias", "net_dense0_fwd_output",
                    "net_relu0_fwd_input0", "net_relu0_fwd_output"], seen


def test_what_monitors_see():
    x = mx.sym.Variable("data")
    for i in range(2):
        x = mx.sym.FullyConnected(x, num_hidden=2, name="fc%d" % i)
        x = mx.sym.Activation(x, act_type="sigmoid", name="act%d" % i)
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(x, name="softmax"))
    module.bind([("data", (1, 2))], [("softmax_label", (1, 2))])
    module.init_params()
    monitor = mx.mon.Monitor(1, stat_func=lambda a: a.abs().sum() / a.size, sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(mx.io.DataBatch([nd.ones((1, 2))], [nd.ones((1, 2))]))
    names = [name for _, name, _ in monitor.toc()]
    assert [sum(n.startswith(key) for n in names) for key in ("act0", "act1", "data", "fc0", "fc1", "softmax")] == [2, 2, 1, 6, 6, 4]
    assert "act0_backward_output" in names and "fc0_backward_output2" in names


def test_monitor_all():
    act = mx.sym.Activation(mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn"), act_type="relu", name="act")
    executor, seen = act.simple_bind(mx.cpu(), data=(2, 3)), []

    def look(name, handle):
        array = nd.NDArray(mx.base.NDArrayHandle(handle), writable=False)
        seen.append((name.decode(), array.shape))

    executor.set_monitor_callback(look, monitor_all=True)
    executor.forward(is_train=True)
    names = ["data", "bn_data"] + [n for n in ("bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var") for _ in "12"]
    assert [n for n, _ in seen] == names + ["bn_output", "bn_mean", "bn_var", "act_input0", "act_output"], seen
    assert dict(seen)["bn_var"] == (3,)


def test_attributes_of_made_variables():
    x = mx.sym.Variable("x", attr={"mood": "angry"})
    y = mx.sym.Convolution(data=x, name="conv", kernel=(1, 1), num_filter=1, attr={"__mood__": "so so"})
    of_conv = {"kernel": "(1, 1)", "num_filter": "1", "__mood__": "so so"}
    assert y.attr_dict() == {"x": {"mood": "angry"}, "conv": of_conv, "conv_weight": of_conv, "conv_bias": of_conv}


def test_names_of_outputs():
    a = mx.sym.Variable("a")
    for made, names in [(mx.sym.moments(a, name="m"), ["m_output0", "m_output1"]),
                        (mx.sym.split(a, num_outputs=1, name="s"), ["s_output0"]),
                        (mx.sym.CTCLoss(a, mx.sym.Variable("b"), name="c"), ["c_output0"]),
                        (mx.sym.linalg.slogdet(a, name="l"), ["l_output0", "l_output1"])]:
        assert made.list_outputs() == names, made.list_outputs()


def test_shapes_that_are_partly_known():
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    assert mx.sym.broadcast_add(a, b).infer_shape_partial(a=(0, 3), b=(1, 3))[1] == [(0, 3)]
    cell = mx.sym.RNN(a, state_size=5, num_layers=1, mode="lstm", name="r")
    assert cell.infer_shape_partial(a=(3, 0, 4))[0][1] == (220,)


def test_operators_taken_off_their_inputs():
    a = mx.sym.Variable("a")
    layer = mx.sym.FullyConnected(a, num_hidden=3, name="fc")
    again = layer._gen_atomic_symbol()(mx.sym.Variable("b"), name="again")
    assert again.list_arguments() == ["b", "again_weight", "again_bias"]
    assert layer.optimize_for("MKLDNN").list_arguments() == layer.list_arguments()


def test_shapes_that_change():
    net = nn.Dense(2)
    net.initialize()
    net.hybridize()
    assert [net(nd.ones((n, 3))).shape for n in (1, 2, 5, 1)] == [(1, 2), (2, 2), (5, 2), (1, 2)]


def test_one_layer_used_twice():
    net = nn.Dense(2, in_units=2, weight_initializer="ones")
    net.initialize()
    net.hybridize()
    x = nd.ones((1, 2))
    x.attach_grad()
    with autograd.record():
        y = net(net(x))
    y.backward()
    close(x.grad, [[4, 4]])
    close(net.weight.grad(), [[4, 4], [4, 4]])  # 2 of each use


def test_recurrent_layers():
    x = nd.array(np.random.RandomState(2).rand(5, 3, 4))
    for layer in [rnn.RNN(6, 2), rnn.LSTM(6, 2, bidirectional=True), rnn.GRU(6)]:
        layer.initialize()
        layer(x)
        fill(layer)
        with autograd.record():
            y, _ = layer(x, layer.begin_state(batch_size=3))
            total = (y * y).sum()
        total.backward()
        assert all(np.abs(p.grad().asnumpy()).sum() > 0 for p in layer.collect_params().values())
        layer.hybridize()
        close(layer(x), y.asnumpy())


def test_sequences_of_different_lengths():
    x, lengths = nd.array(np.random.RandomState(2).rand(5, 3, 4)), [5, 2, 3]
    for kind, layers, ways in [(rnn.RNN, 2, 1), (rnn.LSTM, 2, 2), (rnn.GRU, 1, 2)]:
        layer = kind(6, layers, bidirectional=ways == 2, input_size=4)
        padded = kind(6, layers, bidirectional=ways == 2, input_size=4, use_sequence_length=True, params=layer.params)
        layer.initialize()
        fill(layer)
        for hybrid in (False, True) if kind is rnn.LSTM else (False,):  # MXNet makes no symbols of the others
            padded.hybridize(hybrid)
            gradients = []
            with autograd.record():
                y, states = padded(x, padded.begin_state(batch_size=3), sequence_length=nd.array(lengths, dtype="int32"))
                total = (y * y).sum() + states[0].sum()
            total.backward()
            gradients.append([p.grad().asnumpy().copy() for p in layer.collect_params().values()])
            with autograd.record():
                alone = [layer(x[:n, i:i + 1], layer.begin_state(batch_size=1)) for i, n in enumerate(lengths)]
                total = sum((part * part).sum() + state[0].sum() for part, state in alone)
            total.backward()
            gradients.append([p.grad().asnumpy() for p in layer.collect_params().values()])
            for i, (part, state) in enumerate(alone):
                close(y[:lengths[i], i:i + 1], part.asnumpy())
                close(y[lengths[i]:, i], np.zeros((5 - lengths[i], 6 * ways)))
                close(states[0][:, i:i + 1], state[0].asnumpy())
            for a, b in zip(*gradients):
                close(nd.array(a), b)


def test_cells_are_as_layers():
    x = nd.array(np.random.RandomState(2).rand(2, 5, 4))
    cell = rnn.LSTMCell(6)
    cell.initialize()
    cell.unroll(5, x)
    fill(cell)
    layer = rnn.LSTM(6, layout="NTC", input_size=4)
    layer.initialize()
    for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias"):
        getattr(layer, "l0_" + part).set_data(getattr(cell, part).data())
    cell.reset()
    close(layer(x), cell.unroll(5, x, merge_outputs=True)[0].asnumpy())


def test_files():
    net = network()
    net.initialize()
    net(images())
    fill(net)
    net.hybridize()
    expected = net(images()).asnumpy()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net")
        net.export(path, epoch=2)
        read = gluon.SymbolBlock.imports(path + "-symbol.json", ["data"], path + "-0002.params")
        close(read(images()), expected)
        net.save_parameters(path + ".params")
        again = network()
        again.load_parameters(path + ".params")
        close(again(images()), expected)


def test_trainer_states_and_stale_gradients():
    used, unused = nn.Dense(2, in_units=3), nn.Dense(2, in_units=3)
    params = used.collect_params()
    params.update(unused.collect_params())
    params.initialize()
    trainer = gluon.Trainer(params, "adam")
    with autograd.record():
        loss = used(nd.ones((2, 3))).sum()
    loss.backward()
    try:
        trainer.step(1)
    except UserWarning:
        pass
    else:
        raise AssertionError("a gradient that is not fresh was used")
    trainer.step(1, ignore_stale_grad=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer.save_states(os.path.join(folder, "states"))
        trainer.load_states(os.path.join(folder, "states"))
    params.zero_grad()
    close(used.weight.grad(), np.zeros((2, 3)))


def test_two_devices():
    net = nn.Dense(3, in_units=4)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": .1})
    with autograd.record():
        losses = [(net(part) ** 2).sum() for part in gluon.utils.split_and_load(nd.ones((4, 4)), [mx.cpu(0), mx.cpu(1)])]
    for loss in losses:
        loss.backward()
    trainer.step(4)
    close(net.weight.data(mx.cpu(0)), net.weight.data(mx.cpu(1)).asnumpy())


def test_projected_lstm():
    layer = rnn.LSTM(6, projection_size=3, input_size=4)
    layer.initialize()
    fill(layer)
    cell = gluon.contrib.rnn.LSTMPCell(6, 3, input_size=4)
    cell.initialize()
    for name, param in cell.collect_params().items():
        param.set_data(getattr(layer, "l0_" + name[len(cell.prefix):]).data())
    x = nd.array(np.random.RandomState(2).rand(5, 3, 4))
    gradients = []
    for net in [layer, lambda x: cell.unroll(5, x, layout="TNC", merge_outputs=True)[0]]:
        x.attach_grad()
        with autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        gradients.append([y.asnumpy(), x.grad.asnumpy()])
    assert gradients[0][0].shape == (5, 3, 3)
    close(gradients[0][0], gradients[1][0])
    close(gradients[0][1], gradients[1][1])
    for name, param in cell.collect_params().items():
        close(param.grad(), getattr(layer, "l0_" + name[len(cell.prefix):]).grad().asnumpy(), 1e-4)


def test_shapes_that_follow_from_contents():
    class Rows(gluon.HybridBlock):
        def hybrid_forward(self, F, x, mask):
            return F.contrib.boolean_mask(x, mask).sum(axis=0) * 2

    net, x = Rows(), nd.array([[1, 2], [3, 4], [5, 6]])
    net.hybridize()
    x.attach_grad()
    for mask, expected in [([1, 0, 1], [12, 16]), ([0, 1, 0], [6, 8])]:
        with autograd.record():
            y = net(x, nd.array(mask))
        y.backward()
        close(y, expected)
        close(x.grad, np.outer(mask, [2, 2]))


def test_hooks_on_operators():
    net, names = nn.Dense(2, activation="relu", in_units=3, prefix="d_"), []
    net.initialize()
    net.hybridize(static_alloc=True)
    net.register_op_hook(lambda name, op, handle: names.append((name.decode(), op.decode())))
    net(nd.ones((1, 3)))
    assert names == [("d_fwd_output", "FullyConnected"), ("d_relu_fwd_output", "Activation")], names


def test_type_of_an_embedding():
    for dtype in ["float64", "float16"]:
        net = nn.Embedding(5, 2)
        net.cast(dtype)
        net.initialize("ones")
        for hybrid in [False, True]:
            net.hybridize(hybrid)
            assert net(nd.array([1, 2])).dtype == np.dtype(dtype)


def test_norm_with_one_group():
    net = nn.GroupNorm()
    net.initialize()
    x = np.random.RandomState(3).rand(2, 4, 3)
    rows = x.reshape(2, 12)
    expected = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    close(net(nd.array(x)), expected.reshape(2, 4, 3), 1e-4)


def test_data():
    values = np.random.rand(20, 3).astype("float32")
    dataset = gluon.data.ArrayDataset(values, np.arange(20))
    for options in [{}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}, {"pin_memory": True}]:
        batches = list(gluon.data.DataLoader(dataset, batch_size=6, **options))
        close(np.concatenate([batch[0].asnumpy() for batch in batches]), values)
        assert sum(batch[1].asnumpy().sum() for batch in batches) == 190


def test_transforms():
    from mxnet.gluon.data.vision import transforms
    image = nd.array(np.full((30, 40, 3), 128), dtype="uint8")
    change = transforms.Compose([transforms.Resize(24), transforms.CenterCrop(20), transforms.ToTensor(),
                                 transforms.Normalize([.5] * 3, [.2] * 3)])
    close(change(image), np.full((3, 20, 20), (128 / 255 - .5) / .2), 1e-4)


def test_model_zoo():
    net = gluon.model_zoo.vision.get_model("mobilenet0.25", classes=10)
    net.initialize(mx.init.Xavier())
    x = nd.ones((1, 3, 64, 64))
    expected = net(x).asnumpy()
    net.hybridize()
    close(net(x), expected, 1e-4)


def test_optimizers():
    for name in ["sgd", "adam", "nag", "rmsprop", "adagrad", "adadelta", "ftrl", "adamax", "nadam", "signum", "ftml",
                 "dcasgd", "sgld", "lamb", "lars"]:
        optimizer = mx.optimizer.create(name, learning_rate=.1)
        weight = nd.ones((3, 2))
        optimizer.update_multi_precision(0, weight, nd.ones((3, 2)), optimizer.create_state_multi_precision(0, weight))
        assert np.isfinite(weight.asnumpy()).all() and not (weight.asnumpy() == 1).all(), name


main(globals())
