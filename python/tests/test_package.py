# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: its size, its types, its declarations, the pages of the guide, the example."""

import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

import mxc
from conftest import PACKAGE, run_python
from mxc import _api, _declare

ROOT = os.path.dirname(PACKAGE)
GENERATED = {"op.pyi", "_ffi.py"}


def test_size():
    """At most 3,000 lines, so that it stays a thin layer."""
    lines = 0
    for path in glob.glob(os.path.join(PACKAGE, "mxc", "*.py*")):
        if os.path.basename(path) not in GENERATED and not path.endswith(".pyc"):
            with open(path, encoding="utf-8") as file:
                text = file.read().splitlines()
            lines += len(text)
            assert max(map(len, text), default=0) <= 120, path
    assert 0 < lines <= 3000


def pages():
    """Pages of the guide with programs in Python."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "guide", "*.md"))):
        with open(path, encoding="utf-8") as file:
            if "\n```python\n" in file.read():
                yield os.path.basename(path)


@pytest.mark.parametrize("page", list(pages()))
def test_guide(page, tmp_path):
    """The programs of a page, one after the other in one interpreter."""
    with open(os.path.join(ROOT, "docs", "guide", page), encoding="utf-8") as file:
        blocks = re.findall(r"\n```python\n(.*?)\n```\n", file.read(), re.S)
    run_python("\n".join(blocks), cwd=tmp_path)


def test_readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        for block in re.findall(r"\n```python\n(.*?)\n```\n", file.read(), re.S):
            run_python(block)


@pytest.mark.skipif(not shutil.which("mypy"), reason="needs mypy")
def test_types(tmp_path):
    """The package, the generated types of the operators, and a program that uses them."""
    copy = tmp_path / "python"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("_ffi.py", "op.pyi", "__pycache__", "dist"))
    shutil.copy(os.path.join(ROOT, "docs", "reference", "api.json"), copy / "mxc")
    env = dict(os.environ, PYTHONPATH=str(copy))
    library = os.environ.get("LIBMXC_PATH", os.path.join(ROOT, "build", "release", "libmxc.so"))
    done = subprocess.run([sys.executable, "stubs.py", library], cwd=copy, env=env, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    (copy / "wrong.py").write_text("import mxc\nmxc.op.FullyConnected(mxc.ones(2), num_hidden='four')\n"
                                   "mxc.op.Pooling(mxc.ones(2), pool_type='none')\nx: int = mxc.ones(2) + 1\n")
    done = subprocess.run(["mypy", "--strict", "--exclude", "_ffi", "--cache-dir", str(tmp_path / "cache"), "mxc",
                           "examples/train_mnist.py"], cwd=copy, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "wrong.py"], cwd=copy, env=env,
                          capture_output=True, text=True)
    assert done.stdout.count("error:") == 3, done.stdout
    assert (copy / "mxc" / "op.pyi").read_text().count("\ndef ") > 400
    # With the written declarations the package is the same.
    assert run_python("import mxc; print(mxc.ones(2).sum().item(), mxc._api.ffi.__class__.__module__)",
                      env=dict(env, LIBMXC_PATH=library), cwd=copy).strip() == "2.0 _cffi_backend"


def test_declarations():
    """Every function that api.json describes is declared and in the library; structs have the sizes of the compiler."""
    api = _declare.read()
    for function in api["functions"]:
        assert getattr(_api.lib, function["name"])
    for struct in api["structs"]:
        assert _api.ffi.sizeof(struct["name"]) == struct["size"], struct["name"]
    assert all(hasattr(mxc, name) for name in mxc.__all__)


def test_library_is_missing(tmp_path):
    env = dict(os.environ, LIBMXC_PATH=str(tmp_path / "libmxc.so"))
    done = subprocess.run([sys.executable, "-c", "import mxc"], env=env, capture_output=True, text=True)
    assert done.returncode == 1 and "LIBMXC_PATH" in done.stderr


DATA = "/usr/share/datasets/fashion-mnist"


@pytest.mark.skipif(not os.path.isdir(DATA), reason="needs the package dataset-fashion-mnist")
def test_example(tmp_path):
    example = os.path.join(PACKAGE, "examples", "train_mnist.py")
    done = subprocess.run([sys.executable, example, "--batches", "300", "--checkpoint", str(tmp_path / "net")],
                          capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert float(re.match(r"Test accuracy (\S+)", done.stdout)[1]) > 70
    assert mxc.Predictor.load(tmp_path / "net", {"data": (1, 1, 28, 28)}).output_names == ["softmax_output"]
