/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the trace by category and name, as a table or as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compat/profile.h"

enum { BY_TOTAL, BY_AVERAGE, BY_LEAST, BY_MOST, BY_COUNT, SORTS };
enum { ROW_BYTES = 256 }; /* a row of either form, and the lines before and behind it */

typedef struct table {
    mxnet_profile_entry *entries;
    size_t n, room;
    int failed; /* no memory */
    int sort_by, ascending;
} table;

/* ---- collecting -------------------------------------------------------------------------------------------------- */

static int grow(table *t, size_t room) {
    mxnet_profile_entry *larger = mxnet_alloc(room, sizeof *larger);
    if (!larger)
        return -1;
    if (t->n)
        memcpy(larger, t->entries, t->n * sizeof *larger);
    mxnet_free(t->entries);
    t->entries = larger;
    t->room = room;
    return 0;
}

static mxnet_profile_entry *entry_of(table *t, const char *name, const char *category) {
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->entries[i].name, name) && !strcmp(t->entries[i].category, category))
            return &t->entries[i];
    if (t->n == t->room && grow(t, 2 * t->room + 16))
        return NULL;
    mxnet_profile_entry *e = &t->entries[t->n++];
    *e = (mxnet_profile_entry){.category = category};
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

static void collect(const char *name, const char *category, int64_t begin, int64_t end, void *user) {
    table *t = user;
    const double ms = (double)(end - begin) / 1e6;
    mxnet_profile_entry *e = entry_of(t, name, category);
    if (!e) {
        t->failed = 1;
        return;
    }
    e->least = e->count && e->least < ms ? e->least : ms;
    e->most = e->count && e->most > ms ? e->most : ms;
    e->total += ms;
    e->count++;
}

/* Counters, of which others may be made meanwhile, behind the events. */
static int collect_counters(table *t) {
    const size_t n = mxnet_profile_counters(0, NULL);
    if (t->failed || (n && grow(t, t->n + n)))
        return mxnet_fail("out of memory for the profile's statistics");
    const size_t found = mxnet_profile_counters(n, t->entries + t->n);
    t->n += found < n ? found : n;
    return 0;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static double average(const mxnet_profile_entry *e) {
    return e->count ? e->total / (double)e->count : 0;
}

static double key_of(const mxnet_profile_entry *e, int sort_by) {
    switch (sort_by) {
    case BY_AVERAGE:
        return average(e);
    case BY_LEAST:
        return e->least;
    case BY_MOST:
        return e->most;
    case BY_COUNT:
        return (double)e->count;
    default:
        return e->total;
    }
}

/* Sorted by category, then by the key: an insertion sort, as there are few names. */
static int is_before(const table *t, const mxnet_profile_entry *a, const mxnet_profile_entry *b) {
    const int order = strcmp(a->category, b->category);
    const double ka = key_of(a, t->sort_by), kb = key_of(b, t->sort_by);
    return order ? order < 0 : t->ascending ? ka < kb : ka > kb;
}

static void sort(table *t) {
    for (size_t i = 1; i < t->n; i++) {
        const mxnet_profile_entry e = t->entries[i];
        size_t k = i;
        for (; k > 0 && is_before(t, &e, &t->entries[k - 1]); k--)
            t->entries[k] = t->entries[k - 1];
        t->entries[k] = e;
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

typedef struct text {
    char *at, *end;
} text;

static void put(text *to, const char *format, ...) MXC_PRINTF(2, 3);
static void put(text *to, const char *format, ...) {
    const size_t room = (size_t)(to->end - to->at);
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(to->at, room, format, args);
    va_end(args);
    to->at += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static int begins_category(const table *t, size_t i) {
    return i == 0 || strcmp(t->entries[i].category, t->entries[i - 1].category) != 0;
}

static void put_table(text *to, const table *t) {
    put(to, "\nProfile Statistics:\n\tNote the difference in units for different entries.\n");
    for (size_t i = 0; i < t->n; i++) {
        const mxnet_profile_entry *e = &t->entries[i];
        if (begins_category(t, i))
            put(to, "%s%.60s\n=================\n%-25s %15s %16s %16s %16s %16s\n", i ? "\n" : "", e->category, "Name",
                "Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)");
        put(to, "%-25s %15llu %16.4f %16.4f %16.4f %16.4f\n", e->name, (unsigned long long)e->count, e->total, e->least,
            e->most, average(e));
    }
}

/* A name as a JSON string; what would need an escape becomes '?'. */
static void put_string(text *to, const char *name) {
    put(to, "\"");
    for (int i = 0; name[i] && i < 60; i++)
        put(to, "%c",
            name[i] == '"' || name[i] == '\\' || (unsigned char)name[i] < ' ' || name[i] & 128 ? '?' : name[i]);
    put(to, "\"");
}

static void put_json(text *to, const table *t) {
    put(to, "{\"Time\": {");
    for (size_t i = 0; i < t->n; i++) {
        const mxnet_profile_entry *e = &t->entries[i];
        if (begins_category(t, i)) {
            put(to, "%s\n", i ? "\n}," : "");
            put_string(to, e->category);
            put(to, ": {\n");
        } else {
            put(to, ",\n");
        }
        put_string(to, e->name);
        put(to, ": {\"Count\": %llu, \"Total\": %.4f, \"Min\": %.4f, \"Max\": %.4f, \"Avg\": %.4f}",
            (unsigned long long)e->count, e->total, e->least, e->most, average(e));
    }
    put(to, "%s}, \"Memory\": {}, \"Unit\": {\"Time\": \"ms\", \"Memory\": \"kB\"}}\n", t->n ? "\n}" : "");
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static int print(table *t, int format, const char **out) {
    size_t bytes;
    text to;
    MXNET_TRY(mxc_trace_visit(collect, t));
    MXNET_CALL(collect_counters(t));
    sort(t);
    MXNET_CALL(mxnet_multiply(2 * t->n + 2, ROW_BYTES, &bytes));
    to.at = mxnet_buffer(MXNET_SLOT_TEXT, bytes, 1);
    if (!to.at)
        return -1;
    to.end = to.at + bytes;
    *out = to.at;
    (format ? put_json : put_table)(&to, t);
    return 0;
}

int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by, int ascending) {
    table t = {.sort_by = sort_by, .ascending = ascending};
    MXNET_NEED(out_str);
    if (sort_by < 0 || sort_by >= SORTS || format < 0 || format > 1)
        return mxnet_fail("profile statistics: format %d is none of 0 and 1, or sort_by %d none of 0 to 4", format,
                          sort_by);
    MXNET_CALL(MXNDArrayWaitAll());
    const int failed = print(&t, format, out_str);
    mxnet_free(t.entries);
    if (failed)
        return -1;
    return reset ? mxnet_profile_clear() : 0;
}

int MXAggregateProfileStatsPrint(const char **out_str, int reset) {
    return MXAggregateProfileStatsPrintEx(out_str, reset, 0, BY_TOTAL, 0);
}
