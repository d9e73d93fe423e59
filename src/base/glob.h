/* SPDX-License-Identifier: Apache-2.0 */
/* Glob patterns of names. */
#ifndef MXCI_BASE_GLOB_H
#define MXCI_BASE_GLOB_H

/* 1 if the whole text matches a pattern, in which * stands for any characters and ? for one. */
int mxci_glob_match(const char *pattern, const char *text);

#endif
