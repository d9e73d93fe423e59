/* SPDX-License-Identifier: Apache-2.0 */
/* The front end's own domains, tasks, frames, events, counters and markers. What has a duration is an event of the
 * trace, in the category of its domain; a marker is one without duration. */
#include <stdio.h>
#include <string.h>

#include "compat/profile.h"

/* ProfileHandle of a domain: its names, which live as long as the process, since events refer to them. */
typedef struct domain {
    struct domain *next;
    char *name, *frames, *markers;
} domain;

/* ProfileHandle of the others. */
typedef struct object {
    struct object *next, **link; /* counters are in a list */
    const char *category;
    char *name;
    int64_t begin; /* of the duration that is going on */
    int is_counter;
    uint64_t value;
    mxnet_profile_entry changes; /* of a counter */
} object;

/* Under mxnet_lock. */
static domain *domains;
static object *counters;

/* ---- domains ----------------------------------------------------------------------------------------------------- */

static char *join(const char *name, const char *kind) {
    const size_t room = strlen(name) + strlen(kind) + 1;
    char *joined = mxnet_alloc(room, 1);
    if (joined)
        snprintf(joined, room, "%s%s", name, kind);
    return joined;
}

static domain *find_domain(const char *name) {
    domain *d = domains;
    while (d && strcmp(d->name, name))
        d = d->next;
    return d;
}

static domain *make_domain(const char *name) {
    domain *d = mxnet_alloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->name = join(name, "");
    d->frames = join(name, ",frame");
    d->markers = join(name, ",instant_marker");
    if (d->name && d->frames && d->markers) {
        d->next = domains;
        domains = d;
        return d;
    }
    mxnet_free(d->name);
    mxnet_free(d->frames);
    mxnet_free(d->markers);
    mxnet_free(d);
    return NULL;
}

int MXProfileCreateDomain(const char *name, ProfileHandle *out) {
    MXNET_NEED(name);
    MXNET_NEED(out);
    mxnet_lock();
    domain *d = find_domain(name);
    if (!d)
        d = make_domain(name);
    mxnet_unlock();
    *out = d;
    return d ? 0 : -1;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static int make_object(const char *category, const char *name, ProfileHandle *out) {
    object *o;
    MXNET_NEED(name);
    MXNET_NEED(out);
    o = mxnet_alloc(1, sizeof *o);
    if (!o)
        return -1;
    o->category = category;
    o->name = mxnet_copy_text(name);
    if (!o->name) {
        mxnet_free(o);
        return -1;
    }
    *out = o;
    return 0;
}

int MXProfileCreateTask(ProfileHandle handle, const char *name, ProfileHandle *out) {
    const domain *d = handle;
    MXNET_NEED(d);
    return make_object(d->name, name, out);
}

int MXProfileCreateFrame(ProfileHandle handle, const char *name, ProfileHandle *out) {
    const domain *d = handle;
    MXNET_NEED(d);
    return make_object(d->frames, name, out);
}

int MXProfileCreateEvent(const char *name, ProfileHandle *out) {
    return make_object("event", name, out);
}

int MXProfileCreateCounter(ProfileHandle handle, const char *name, ProfileHandle *out) {
    const domain *d = handle;
    object *o;
    MXNET_NEED(d);
    MXNET_CALL(make_object(d->name, name, out));
    o = *out;
    o->is_counter = 1;
    o->changes.category = o->category;
    snprintf(o->changes.name, sizeof o->changes.name, "%s", name);
    mxnet_lock();
    o->next = counters;
    o->link = &counters;
    if (counters)
        counters->link = &o->next;
    counters = o;
    mxnet_unlock();
    return 0;
}

int MXProfileDestroyHandle(ProfileHandle handle) {
    object *o = handle;
    if (!o)
        return 0;
    mxnet_lock();
    if (o->is_counter) {
        *o->link = o->next;
        if (o->next)
            o->next->link = o->link;
    }
    mxnet_unlock();
    mxnet_free(o->name);
    mxnet_free(o);
    return 0;
}

int MXProfileDurationStart(ProfileHandle handle) {
    object *o = handle;
    MXNET_NEED(o);
    o->begin = mxc_trace_begin();
    return 0;
}

int MXProfileDurationStop(ProfileHandle handle) {
    object *o = handle;
    MXNET_NEED(o);
    mxc_trace_end(o->begin, o->name, o->category);
    o->begin = 0;
    return 0;
}

int MXProfileSetMarker(ProfileHandle handle, const char *name, const char *scope) {
    const domain *d = handle;
    (void)scope; /* the file's rows are threads */
    MXNET_NEED(d);
    MXNET_NEED(name);
    mxc_trace_end(mxc_trace_begin(), name, d->markers);
    return 0;
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static int change_counter(object *o, int is_set, uint64_t value) {
    MXNET_NEED(o);
    if (!o->is_counter)
        return mxnet_fail("%s is no counter", o->name);
    mxnet_lock();
    o->value = is_set ? value : o->value + value; /* a negative difference wraps to the difference */
    const double now = (double)o->value;
    mxnet_profile_entry *e = &o->changes;
    e->least = e->count && e->least < now ? e->least : now;
    e->most = e->count && e->most > now ? e->most : now;
    e->total = now;
    e->count++;
    mxnet_unlock();
    return 0;
}

int MXProfileSetCounter(ProfileHandle handle, uint64_t value) {
    return change_counter(handle, 1, value);
}

int MXProfileAdjustCounter(ProfileHandle handle, int64_t value) {
    return change_counter(handle, 0, (uint64_t)value);
}

size_t mxnet_profile_counters(size_t room, mxnet_profile_entry *entries) {
    size_t n = 0;
    mxnet_lock();
    for (const object *o = counters; o; o = o->next)
        if (o->changes.count && n++ < room)
            entries[n - 1] = o->changes;
    mxnet_unlock();
    return n;
}
