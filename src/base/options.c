/* SPDX-License-Identifier: Apache-2.0 */
/* Options from the environment: all are read at the first use; values that are ignored, and unknown names, cause a
 * warning. */
#define _GNU_SOURCE 1
#include "base/options.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "base/text.h"

static const struct {
    const char *name, *text;
    int64_t initial, minimum, maximum;
} options[MXCI_OPT_COUNT] = {
#define MXCI_OPTION(name, initial, minimum, maximum, text) {#name, text, initial, minimum, maximum},
#include "base/options.def"
};

static const char *const text_options[MXCI_TEXT_COUNT] = {
#define MXCI_TEXT_OPTION(name, text) #name,
#include "base/options.def"
};

static _Atomic int64_t values[MXCI_OPT_COUNT];

int mxci_option_parse(mxci_option option, const char *text, int64_t *out) {
    const char *at = text;
    int64_t value;
    *out = options[option].initial;
    if (!mxci_read_int(&at, &value) || *at || value < options[option].minimum || value > options[option].maximum)
        return 0;
    *out = value;
    return 1;
}

static int is_option(const char *name, size_t length) {
    for (int i = 0; i < MXCI_OPT_COUNT; i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
            return 1;
    for (int i = 0; i < MXCI_TEXT_COUNT; i++)
        if (strlen(text_options[i]) == length && memcmp(text_options[i], name, length) == 0)
            return 1;
    return 0;
}

/* Warn about values that are not numbers or out of range, and about names that are no options: most likely misspelt. */
static void warn_ignored(void) {
    for (int i = 0; i < MXCI_OPT_COUNT; i++) {
        const char *text = mxci_getenv(options[i].name);
        int64_t value;
        if (text && *text && !mxci_option_parse((mxci_option)i, text, &value))
            mxci_log(MXC_LOG_WARNING, "%s=\"%.80s\" ignored: expected a number from %lld to %lld (%s); using %lld",
                     options[i].name, text, (long long)options[i].minimum, (long long)options[i].maximum,
                     options[i].text, (long long)value);
    }
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, "MXC_", 4) == 0 && !is_option(*entry, length))
            mxci_log(MXC_LOG_WARNING, "environment: %.*s is not an option of libmxc", (int)(length < 80 ? length : 80),
                     *entry);
    }
}

/* Acquire pairs with the exchange: values are stored before ready is set. */
int64_t mxci_option_get(mxci_option option) {
    static atomic_int ready;
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        for (int i = 0; i < MXCI_OPT_COUNT; i++) { /* concurrent threads store the same values, so no lock is needed */
            const char *text = mxci_getenv(options[i].name);
            int64_t value = options[i].initial;
            if (text && *text)
                mxci_option_parse((mxci_option)i, text, &value);
            atomic_store(&values[i], value);
        }
        if (!atomic_exchange(&ready, 1)) /* the first thread; the values are stored, so logging may query its level */
            warn_ignored();
    }
    return atomic_load_explicit(&values[option], memory_order_relaxed);
}

const char *mxci_option_text(mxci_text_option option) {
    const char *text = mxci_getenv(text_options[option]);
    return text && *text ? text : NULL;
}

const char *mxci_option_text_name(mxci_text_option option) {
    return text_options[option];
}
