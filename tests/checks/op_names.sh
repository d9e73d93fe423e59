#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Passes ask descriptors what an operator can do (include/mxc/op.h), so that operators of programs are treated like
# built-in ones: src/executor, src/simpleop and src/rewrite compare no operator's name and no descriptor.
. "$(dirname "$0")/lib.sh"

check() {
    local file
    sources "$1" src/executor src/simpleop src/rewrite | while read -r file; do
        awk -v file="$file" '
        function wrong(why) { printf "%s:%d: %s: ask the descriptor\n", file, NR, why }
        # Operators begin with a capital or an underscore; those of the element-wise functions are named like these.
        { gsub(/"(True|False)"/, "") }
        /str(n|case|ncase)?cmp\(.*"[A-Z_][A-Za-z0-9_]+"/ { wrong("compares the name of an operator") }
        /str(n|case|ncase)?cmp\(.*(op_def|get_def|mxc_op_name|op_name)\(/ { wrong("compares the name of an operator") }
        /[!=]= *&mxci_op_[a-z]/ { wrong("compares a descriptor") }' "$1/$file"
    done
}

samples() {
    must_find src/executor/passes/a.c <<<'    return !strcmp(mxc_op_get_def(op)->name, "relu");'
    must_find src/executor/passes/a.c <<<'    if (strcmp(name, "FullyConnected") == 0)'
    must_find src/rewrite/a.c <<<'    return !strcmp(name, "Pooling");'
    must_find src/rewrite/a.c <<<'    return is_op(node) && strcmp(name, "_copy") == 0;'
    must_find src/simpleop/a.c <<<'    if (mxc_op_get_def(layer) == &mxci_op_convolution)'
    must_pass src/executor/passes/a.c <<<'    if (!strcmp(f.function, "relu") || strcmp(value, "True") == 0)
        return mxc_op_create("_chain", 2, keys, values, &op);'
    must_pass src/operator/nn/a.c <<<'    return !strcmp(name, "Convolution");'
}

main "$@"
