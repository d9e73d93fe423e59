#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the training programs for MXNet's Python front end on MXNet's library and on libmxc's libmxnet.so, and compare.

    compare.py PYTHON LIBRARY [PROGRAM...]

PYTHON is an interpreter that has MXNet's package, version 1.9.1 or 0.9.5; LIBRARY is the path of libmxnet.so. Each
program of tests/compat/training runs twice, and the numbers that it prints must be the same within rounding. The last
line has the greatest difference. Exits with 1 if a program fails or differs.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRAINING = os.path.join(HERE, "training")
# What version 0.9.5 can run; the others need Gluon, or operators that came later.
OLD = ["bucketing_lstm", "data_io", "feedforward", "kvstores", "module_batchnorm", "module_lenet", "module_mlp",
       "optimizers", "python_ops", "symbols"]
TOLERANCE = 1e-4  # of 1, or of the number where that is larger
TIMEOUT = 300


def find_package(python):
    """The folder of MXNet's package, and its version."""
    code = "import importlib.util as u; print(u.find_spec('mxnet').submodule_search_locations[0])"
    folder = subprocess.check_output([python, "-c", code], cwd="/", text=True).strip()
    with open(os.path.join(folder, "libinfo.py")) as file:
        text = file.read()
    return folder, "0.9" if '__version__ = "0.9' in text else "1"


def environment(package, version, library, folder):
    """Variables with which the front end loads a library. Version 0.9.5 prefers the one in its own folder, so it runs
    from a folder of links that lacks it."""
    env = dict(os.environ, PYTHONPATH=TRAINING, PYTHONDONTWRITEBYTECODE="1", MXNET_SUBGRAPH_VERBOSE="0")
    if not library:
        return env
    # Batch norms of few values multiply the rounding of Winograd's algorithm by thousands: one step of a deep network in
    # gluon_net differs by 3e-3 with it, and by 4e-5 without.
    env["MXC_WINOGRAD"] = "0"
    env["MXNET_EXPECTED_LIBRARY"] = os.path.realpath(library)  # common.py stops where it is not the one that is loaded
    if version != "0.9":
        return dict(env, MXNET_LIBRARY_PATH=os.path.abspath(library))
    links = os.path.join(folder, "mxnet")
    if not os.path.isdir(links):
        os.mkdir(links)
        for name in os.listdir(package):
            if name not in ("libmxnet.so", "__pycache__"):
                os.symlink(os.path.join(package, name), os.path.join(links, name))
    return dict(env, PYTHONPATH=folder + os.pathsep + TRAINING, LD_LIBRARY_PATH=os.path.dirname(os.path.abspath(library)))


def run(python, program, env):
    """The numbers that a program prints, by name."""
    done = subprocess.run([python, "-W", "ignore", os.path.join(TRAINING, program + ".py")], env=env, timeout=TIMEOUT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().split("\n") if line.strip()]
        raise RuntimeError("exit status %d: %s" % (done.returncode, "\n    ".join(lines[-6:])))
    return dict((line.rsplit(" ", 1)[0], float(line.rsplit(" ", 1)[1])) for line in done.stdout.splitlines()
                if len(line.split()) == 2)


def difference(ours, theirs):
    if ours != ours or theirs != theirs:
        return 0.0 if ours != ours and theirs != theirs else float("inf")
    return abs(ours - theirs) / max(1.0, abs(theirs))


def compare(ours, theirs):
    """The greatest difference, and the names of the numbers that differ or are on one side only."""
    names = [name for name in theirs if name not in ours] + [name for name in ours if name not in theirs]
    largest = 0.0
    for name in theirs:
        if name in ours:
            delta = difference(ours[name], theirs[name])
            largest = max(largest, delta)
            if delta > TOLERANCE:
                names.append("%s (%.9g, expected %.9g)" % (name, ours[name], theirs[name]))
    return largest, names


def main():
    python, library = sys.argv[1], sys.argv[2]
    if not os.path.isfile(library):
        sys.exit("no library %s" % library)
    package, version = find_package(python)
    programs = sys.argv[3:] or sorted(name[:-3] for name in os.listdir(TRAINING)
                                      if name.endswith(".py") and name != "common.py" and
                                      (version != "0.9" or name[:-3] in OLD))
    failures, greatest = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            try:
                theirs = run(python, program, environment(package, version, None, folder))
                ours = run(python, program, environment(package, version, library, folder))
                largest, names = compare(ours, theirs)
                greatest = max(greatest, largest)
                print("%s: %d numbers, greatest difference %.1e%s" % (program, len(theirs), largest,
                                                                     "" if not names else ", %d differ:" % len(names)))
                for name in names[:8]:
                    print("    " + name)
                failures += bool(names) or not theirs
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print("%s: %s" % (program, error))
                failures += 1
            sys.stdout.flush()
    print("MXNet %s: %d of %d programs agree, greatest difference %.1e" % ("0.9.5" if version == "0.9" else "1.9.1",
                                                                          len(programs) - failures, len(programs),
                                                                          greatest))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
