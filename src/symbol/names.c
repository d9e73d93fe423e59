/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of strings. The capacity is the power of two from n on, so that it needs no member of the public struct. */
#include "symbol/names.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

mxc_status mxci_names_give(mxc_names *names, char *name) {
    int full = (names->n & (names->n - 1)) == 0; /* 0 or a power of two */
    if (name && full) {
        size_t room = names->n ? 2 * (size_t)names->n : 1;
        char **items = mxci_realloc_array(names->items, room, sizeof *items);
        if (!items) {
            mxci_free(name);
            return MXCI_NO_MEMORY("symbol", "a list of names");
        }
        names->items = items;
    }
    if (!name)
        return MXCI_NO_MEMORY("symbol", "a list of names");
    names->items[names->n++] = name;
    return MXC_OK;
}

mxc_status mxci_names_add(mxc_names *names, const char *name) {
    return mxci_names_give(names, mxci_strdup(name));
}

const char *mxci_names_candidates(const mxc_names *names, char *out, size_t size) {
    mxci_line line = {out, size, 0};
    int64_t i;
    out[0] = '\0';
    for (i = 0; i < names->n && line.length + 60 < size; i++)
        mxci_line_printf(&line, "%s%.40s", i ? ", " : "; there are: ", names->items[i]);
    if (i < names->n)
        mxci_line_printf(&line, ", ...");
    return out;
}

void mxc_names_release(mxc_names *names) {
    if (!names)
        return;
    for (int64_t i = 0; i < names->n; i++)
        mxci_free(names->items[i]);
    mxci_free(names->items);
    names->items = NULL;
    names->n = 0;
}

int64_t mxc_names_find(const mxc_names *names, const char *name) {
    for (int64_t i = 0; names && name && i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return i;
    return -1;
}
