#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Trains LeNet on Fashion-MNIST with the bundled example, from nothing: packages, build, data, training.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage='scripts/train.sh [--no-install] [OPTION OF THE TRAINER]...
  Installs what is missing with apt-get (as root; not with --no-install), builds libmxc in build/release, and trains LeNet
  on the 60,000 images of the Debian package dataset-fashion-mnist. Further options go to the trainer:
  build/release/examples/train_mnist --help lists them. Checkpoints and the learning curve go to build/train; --resume goes
  on from there. Without --resume or --overwrite the files of the run before are moved to build/train/before.'
data=/usr/share/datasets/fashion-mnist

arguments=() keep=no
for argument; do
    case $argument in
        --resume | --overwrite) keep=yes ;;&
        --no-install) install=no ;;
        -h | --help) say "$usage"; exit ;;
        *) arguments+=("$argument") ;;
    esac
done

say "Trains LeNet on Fashion-MNIST: installs missing packages, builds libmxc in build/release, runs examples/train_mnist."
need_packages "${build_packages[@]}" dataset-fashion-mnist
[ -d $data ] || die "$data is not there: install the package dataset-fashion-mnist."

say "Building (build/release)."
configure build/release
cmake --build build/release -j "$jobs" --target train_mnist | sed -n '/warning\|error/p'

say "Training; checkpoints and learning curve in build/train."
mkdir -p build/train
if [ $keep = no ] && [ -e build/train/lenet.last ]; then
    say "Moving the files of the run before to build/train/before (use --resume to go on from a run)."
    rm -rf build/train/before
    mkdir build/train/before
    mv build/train/lenet[.-]* build/train/before
fi
exec build/release/examples/train_mnist --network lenet --data $data \
    --checkpoint build/train/lenet --curve build/train/lenet.svg ${arguments[@]+"${arguments[@]}"}
