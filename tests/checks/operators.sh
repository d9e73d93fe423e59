#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One place per operator: what src/operator/op_list.def lists agrees with the files of every tree. The element-wise
# operators are in src/simpleop; their family is elementwise in the other trees.
#   - A descriptor is in src/operator/<family>/, and every descriptor there is listed with its family.
#   - src/operator/<family>/<stem>.c with descriptors has tests/operator/<family>/<stem>_cases.c, and the other way round;
#     every array of cases is in cases.def.
#   - src/operator/<family>/<stem>.c with descriptors has src/cuda/operator/<family>/<stem>.cu with a list of GPU
#     implementations, which is named after the stem (where two families share it: <family>_<stem>), and the other way
#     round. Files there without a list are helpers of several operators.
#   - Each family has its page, docs/reference/operators/<family>.md, and its directory of kernels and cases.
. "$(dirname "$0")/lib.sh"

# Files whose operators have no GPU implementation: `mxc ops --missing gpu` says why.
without_gpu='contrib/hawkesll control_flow/cond control_flow/foreach control_flow/while_loop custom/custom
detection/bipartite_matching index/boolean_mask index/index_copy linalg/linalg_det linalg/linalg_gelqf
linalg/linalg_syevd quantized/calibrate_entropy quantized/packed_quantized_conv quantized/quantized_fused_conv reduce/cumsum reduce/histogram
tensor/cross_device_copy nn/packed_convolution vision/image_decode vision/psroi_pooling vision/rroi_align'
# Operators that only passes insert, which the tests of these passes cover, and those with subgraphs, which
# tests/executor/test_control_flow.c covers.
without_cases='control_flow/cond control_flow/foreach control_flow/while_loop tensor/cross_device_copy'

has() { [[ " ${1//$'\n'/ } " == *" $2 "* ]]; }

# source_folder FAMILY
source_folder() {
    case $1 in
        elementwise) echo src/simpleop ;;
        control_flow) echo src/executor/control_flow ;;
        *) echo "src/operator/$1" ;;
    esac
}

# Fills listed ("family/symbol"), defined (the same, of descriptors), sources ("family/stem" that define operators), lists
# (arrays of cases) and families. A file whose macro makes descriptors defines the entries of the lists (.def) beside it.
read_tree() {
    local folder family file
    listed=$(sed -nE 's|^OP\(([a-z_]+), ([a-z_0-9]+)\)$|\1/\2|p' src/operator/op_list.def src/executor/*/op_list.def)
    families=$(cut -d/ -f1 <<<"$listed" | sort -u)
    lists=$(sed -nE 's/^CASES\(([a-z_0-9]+)\)$/\1/p' tests/operator/cases.def)
    defined='' sources=''
    for folder in src/simpleop src/executor/control_flow*/ src/operator/*/; do
        folder=${folder%/} family=${folder##*/}
        [ "$folder" != src/simpleop ] || family=elementwise
        defined+=$(sed -nE "s|^const mxc_op_def mxci_op_([a-z_0-9]+) =.*|$family/\1|p" "$folder"/*.c)$'\n'
        while read -r file; do
            file=${file##*/}
            sources+=$family/${file%.c}$'\n'
        done < <(grep -lE '^ *const mxc_(op|simple)_def mxci_(op|simple)_[a-z#]' "$folder"/*.c)
        if grep -qE '^ *const mxc_op_def mxci_op_##' "$folder"/*.c; then
            defined+=$(sed -nE "s|^[A-Z]+\(([a-z_0-9]+),.*|$family/\1|p" "$folder"/*.def)$'\n'
        fi
    done
}

check_list() {
    local item
    for item in $listed; do
        has "$defined" "$item" ||
            echo "src/operator/op_list.def: ${item#*/} has no descriptor in $(source_folder "${item%/*}")/"
    done
    for item in $defined; do
        has "$listed" "$item" || echo "src/operator/op_list.def: OP(${item%/*}, ${item#*/}) is missing"
    done
    for item in $families; do
        [ -e "docs/reference/operators/$item.md" ] || echo "docs/reference/operators/$item.md: is missing"
    done
}

check_cases() {
    local item file list
    for item in $sources; do
        [ -e "tests/operator/${item}_cases.c" ] || has "$without_cases" "$item" ||
            echo "tests/operator/${item}_cases.c: is missing"
    done
    for file in tests/operator/*/*_cases.c; do
        item=${file#tests/operator/} item=${item%_cases.c}
        has "$sources" "$item" || echo "$file: no operator in $(source_folder "${item%/*}")/${item#*/}.c"
        while read -r list; do
            has "$lists" "$list" || echo "$file: CASES($list) is not in cases.def"
        done < <(sed -nE 's/^MXC_CASES\(([a-z_0-9]+),.*/\1/p' "$file")
    done
}

