/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: descriptors by name and alias, and in order of registration. Built-in ones are registered at the first
 * use of any function here; if that fails for lack of memory, everything is dropped and the next call tries again.
 */
#include "operator/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/converted_call.h"

/* A registered operator. */
typedef struct entry {
    const mxc_op_def *def;
    const char *family;
} entry;

static struct {
    mxci_global_mutex lock; /* over everything below */
    int ready;              /* built-in descriptors are in */
    mxci_hash_map *by_name; /* of descriptors */
    entry *entries;         /* in order of registration */
    int count, capacity;
} registry = {.lock = MXCI_GLOBAL_MUTEX_INIT};

static mxc_status check_new_name(const mxc_op_def *def, const char *name) {
    if (mxci_hash_map_has(registry.by_name, name))
        return MXC_FAIL(MXC_EEXIST, "mxc_op_register: operator %s: the name '%s' is taken", def->name, name);
    return MXC_OK;
}

/* Rejects descriptors whose members contradict each other, so that no later code has to. */
static mxc_status check_def(const mxc_op_def *def) {
    if (!def || def->size != sizeof *def)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: def.size is %zu, expected %zu", def ? def->size : 0, sizeof *def);
    if (!def->name || !*def->name)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: def.name is empty");
    if (def->params && !def->param_size)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: has params but no param_size", def->name);
    if (def->variadic && !def->params)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: variadic without params", def->name);
    if ((def->flags & MXC_OP_CALLBACK) && (def->temp_bytes || (def->flags & MXC_OP_SAMPLEWISE)))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_register: %s: MXC_OP_CALLBACK goes without temp_bytes and MXC_OP_SAMPLEWISE",
                        def->name);
    if (def->args_per_output && (def->variadic || !def->args || def->backward[MXC_CPU] || def->backward[MXC_GPU]))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_register: %s: args_per_output goes with args, without variadic and backward",
                        def->name);
    if (def->infer_from_data && !(def->flags & MXC_OP_ARRAY_ONLY))
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: infer_from_data goes with MXC_OP_ARRAY_ONLY", def->name);
    if ((def->params_open || def->params_open_of) && (def->params || def->variadic))
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: params_open goes without params and variadic", def->name);
    if (def->params_open && def->params_open_of)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: params_open goes without params_open_of", def->name);
    if (mxci_is_converted(def) && (def->flags & MXC_OP_CALLBACK))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_op_register: %s: MXC_OP_CALLBACK goes without cpu_dtypes and to_channels_second",
                        def->name);
    if (def->to_channels_second && def->param_size > MXCI_CONVERTED_PARAMS)
        return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: to_channels_second with param_size %zu, expected at most %d",
                        def->name, def->param_size, MXCI_CONVERTED_PARAMS);
    for (int i = 0; i < MXC_DEVICE_LIMIT; i++)
        if (def->forward[i] || (def->flags & MXC_OP_PARTS))
            return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: has no forward function", def->name);
}

static mxc_status registry_reserve(void) {
    int capacity = registry.capacity ? 2 * registry.capacity : 256;
    entry *entries;
    if (registry.count < registry.capacity)
        return MXC_OK;
    entries = mxci_realloc_array(registry.entries, (size_t)capacity, sizeof *entries);
    if (!entries)
        return MXC_FAIL(MXC_ENOMEM, "mxc_op_register: out of memory for %d operators", capacity);
    registry.entries = entries;
    registry.capacity = capacity;
    return MXC_OK;
}

/* Enters all names of def, its name and its aliases; on failure none: those entered so far are removed. */
static mxc_status put_names(const mxc_op_def *def) {
    char alias[128];
    mxc_status status = mxci_hash_map_put(registry.by_name, def->name, (void *)def);
    int i = 0;
    for (; status == MXC_OK && mxci_list_item(def->aliases, i, alias, sizeof alias); i++)
        status = mxci_hash_map_put(registry.by_name, alias, (void *)def);
    if (status == MXC_OK)
        return MXC_OK;
    mxci_hash_map_remove(registry.by_name, def->name);
    while (i-- > 0)
        if (mxci_list_item(def->aliases, i, alias, sizeof alias))
            mxci_hash_map_remove(registry.by_name, alias);
    return status;
}

