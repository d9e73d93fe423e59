/* SPDX-License-Identifier: Apache-2.0 */
/* Documentation of operators, iterators and optimizers as text: words wrapped to lines, and parameters from their
 * schema. */
#include "base/document.h"

#include <string.h>

enum { WIDTH = 110 };

void mxci_document_words(mxci_text *text, const char *indent, const char *words) {
    size_t column = 0;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (column && column + 1 + length > WIDTH) {
            mxci_text_add(text, "\n");
            column = 0;
        }
        mxci_text_printf(text, "%s%.*s", column ? " " : indent, (int)length, words);
        column += (column ? 1 : strlen(indent)) + length;
        words += length + strspn(words + length, " ");
    }
    mxci_text_add(text, "\n");
}

/* Limits of 2^31 - 1 and more stand for none. */
static void add_range(mxci_text *text, const mxc_param *p) {
    const int has_minimum = p->minimum > -1e9, has_maximum = p->maximum < INT32_MAX;
    if (p->bounded && has_minimum && has_maximum)
        mxci_text_printf(text, ", %.10g to %.10g", p->minimum, p->maximum);
    else if (p->bounded && has_minimum)
        mxci_text_printf(text, ", at least %.10g", p->minimum);
    else if (p->bounded && has_maximum)
        mxci_text_printf(text, ", at most %.10g", p->maximum);
}

void mxci_document_params(mxci_text *text, const mxc_param *schema) {
    char type[256];
    if (!schema || !schema->name)
        return;
    mxci_text_add(text, "Parameters:\n");
    for (const mxc_param *p = schema; p->name; p++) {
        mxci_text_printf(text, "    %s : %s", p->name, mxc_param_describe(p, type, sizeof type));
        add_range(text, p);
        mxci_text_add(text, "\n");
        if (p->doc)
            mxci_document_words(text, "        ", p->doc);
    }
}
