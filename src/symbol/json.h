/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing MXNet's JSON format for symbols share. */
#ifndef MXCI_SYMBOL_JSON_H
#define MXCI_SYMBOL_JSON_H

#include <jansson.h>

#include <mxc/status.h>

/* The version of MXNet whose format we write: major * 10000 + minor * 100 + patch. */
#define MXCI_JSON_VERSION 10901
/* Files without a version are older than this. */
#define MXCI_JSON_OLDEST 800
/* Before the operator's name, in nodes of kind MXCI_BACKWARD. */
#define MXCI_JSON_BACKWARD "_backward_"
/* Largest text that is read, bytes. */
#define MXCI_JSON_LIMIT (256 << 20)

/* Item i of a list as an index, from 0 up to but not including limit; -1 if it is no such number or not there. */
static inline int64_t mxci_json_index(const json_t *list, size_t i, int64_t limit) {
    const json_t *number = json_array_get(list, i);
    json_int_t value = json_integer_value(number);
    return json_is_integer(number) && value >= 0 && value < limit ? (int64_t)value : -1;
}

/* Read a text. Messages begin with "JSON: " and name byte, line and column. MXC_EFORMAT, MXC_ENOMEM. */
mxc_status mxci_json_parse(const char *text, size_t bytes, json_t **out);
/* Replace nodes that MXNet fused for oneDNN by the layers that they hold. MXC_EFORMAT, MXC_ENOMEM. */
mxc_status mxci_json_unfuse(json_t *root);

#endif
