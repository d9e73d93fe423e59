#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/mpi/joining.sh BUILD: two processes of mpirun that were given different parameters, and one whose other never makes
# a store: both end by themselves, with a message that says why.
set -uo pipefail
[ $# = 1 ] || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
trainer=$1/examples/train_mnist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect TEXT COMMAND...: two processes of mpirun that fail with this message; $rank is each one's
expect() {
    local text=$1
    shift
    # shellcheck disable=SC2086
    timeout 60 "${MPIEXEC:-mpirun}" -np 2 ${MPIEXEC_FLAGS:---oversubscribe} \
        bash -c "rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}; $*" >"$work/log" 2>&1
    local status=$?
    if [ $status = 0 ] || [ $status = 124 ] || ! grep -qF "$text" "$work/log"; then
        echo "FAILED: $*: ended with status $status, expected another and \"$text\""
        tail -n 20 "$work/log"
        failed=1
    fi
}

train="exec '$trainer' --network mlp --kv-store dist_sync --kv-params"
expect "rank 0 has compression=none, rank 1 has compression=2bit" \
    'kind=none; [ $rank = 0 ] || kind=2bit;' "$train compression=\$kind"
expect "rank 0 has threshold=0.5, rank 1 has threshold=0.25" \
    'threshold=0.5; [ $rank = 0 ] || threshold=0.25;' "$train compression=2bit,threshold=\$threshold"
expect "rank 0 has piece_bytes=4096, rank 1 has piece_bytes=8192" \
    'bytes=4096; [ $rank = 0 ] || bytes=8192;' "$train piece_bytes=\$bytes"
expect "not all processes of the job have made the store in 2 s" \
    '[ $rank = 0 ] || exec sleep 50;' "$train join_timeout=2"
exit $failed