/* Names are checked before anything is entered. Lock held. */
mxc_status mxci_registry_add(const mxc_op_def *def, const char *family) {
    char alias[128];
    MXC_TRY(check_def(def));
    MXC_TRY(check_new_name(def, def->name));
    for (int i = 0; mxci_list_item(def->aliases, i, alias, sizeof alias); i++)
        MXC_TRY(check_new_name(def, alias));
    MXC_TRY(registry_reserve());
    MXC_TRY(put_names(def));
    registry.entries[registry.count++] = (entry){def, family};
    return MXC_OK;
}

static void drop_all(void) {
    mxci_hash_map_destroy(registry.by_name);
    mxci_free(registry.entries);
    registry.by_name = NULL;
    registry.entries = NULL;
    registry.count = registry.capacity = 0;
}

/* Registers the built-in descriptors unless that has happened. Lock held. */
static mxc_status make_ready(void) {
    mxc_status status;
    if (registry.ready)
        return MXC_OK;
    status = mxci_hash_map_create(&registry.by_name);
    if (status == MXC_OK)
        status = mxci_register_builtin();
    if (status == MXC_OK)
        registry.ready = 1;
    else
        drop_all();
    return status;
}

mxc_status mxci_registry_start(void) {
    mxc_status status;
    mxci_global_lock(&registry.lock);
    status = make_ready();
    mxci_global_unlock(&registry.lock);
    return status;
}

mxc_status mxc_op_register(const mxc_op_def *def) {
    MXC_TRY(MXCI_NON_NULL(def));
    mxc_status status;
    mxci_global_lock(&registry.lock);
    status = make_ready();
    if (status == MXC_OK && def->size == sizeof *def && def->n_subgraphs != 0)
        status =
            MXC_FAIL(MXC_EINVAL, "mxc_op_register: %s: n_subgraphs is %d, expected 0: it is for built-in operators",
                     def->name ? def->name : "", def->n_subgraphs);
    if (status == MXC_OK)
        status = mxci_registry_add(def, "custom");
    mxci_global_unlock(&registry.lock);
    return status;
}

const mxc_op_def *mxc_op_find(const char *name) {
    const mxc_op_def *def = NULL;
    mxci_global_lock(&registry.lock);
    if (name && make_ready() == MXC_OK)
        def = mxci_hash_map_get(registry.by_name, name);
    mxci_global_unlock(&registry.lock);
    return def;
}

int mxc_op_count(void) {
    int count;
    mxci_global_lock(&registry.lock);
    count = make_ready() == MXC_OK ? registry.count : 0;
    mxci_global_unlock(&registry.lock);
    return count;
}

const mxc_op_def *mxc_op_at(int index) {
    const mxc_op_def *def = NULL;
    mxci_global_lock(&registry.lock);
    if (make_ready() == MXC_OK && index >= 0 && index < registry.count)
        def = registry.entries[index].def;
    mxci_global_unlock(&registry.lock);
    return def;
}

/* A linear search: documentation and listings ask, no hot path does. */
const char *mxc_op_family(const char *name) {
    const mxc_op_def *def = mxc_op_find(name);
    const char *family = NULL;
    mxci_global_lock(&registry.lock);
    for (int i = 0; i < registry.count && !family; i++)
        if (registry.entries[i].def == def)
            family = registry.entries[i].family;
    mxci_global_unlock(&registry.lock);
    return family;
}

/* ---- similar names ------------------------------------------------------------------------------------------- */

enum { NAME_MAX_COMPARED = 63, SUGGESTIONS = 3 };

static int registry_lower(char c) {
    return tolower((unsigned char)c);
}

