#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Asks Apache MXNet 1.9.1 what it makes of our operator cases, and writes its answers to this folder:
#   tests/golden/make.sh BUILD_FOLDER [PYTHON]
# PYTHON is one with mxnet 1.9.1 and numpy below 1.24; without it, such an environment is made in BUILD_FOLDER/mxnet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?build folder}" && pwd)
python=${2:-$build/mxnet/bin/python}
if [ ! -x "$python" ]; then
    python3 -m venv "$build/mxnet"
    "$build/mxnet/bin/pip" install -q 'numpy<1.24' mxnet==1.9.1
fi
questions=$(mktemp -d)
trap 'rm -rf "$questions"' EXIT
LIBMXC_GOLDEN_QUESTIONS=$questions "$build/tests/test_operator_golden" >/dev/null 2>&1
"$python" "$here/make.py" "$questions" "$here"
"$python" "$here/defaults.py" "$here/defaults.txt"
