# SPDX-License-Identifier: Apache-2.0
"""What the tests of MXNet's front end share. They run with MXNET_LIBRARY_PATH, and count as failed where the front end has
loaded another library: without that file it falls back to the one of its own package."""
import os
import sys
import traceback

import mxnet as mx
import numpy as np


def check_library():
    wanted = os.path.realpath(os.environ["MXNET_LIBRARY_PATH"])
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if "libmxnet" in line}
    if loaded != {wanted}:
        sys.exit("expected the library %s, found %s" % (wanted, sorted(loaded)))


def close(found, expected, tolerance=1e-5):
    found = found.asnumpy() if isinstance(found, mx.nd.NDArray) else np.asarray(found)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def fails(function, text):
    """The call fails with a message that has the text."""
    try:
        function()
    except mx.MXNetError as error:
        assert text in str(error), "expected a message with '%s', found: %s" % (text, error)
        return
    raise AssertionError("expected a failure with '%s'" % text)


def main(tests):
    """Runs the functions named test_... and ends with their number; status 1 where one failed."""
    check_library()
    names = [name for name in tests if name.startswith("test_") and (len(sys.argv) < 2 or name in sys.argv[1:])]
    failed = 0
    for name in names:
        try:
            tests[name]()
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("%s failed:" % name)
            traceback.print_exc(limit=-3)
    print("%d of %d tests passed" % (len(names) - failed, len(names)))
    sys.exit(failed != 0 or not names)
