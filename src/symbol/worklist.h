/* SPDX-License-Identifier: Apache-2.0 */
/* A set of node indices from which the next one up or down is found in constant time: a tree of bits, 64 to a word. */
#ifndef MXCI_SYMBOL_WORKLIST_H
#define MXCI_SYMBOL_WORKLIST_H

#include <stdint.h>

#include <mxc/status.h>

enum { MXCI_WORKLIST_LEVELS = 6 };

typedef struct mxci_worklist {
    int n_levels;
    uint64_t *level[MXCI_WORKLIST_LEVELS]; /* [0]: a bit an index; [k + 1]: a bit a word of [k] that is not 0 */
    int32_t n_words[MXCI_WORKLIST_LEVELS];
} mxci_worklist;

/* Empty set for indices 0..n-1. MXC_ENOMEM. Free with mxci_worklist_free, also after failure. */
mxc_status mxci_worklist_init(mxci_worklist *w, int32_t n);
void mxci_worklist_free(mxci_worklist *w);
void mxci_worklist_add(mxci_worklist *w, int32_t i);
void mxci_worklist_remove(mxci_worklist *w, int32_t i);
/* The smallest member >= i, the largest <= i; -1 if there is none. */
int32_t mxci_worklist_up(const mxci_worklist *w, int32_t i);
int32_t mxci_worklist_down(const mxci_worklist *w, int32_t i);

#endif
