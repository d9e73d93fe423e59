# SPDX-License-Identifier: Apache-2.0
# Reads `ctest -V` output; prints "PASSED FAILED SKIPPED" and then, on a line each, the numbers and names of failing tests.
# Counts cmocka's cases. An executable that fails without naming a failed case (crash, timeout, leak, not built) is one.

/^[0-9]+: / {
    n = $1 + 0
    if (/\[       OK \]/) passed++
    else if (/\[  ERROR   \] [^-]/) failed_in[n]++ # set-up or tear-down
    else if (/\[  SKIPPED \] [0-9]+ test/) skipped += count()
    else if (/\[  FAILED  \] [0-9]+ test/) failed_in[n] += count()
}

# " 3/12 Test  #3: base/test_map ......   Passed    0.01 sec", or ***Failed, ***Timeout, ***Exception: SegFault
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    match($0, /#[0-9]+: [^ ]+/)
    split(substr($0, RSTART + 1, RLENGTH - 1), part, ": ")
    name[part[1] + 0] = part[2]
    if (/\*\*\*Skipped/) skipped++
    else if (!/ Passed +[0-9.]+ sec/ && !failed_in[part[1] + 0]) failed_in[part[1] + 0] = 1
}

function count(    rest) {
    match($0, /\] [0-9]+ test/)
    rest = substr($0, RSTART + 2)
    return rest + 0
}

END {
    for (n in failed_in) if (failed_in[n]) { failed += failed_in[n]; names = names "\n" n " " name[n] }
    print passed + 0, failed + 0, skipped + 0 names
}
