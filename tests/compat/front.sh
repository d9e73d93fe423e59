#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# front.sh LIBRARY: MXNet 1.9.1's Python front end on libmxnet.so. LIBMXC_MXNET_PYTHON names a Python that has it; without
# one the test is skipped.
set -euo pipefail
library=$(realpath "$1")
if [ -z "${LIBMXC_MXNET_PYTHON:-}" ]; then
    echo "skipped: LIBMXC_MXNET_PYTHON names no Python with MXNet 1.9.1"
    exit 77
fi
cd "$(dirname "$0")/front"
export MXNET_LIBRARY_PATH=$library PYTHONDONTWRITEBYTECODE=1
failed=0
for program in arrays gradients networks sparse; do
    echo "$program:"
    timeout 250 "$LIBMXC_MXNET_PYTHON" -W ignore "$program.py" || failed=1
done
exit $failed