static int least(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein distance with one row of the table; diagonal is the entry above left. */
int mxci_name_distance(const char *a, const char *b, int limit) {
    int row[NAME_MAX_COMPARED + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MAX_COMPARED || m > NAME_MAX_COMPARED || n > m + (size_t)limit || m > n + (size_t)limit)
        return limit + 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int above = row[j];
            row[j] =
                least(above + 1, row[j - 1] + 1, diagonal + (registry_lower(a[i - 1]) != registry_lower(b[j - 1])));
            diagonal = above;
        }
    }
    return row[m] <= limit ? row[m] : limit + 1;
}

static int is_at_distance(const char *name, const char *key, int distance) {
    return mxci_name_distance(name, key, distance) == distance;
}

/* Does key contain name, as "Convolution" contains "conv"? Shorter names than three letters are in too many. */
static int contains(const char *name, const char *key, int unused) {
    size_t n = strlen(name);
    (void)unused;
    for (; n >= 3 && *key; key++)
        if (strncasecmp(key, name, n) == 0)
            return 1;
    return 0;
}

/* The suggestions so far. */
typedef struct suggestions {
    int n;
    char *text;
    size_t size;
} suggestions;

static void suggest(suggestions *s, const char *name) {
    size_t used = strlen(s->text);
    snprintf(s->text + used, s->size - used, "%s '%s'", s->n++ ? "," : "; similar names:", name);
}

/* Suggest the registered names that match until there are enough. Lock held. */
static void suggest_matches(suggestions *s, const char *name, int (*matches)(const char *, const char *, int),
                            int distance) {
    size_t cursor = 0;
    const char *key;
    void *def;
    while (s->n < SUGGESTIONS && mxci_hash_map_next(registry.by_name, &cursor, &key, &def))
        if (!(((const mxc_op_def *)def)->flags & MXC_OP_HIDDEN) && matches(name, key, distance))
            suggest(s, key);
}

/* Suggest our operator for another framework's name of it. Returns whether there is one. */
static int suggest_for_foreign(suggestions *s, const char *name) {
    static const struct {
        const char *name, *ours;
    } foreign[] = {
#define FOREIGN(name, ours) {name, ours},
#include "operator/foreign_names.def"
#undef FOREIGN
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (strcasecmp(name, foreign[i].name) == 0) {
            suggest(s, foreign[i].ours);
            return 1;
        }
    return 0;
}

/* Why an operator of MXNet is not supported; NULL if the name is none of these. */
static const char *refusal_of(const char *name) {
    static const struct {
        const char *name, *reason;
    } refused[] = {
#define REFUSED(name, reason) {name, reason},
#include "operator/refused_names.def"
#undef REFUSED
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const size_t n = strlen(refused[i].name);
        const int is_prefix = refused[i].name[n - 1] == '*';
        if (is_prefix ? !strncmp(name, refused[i].name, n - 1) : !strcmp(name, refused[i].name))
            return refused[i].reason;
    }
    return NULL;
}

/* Names at growing edit distances up to a third of the name's length, then names that contain it; hidden operators are
 * left out. */
void mxci_registry_suggest(const char *name, char *out, size_t size) {
    int limit = (int)strlen(name) / 3;
    suggestions s = {.text = out, .size = size};
    const char *refusal;
    if (!size)
        return;
    out[0] = '\0';
    refusal = refusal_of(name);
    if (refusal) {
        snprintf(out, size, ": %s", refusal);
        return;
    }
    if (suggest_for_foreign(&s, name))
        return;
    mxci_global_lock(&registry.lock);
    if (make_ready() == MXC_OK) {
        for (int distance = 0; distance <= (limit < 1 ? 1 : limit) && distance <= 4; distance++)
            suggest_matches(&s, name, is_at_distance, distance);
        if (s.n == 0)
            suggest_matches(&s, name, contains, 0);
    }
    mxci_global_unlock(&registry.lock);
}
