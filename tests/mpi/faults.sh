#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/mpi/faults.sh BUILD N: trains by three processes of mpirun, N times each killing and freezing one of them at a random
# moment, and goes on with --resume. Each time every process must end within 10 s of it, with a message that names the
# rank, and at the end the weights are those of a training that was left alone. SEED sets the moments, KV_PARAMS parameters
# of the store, as shard=true.
set -uo pipefail
[ $# = 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
build=$1 rounds=$2
data=${LIBMXC_MNIST:-/usr/share/datasets/fashion-mnist}
[ -e "$data/train-images-idx3-ubyte.gz" ] || { echo "skipped: no $data"; exit 77; }
RANDOM=${SEED:-$$}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# run NAME OPTION...: the training, in the background; its checkpoint is $work/NAME
run() {
    local name=$1
    shift
    timeout 120 "${MPIEXEC:-mpirun}" -np 3 ${MPIEXEC_FLAGS:---oversubscribe} "$build/examples/train_mnist" --data "$data" \
        --network mlp --epochs 6 --batch-size 100 --kv-store dist_sync --kv-params "${KV_PARAMS:-}" \
        --checkpoint "$work/$name" --checkpoint-batches 20 "$@" \
        >"$work/$name.log" 2>&1 &
}

processes() {
    pgrep -f "^$build/examples/train_mnist .*--checkpoint $work/$1 "
}

fault() {
    local signal=$1 name=$2 victim rank start=0 took status
    touch "$work/start"
    run "$name" --resume
    local job=$!
    # Until all have come and have saved once, MPI itself waits for those that have not.
    while [ ! "$work/$name.worker2.last" -nt "$work/start" ] && kill -0 $job 2>/dev/null; do sleep 0.05; done
    sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
    rank=$((RANDOM % 3))
    victim=$(processes "$name" | sed -n $((rank + 1))p)
    [ -n "$victim" ] && kill "-$signal" "$victim"
    start=$(date +%s%N)
    wait $job
    status=$?
    took=$((($(date +%s%N) - start) / 1000000))
    if [ $status = 0 ]; then
        echo "$signal came too late: the training had ended"
    elif [ $took -gt 10000 ] || processes "$name" >/dev/null; then
        echo "FAILED: $signal: the others ended after $took ms; left: $(processes "$name" | wc -l)"
        failed=1
    elif ! grep -Eq 'rank [0-9] \(process [0-9]+\) (has exited|has sent no heartbeat)|mpirun noticed that process rank' "$work/$name.log"; then
        echo "FAILED: $signal: no message that names the rank"
        tail -n 20 "$work/$name.log"
        failed=1
    else
        echo "$signal of process $rank: ended after $took ms; $(grep -Eo 'rank [0-9] \(process [0-9]+\) .*step [0-9]+' "$work/$name.log" | head -n 1)"
    fi
    [ $status != 0 ]
}

run whole
wait $! || { echo "FAILED: a training that was left alone"; tail -n 20 "$work/whole.log"; exit 1; }

for signal in KILL STOP; do
    for ((i = 0; i < rounds; i++)); do
        fault $signal "part" || rm -f "$work"/part* # begin anew where the training had ended
    done
done
run part --resume
wait $! || { echo "FAILED: going on to the end"; tail -n 20 "$work/part.log"; exit 1; }
if ! cmp "$work/whole-0006.params" "$work/part-0006.params"; then
    echo "FAILED: other weights than without faults"
    failed=1
fi
exit $failed
