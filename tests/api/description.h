/* SPDX-License-Identifier: Apache-2.0 */
/* Reads docs/reference/api.json, the description of the interface. */
#ifndef MXC_TESTS_API_DESCRIPTION_H
#define MXC_TESTS_API_DESCRIPTION_H

#include <jansson.h>

#include "support.h"

/* Integers are read as doubles, since one of 64 bits is among them. */
static inline json_t *description_load(void) {
    json_error_t error;
    json_t *root = json_load_file(MXC_SOURCE_DIR "/docs/reference/api.json", JSON_DECODE_INT_AS_REAL, &error);
    if (!root)
        print_error("docs/reference/api.json:%d: %s\n", error.line, error.text);
    return root;
}

/* The entry of a list whose member key is this text; NULL if there is none. */
static inline json_t *description_find(const json_t *list, const char *key, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        const char *found = json_string_value(json_object_get(entry, key));
        if (found && strcmp(found, text) == 0)
            return entry;
    }
    return NULL;
}

#endif