check_gpu() {
    local file item list
    [ -d src/cuda/operator ] || return 0
    for item in $sources; do
        [ -e "src/cuda/operator/$item.cu" ] || has "$without_gpu" "$item" || echo "src/cuda/operator/$item.cu: is missing"
    done
    for file in src/cuda/operator/*/*.cu; do
        item=${file#src/cuda/operator/} item=${item%.cu}
        list=$(sed -nE 's/^MXCU_OP_IMPLS\(([a-z_0-9]+),.*/\1/p; s/.* mxcu_op_impls_([a-z_0-9]+) = .*/\1/p' "$file")
        [ -n "$list" ] || continue
        has "$sources" "$item" || echo "$file: no operator in $(source_folder "${item%/*}")/${item#*/}.c"
        [[ $list == "${item#*/}" || $list == "${item/\//_}" ]] || echo "$file: its list is named $list"
    done
}

check() {
    (
        cd "$1"
        shopt -s nullglob
        read_tree
        check_list
        check_cases
        check_gpu
    )
}

# tree: makes a tree without mistakes, with operators a and c (nn) and b (elementwise); prints its root.
tree() {
    local root file
    root=$(mktemp -d "$scratch/XXXXXX")
    for file in src/operator/nn src/simpleop tests/operator/nn tests/operator/elementwise src/cuda/operator/nn \
        docs/reference/operators; do
        mkdir -p "$root/$file"
    done
    printf 'OP(nn, a)\nOP(nn, c)\nOP(elementwise, b)\n' >"$root/src/operator/op_list.def"
    printf 'CASES(nn_a_cases)\nCASES(elementwise_b_cases)\n' >"$root/tests/operator/cases.def"
    echo 'const mxc_op_def mxci_op_a = {' >"$root/src/operator/nn/a.c"
    echo '    const mxc_op_def mxci_op_##symbol = {' >>"$root/src/operator/nn/a.c"
    echo 'ENTRY(c, 1)' >"$root/src/operator/nn/a_names.def"
    echo 'const mxc_op_def mxci_op_b = {' >"$root/src/simpleop/b.c"
    echo 'MXC_CASES(nn_a_cases, cases);' >"$root/tests/operator/nn/a_cases.c"
    echo 'MXC_CASES(elementwise_b_cases, cases);' >"$root/tests/operator/elementwise/b_cases.c"
    mkdir -p "$root/src/cuda/operator/elementwise"
    echo 'MXCU_OP_IMPLS(a, {"a", forward})' >"$root/src/cuda/operator/nn/a.cu"
    echo 'const mxcu_op_impl_list mxcu_op_impls_b = {' >"$root/src/cuda/operator/elementwise/b.cu"
    touch "$root/src/cuda/operator/nn/a_large.cu" "$root/docs/reference/operators/"{nn,elementwise}.md
    echo "$root"
}

# expect KIND COMMAND: after the command in a good tree, the check finds something (find) or nothing (pass).
expect() {
    local root found
    root=$(tree)
    (cd "$root" && eval "$2")
    found=$(check "$root")
    if { [ "$1" = find ] && [ -z "$found" ]; } || { [ "$1" = pass ] && [ -n "$found" ]; }; then
        echo "operators.sh --self-test: after \"$2\": ${found:-the mistake went unseen}"
        failed=1
    fi
    cases=$((cases + 1))
}

samples() {
    expect pass :
    expect find 'echo "OP(nn, lost)" >>src/operator/op_list.def'
    expect find 'mkdir src/operator/loss; mv src/operator/nn/a.c src/operator/loss/'
    expect find 'echo "const mxc_op_def mxci_op_unlisted = {" >>src/operator/nn/a.c'
    expect find 'rm tests/operator/nn/a_cases.c'
    expect find 'rm tests/operator/elementwise/b_cases.c'
    expect find 'touch tests/operator/nn/other_cases.c'
    expect find 'echo "MXC_CASES(nn_more_cases, cases);" >>tests/operator/nn/a_cases.c'
    expect find 'rm src/cuda/operator/nn/a.cu'
    expect find 'cp src/cuda/operator/nn/a.cu src/cuda/operator/nn/other.cu'
    expect find 'sed -i s/IMPLS.a/IMPLS\(c/ src/cuda/operator/nn/a.cu'
    expect pass 'sed -i s/IMPLS.a/IMPLS\(nn_a/ src/cuda/operator/nn/a.cu'
    expect find 'rm docs/reference/operators/nn.md'
    expect pass 'rm -r src/cuda'
    expect pass 'echo "extern const mxc_op_def mxci_op_b;" >>src/operator/nn/a.c; touch src/cuda/operator/nn/bias.cu'
}

main "$@"
