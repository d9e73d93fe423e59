/* SPDX-License-Identifier: Apache-2.0 */
/* Documentation as text, for what describes itself by a schema: operators, iterators, optimizers. */
#ifndef MXCI_BASE_DOCUMENT_H
#define MXCI_BASE_DOCUMENT_H

#include <mxc/param.h>

#include "base/text.h"

/* Add words in lines of about 110 characters, each begun by indent and ended by a newline. */
void mxci_document_words(mxci_text *text, const char *indent, const char *words);

/* Add "Parameters:" and, for each parameter, its name, type, default and range, and its description on lines of their
 * own. Nothing for a schema that is NULL or empty. */
void mxci_document_params(mxci_text *text, const mxc_param *schema);

#endif
