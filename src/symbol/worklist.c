/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of indices as trees of bits: bit i of level 0 is set if i is a member, bit j of level k + 1 if word j of level k
 * is not 0. A search climbs from a word without a later member to the level that has one, and descends to it.
 */
#include "symbol/worklist.h"

#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "base/sys.h"

static int lowest_bit(uint64_t word) {
    int at = 0;
    for (int i = 32; i; i /= 2)
        if (!(word >> at & ((UINT64_C(1) << i) - 1)))
            at += i;
    return at;
}

static int highest_bit(uint64_t word) {
    int at = 0;
    for (int i = 32; i; i /= 2)
        if (word >> at >> i)
            at += i;
    return at;
}

mxc_status mxci_worklist_init(mxci_worklist *w, int32_t n) {
    int64_t words = (int64_t)n + 1;
    memset(w, 0, sizeof *w);
    do {
        words = (words + 63) / 64;
        MXCI_ASSERT(w->n_levels < MXCI_WORKLIST_LEVELS);
        w->level[w->n_levels] = mxci_calloc((size_t)words, sizeof(uint64_t));
        if (!w->level[w->n_levels])
            return MXCI_NO_MEMORY("graph", "a work list");
        w->n_words[w->n_levels++] = (int32_t)words;
    } while (words > 1);
    return MXC_OK;
}

void mxci_worklist_free(mxci_worklist *w) {
    for (int k = 0; k < w->n_levels; k++)
        mxci_free(w->level[k]);
    w->n_levels = 0;
}

void mxci_worklist_add(mxci_worklist *w, int32_t i) {
    for (int k = 0; k < w->n_levels; k++, i /= 64)
        w->level[k][i / 64] |= UINT64_C(1) << i % 64;
}

void mxci_worklist_remove(mxci_worklist *w, int32_t i) {
    for (int k = 0; k < w->n_levels; k++, i /= 64) {
        w->level[k][i / 64] &= ~(UINT64_C(1) << i % 64);
        if (w->level[k][i / 64])
            return;
    }
}

int32_t mxci_worklist_up(const mxci_worklist *w, int32_t i) {
    for (int k = 0; k < w->n_levels && i / 64 < w->n_words[k]; k++, i = i / 64 + 1) {
        uint64_t word = w->level[k][i / 64] & (~UINT64_C(0) << i % 64);
        if (!word)
            continue;
        for (i = i / 64 * 64 + lowest_bit(word); k-- > 0;)
            i = i * 64 + lowest_bit(w->level[k][i]);
        return i;
    }
    return -1;
}

int32_t mxci_worklist_down(const mxci_worklist *w, int32_t i) {
    for (int k = 0; k < w->n_levels && i >= 0; k++, i = i / 64 - 1) {
        uint64_t word = w->level[k][i / 64] & (~UINT64_C(0) >> (63 - i % 64));
        if (!word)
            continue;
        for (i = i / 64 * 64 + highest_bit(word); k-- > 0;)
            i = i * 64 + highest_bit(w->level[k][i]);
        return i;
    }
    return -1;
}
