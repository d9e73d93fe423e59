# SPDX-License-Identifier: Apache-2.0
"""The package of this source tree, with the library that LIBMXC_PATH names or build/release has."""

import os
import subprocess
import sys

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = PACKAGE + os.pathsep + os.environ.get("PYTHONPATH", "")


def run_python(code, timeout=60, **kwargs):
    """Run a program in an interpreter of its own; its output, or its failure."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, **kwargs)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    return done.stdout + done.stderr
