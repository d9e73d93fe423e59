/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol JSON from anywhere: reading must end with a symbol or a message. What could be read is listed, inferred,
 * drawn, and written; what was written must read back and be written the same.
 *   CC=clang cmake -S . -B build-fuzz -DMXC_BUILD_FUZZ=ON && cmake --build build-fuzz
 *   build-fuzz/fuzz/fuzz_symbol -max_len=20000 fuzz/corpus/symbol
 */
#include <stdlib.h>
#include <string.h>

#include <mxc/symbol.h>

#include "base/sys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const mxc_symbol *symbol) {
    mxc_names names;
    mxc_inferred inferred;
    mxc_symbol *copy;
    char *text;
    if (mxc_symbol_list_arguments(symbol, &names) == MXC_OK)
        mxc_names_release(&names);
    if (mxc_symbol_list_attrs(symbol, 1, &names) == MXC_OK)
        mxc_names_release(&names);
    if (mxc_symbol_infer(symbol, 0, NULL, NULL, NULL, &inferred) == MXC_OK)
        mxc_inferred_release(&inferred);
    if (mxc_symbol_to_dot(symbol, 0, NULL, NULL, &text) == MXC_OK)
        mxci_free(text);
    if (mxc_symbol_copy(symbol, &copy) == MXC_OK)
        mxc_symbol_release(copy);
}

static char *write_symbol(const mxc_symbol *symbol) {
    char *json;
    if (mxc_symbol_to_json(symbol, &json) != MXC_OK)
        abort();
    return json;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t live;
    mxc_symbol *symbol, *again;
    char *first, *second;
    (void)mxc_op_count(); /* fills the registry, which stays */
    live = mxci_alloc_live();
    if (mxc_symbol_from_json((const char *)data, size, &symbol) == MXC_OK) {
        look_at(symbol);
        first = write_symbol(symbol);
        if (mxc_symbol_from_json(first, strlen(first), &again) != MXC_OK)
            abort();
        second = write_symbol(again);
        if (strcmp(first, second) != 0)
            abort();
        mxci_free(first);
        mxci_free(second);
        mxc_symbol_release(symbol);
        mxc_symbol_release(again);
    }
    if (mxci_alloc_live() != live)
        abort();
    return 0;
}
