# SPDX-License-Identifier: Apache-2.0
"""bench/compare: a quick run on libmxc alone, its files, and its networks."""

import json
import math
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import mxc
from conftest import PACKAGE

BENCH = os.path.join(os.path.dirname(PACKAGE), "bench")
LIBRARY = os.environ.get("LIBMXC_PATH") or os.path.join(BENCH, "../build/release/libmxc.so")
sys.path.insert(0, os.path.join(BENCH, "peers", "compare"))

import report  # noqa: E402
import rows  # noqa: E402
from graphs import LibmxcSymbols, Shapes  # noqa: E402


def compare(*arguments):
    env = {name: value for name, value in os.environ.items() if name not in ("LIBMXC_PEERS_PYTHON", "LIBMXC_MXNET_PYTHON")}
    return subprocess.run([sys.executable, os.path.join(BENCH, "compare"), *arguments], capture_output=True, text=True,
                          timeout=120, env=env)


needs_peak = pytest.mark.skipif(not os.path.exists(os.path.join(os.path.dirname(LIBRARY), "bench", "bench_peak")),
                                reason="needs bench/bench_peak beside the library")


@needs_peak
def test_quick(tmp_path):
    """A training and an inference; what --json wrote is read again, with a peer that differs and one that agrees."""
    path, chart = tmp_path / "run.json", tmp_path / "run.svg"
    done = compare("--quick", "--rows", "mlp,mobilenet_v2", "--peers", "none", "--json", path)
    assert done.returncode == 0, done.stderr
    run = json.loads(path.read_text())
    assert [row["name"] for row in run["rows"]] == ["mlp", "mobilenet_v2"] and run["threads"] == 2
    for row in run["rows"]:
        own, = row["results"]
        assert own["library"] == "mxc" and own["agrees"] and not own["error"] and own["ratio"] == 1
        assert 0 < own["p10_ms"] <= own["median_ms"] and own["first_s"] > 0 and own["peak_mib"] > 10
        assert math.isclose(own["times_limit"], own["median_ms"] / row["limit_ms"])
        assert math.isclose(row["limit_ms"], row["flops"] / row["peak_gflops"] * 1e-6)
        for option, ratio, agrees in (("slow", 0.5, True), ("fast", 0.8, True), ("wrong", 9, False)):
            row["results"].append({**own, "library": "torch", "option": option, "ratio": ratio, "agrees": agrees,
                                   "difference": 0 if agrees else 1})
        row["results"].append({**own, "library": "ncnn", "error": "failed: <killed>"})
    path.write_text(json.dumps(run))
    done = compare("--read", path, "--plot", chart)
    assert done.returncode == 0, done.stderr
    assert "differs" in done.stdout and "failed: <killed>" in done.stdout
    assert done.stdout.splitlines()[-1].split()[-1] == "0.800"
    svg = xml.etree.ElementTree.parse(chart).getroot()
    circles = [node for node in svg.iter() if node.tag.endswith("circle")]
    assert svg.tag.endswith("svg") and len(circles) == 1 + 2  # of the legend, and one for each row


@needs_peak
def test_absent_peers():
    """Peers without an interpreter, or without their package, are reported and skipped."""
    done = compare("--quick", "--rows", "mlp")
    assert done.returncode == 0, done.stderr
    assert "skipped: PyTorch: no interpreter" in done.stdout and "skipped: MXNet: no interpreter" in done.stdout
    done = compare("--quick", "--rows", "mlp", "--peers", "torch", "--peers-python", "/absent/python")
    assert done.returncode == 0 and "skipped: PyTorch: " in done.stdout and "/absent/python" in done.stdout


@pytest.mark.parametrize("arguments, words", [(["--rows", "mpl"], "no row 'mpl'"), (["--peers", "caffe"], "no peer 'caffe'"),
                                              (["--threads", "0"], "at least one thread")])
def test_mistakes(arguments, words):
    done = compare(*arguments)
    assert done.returncode == 2 and words in done.stderr


def test_list():
    assert [line.split()[0] for line in compare("--list").stdout.splitlines()] == [row.name for row in rows.ROWS]


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_networks(row):
    """The library infers the shapes that the parameters are made with."""
    inputs = rows.inputs_of(row)
    shapes, net = Shapes(inputs), row.net(LibmxcSymbols(mxc, {"data": row.shape}))
    outputs = row.net(shapes)
    net = mxc.Group(net) if isinstance(net, list) else net
    args, outs, aux = net.infer_shape(**inputs)
    assert dict(zip(net.list_arguments(), args)) == {**inputs, **shapes.parameters}
    assert dict(zip(net.list_auxiliary_states(), aux)) == shapes.aux
    assert outs == [tuple(shape) for shape in (outputs if isinstance(outputs, list) else [outputs])]
    assert shapes.work(True) > 2 * shapes.work(False) > 0
    assert set(row.peers) <= set(rows.NAMES)


def test_options():
    """torch.compile only where it is asked for."""
    assert "compiled" not in rows.options("torch", rows.find("resnet18_b1"))
    assert "compiled" in rows.options("torch", rows.find("resnet18_b1"), True)
    assert rows.options("mxc", rows.find("mlp")) == [""]


def test_numbers():
    assert [report.shown(value) for value in (None, 0.012345, 1.23456, 123.456, 12345.6)] == ["-", "0.0123", "1.23", "123",
                                                                                            "12346"]
