/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace events and their file. Each thread has a row of its own. Rows are spread over slots, each with a lock, and a
 * thread uses one slot, so that recording threads rarely contend; starting and writing lock all slots.
 */
#include "base/trace.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

enum { SLOTS = 16, CHUNK_EVENTS = 256, NAME_BYTES = 48, TEXT_BYTES = 128, ROW_NAME_BYTES = 32 };

typedef struct event {
    int64_t begin, end; /* mxci_now_ns */
    const char *category;
    char name[NAME_BYTES];
    char text[TEXT_BYTES]; /* shapes; "": the event has no arguments */
    int64_t bytes, temp_bytes;
} event;

typedef struct chunk {
    struct chunk *next;
    int count;
    event events[CHUNK_EVENTS];
} chunk;

/* One thread's events. A row outlives its thread, until the next start. */
typedef struct row {
    struct row *next;
    int number; /* from 1 */
    char name[ROW_NAME_BYTES];
    chunk *first, *last;
} row;

static struct slot {
    _Alignas(64) mxci_mutex lock; /* guards the rows, their events, and dropped */
    row *rows;
    int64_t dropped; /* events lost because there was no memory */
} slots[SLOTS] = {
#define UNUSED_SLOT \
    { MXCI_MUTEX_INIT, NULL, 0 }
#define FOUR_SLOTS UNUSED_SLOT, UNUSED_SLOT, UNUSED_SLOT, UNUSED_SLOT
    FOUR_SLOTS,
    FOUR_SLOTS,
    FOUR_SLOTS,
    FOUR_SLOTS,
};

static mxci_mutex control = MXCI_MUTEX_INIT; /* one start, stop or write at a time; taken before the slots' */
atomic_int mxci_trace_on;                    /* changed under control */
static int is_paused_by_user;                /* the same; only while it is off */
static _Atomic int64_t started;              /* time of it; events that began before are not kept */
static _Atomic uint32_t generation;          /* counts starts */
static atomic_int row_count, thread_count;

static _Thread_local struct {
    struct slot *slot;
    row *row; /* valid while generation is the global one; both are compared under the slot's lock */
    uint32_t generation;
    char name[ROW_NAME_BYTES];
} mine;

static void lock_all(void) {
    for (int i = 0; i < SLOTS; i++)
        mxci_mutex_lock(&slots[i].lock);
}

static void unlock_all(void) {
    for (int i = SLOTS; i-- > 0;)
        mxci_mutex_unlock(&slots[i].lock);
}

/* Pause recording and lock everything, for a start, stop or write. Recording is turned off first, since threads that
 * record all the time could keep the slots locked. Returns 1 if it was on. */
static int pause_trace(void) {
    int was_on;
    mxci_mutex_lock(&control);
    was_on = atomic_exchange(&mxci_trace_on, 0);
    lock_all();
    return was_on;
}

static void resume_trace(int on) {
    unlock_all();
    atomic_store(&mxci_trace_on, on);
    mxci_mutex_unlock(&control);
}

/* fork() waits for all slots, so that the child finds whole rows and free locks. */
static void before_fork(void) {
    mxci_mutex_lock(&control);
    lock_all();
}

static void after_fork(void) {
    unlock_all();
    mxci_mutex_unlock(&control);
}

/* ---- recording ---- */

/* Threads are assigned to slots in turn. */
static struct slot *my_slot(void) {
    if (!mine.slot)
        mine.slot = &slots[(unsigned)atomic_fetch_add(&thread_count, 1) % SLOTS];
    return mine.slot;
}

/* This thread's row, made if it has none since the last start. Slot locked. NULL when out of memory. */
static row *my_row(struct slot *slot) {
    uint32_t now = atomic_load(&generation);
    row *r;
    if (mine.row && mine.generation == now)
        return mine.row;
    r = mxci_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->number = atomic_fetch_add(&row_count, 1) + 1;
    if (!mine.name[0] && mxci_thread_is_first())
        memcpy(mine.name, "main", sizeof "main");
    memcpy(r->name, mine.name, sizeof r->name);
    r->next = slot->rows;
    slot->rows = r;
    mine.row = r;
    mine.generation = now;
    return r;
}

/* The next free event of a row. Slot locked. NULL when out of memory. */
static event *next_event(row *r) {
    if (!r->last || r->last->count == CHUNK_EVENTS) {
        chunk *c = mxci_alloc(sizeof *c);
        if (!c)
            return NULL;
        c->next = NULL;
        c->count = 0;
        *(r->last ? &r->last->next : &r->first) = c;
        r->last = c;
    }
    return &r->last->events[r->last->count++];
}

int64_t mxci_trace_begin_slow(void) {
    return mxci_now_ns();
}

void mxci_trace_end(int64_t begin, const char *name, const char *category) {
    mxci_trace_end_with(begin, name, category, NULL, 0, 0);
}

void mxci_trace_end_with(int64_t begin, const char *name, const char *category, const char *text, int64_t bytes,
                         int64_t temp_bytes) {
    int64_t end;
    struct slot *slot;
    if (begin == 0)
        return;
    end = mxci_now_ns();
    slot = my_slot();
    mxci_mutex_lock(&slot->lock);
    if (atomic_load(&mxci_trace_on) && begin >= atomic_load(&started)) {
        row *r = my_row(slot);
        event *e = r ? next_event(r) : NULL;
        if (e) {
            e->begin = begin;
            e->end = end;
            e->category = category;
            e->bytes = bytes;
            e->temp_bytes = temp_bytes;
            mxci_format(e->name, sizeof e->name, "%s", name);
            mxci_format(e->text, sizeof e->text, "%s", text ? text : "");
        } else {
            slot->dropped++;
        }
    }
    mxci_mutex_unlock(&slot->lock);
}

void mxci_trace_thread_name(const char *name) {
    struct slot *slot = my_slot();
    mxci_format(mine.name, sizeof mine.name, "%s", name);
    mxci_mutex_lock(&slot->lock);
    if (mine.row && mine.generation == atomic_load(&generation))
        memcpy(mine.row->name, mine.name, sizeof mine.name);
    mxci_mutex_unlock(&slot->lock);
}

/* ---- starting and stopping ---- */

static void free_row(row *r) {
    while (r->first) {
        chunk *next = r->first->next;
        mxci_free(r->first);
        r->first = next;
    }
    mxci_free(r);
}

/* All slots locked. */
static void clear_all(void) {
    atomic_fetch_add(&generation, 1);
    atomic_store(&row_count, 0);
    for (int i = 0; i < SLOTS; i++) {
        while (slots[i].rows) {
            row *next = slots[i].rows->next;
            free_row(slots[i].rows);
            slots[i].rows = next;
        }
        slots[i].dropped = 0;
    }
}

mxc_status mxc_trace_start(void) {
    static atomic_int prepared;
    if (!atomic_exchange(&prepared, 1)) {
        mxc_status status = mxci_at_fork(before_fork, after_fork, after_fork);
        if (status != MXC_OK) {
            atomic_store(&prepared, 0);
            return status;
        }
    }
    pause_trace();
    clear_all();
    atomic_store(&started, mxci_now_ns());
    is_paused_by_user = 0;
    resume_trace(1);
    return MXC_OK;
}

void mxc_trace_stop(void) {
    pause_trace();
    is_paused_by_user = 0;
    resume_trace(0);
}

void mxc_trace_pause(int is_paused) {
    const int on = pause_trace(), was_paused = is_paused_by_user;
    is_paused_by_user = is_paused && (on || was_paused);
    resume_trace(!is_paused && (on || was_paused));
}

int64_t mxc_trace_begin(void) {
    return mxci_trace_begin();
}

void mxc_trace_end(int64_t begin, const char *name, const char *category) {
    if (name && category)
        mxci_trace_end(begin, name, category);
}

void mxci_trace_clear(void) {
    pause_trace();
    clear_all();
    resume_trace(0);
}

/* ---- writing ---- */

/* Text as a JSON string; bytes that are not UTF-8 (a name may be truncated within a character) become '?'. */
static mxc_status write_string(mxci_writer *w, const char *text) {
    size_t left = strlen(text);
    MXC_TRY(mxci_writer_write(w, "\"", 1));
    while (left) {
        size_t n = mxci_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (n == 0)
            MXC_TRY(mxci_writer_write(w, "?", 1));
        else if (c == '"' || c == '\\' || c < 0x20)
            MXC_TRY(mxci_writer_printf(w, "\\u%04x", c));
        else
            MXC_TRY(mxci_writer_write(w, text, n));
        text += n ? n : 1;
        left -= n ? n : 1;
    }
    return mxci_writer_write(w, "\"", 1);
}

static mxc_status write_row_name(mxci_writer *w, const row *r) {
    char name[ROW_NAME_BYTES];
    mxci_format(name, sizeof name, "thread %d", r->number);
    MXC_TRY(mxci_writer_printf(
        w, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":", r->number));
    MXC_TRY(write_string(w, r->name[0] ? r->name : name));
    return mxci_writer_printf(w, "}}");
}

static mxc_status write_event(mxci_writer *w, const row *r, const event *e) {
    long long begin = e->begin - atomic_load(&started), duration = e->end - e->begin;
    MXC_TRY(mxci_writer_printf(w, ",\n{\"name\":"));
    MXC_TRY(write_string(w, e->name));
    MXC_TRY(mxci_writer_printf(w, ",\"cat\":"));
    MXC_TRY(write_string(w, e->category));
    MXC_TRY(mxci_writer_printf(w, ",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%lld.%03lld,\"dur\":%lld.%03lld",
                               r->number, begin / 1000, begin % 1000, duration / 1000, duration % 1000));
    if (e->text[0] != '\0') {
        MXC_TRY(mxci_writer_printf(w, ",\"args\":{\"shapes\":"));
        MXC_TRY(write_string(w, e->text));
        MXC_TRY(mxci_writer_printf(w, ",\"bytes\":%lld,\"temp_bytes\":%lld}", (long long)e->bytes,
                                   (long long)e->temp_bytes));
    }
    return mxci_writer_printf(w, "}");
}

static void visit_row(const row *r, mxc_trace_fn fn, void *user) {
    for (const chunk *c = r->first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            fn(c->events[i].name, c->events[i].category, c->events[i].begin, c->events[i].end, user);
}

mxc_status mxc_trace_visit(mxc_trace_fn fn, void *user) {
    MXC_TRY(MXCI_NON_NULL(fn));
    const int on = pause_trace();
    for (int i = 0; i < SLOTS; i++)
        for (const row *r = slots[i].rows; r; r = r->next)
            visit_row(r, fn, user);
    resume_trace(on);
    return MXC_OK;
}

static mxc_status write_row(mxci_writer *w, const row *r) {
    MXC_TRY(write_row_name(w, r));
    for (const chunk *c = r->first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            MXC_TRY(write_event(w, r, &c->events[i]));
    return MXC_OK;
}

/* All slots locked. */
static mxc_status write_all(mxci_writer *w) {
    int64_t dropped = 0;
    MXC_TRY(mxci_writer_printf(w, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                                  "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"libmxc\"}}"));
    for (int i = 0; i < SLOTS; i++) {
        dropped += slots[i].dropped;
        for (const row *r = slots[i].rows; r; r = r->next)
            MXC_TRY(write_row(w, r));
    }
    return mxci_writer_printf(w, "\n],\"otherData\":{\"dropped\":%lld}}\n", (long long)dropped);
}

mxc_status mxc_trace_write(const char *path) {
    MXC_TRY(MXCI_NON_NULL(path));
    mxc_status status;
    mxci_writer *w;
    int on;
    MXC_TRY(mxci_writer_open(path, &w));
    on = pause_trace();
    status = write_all(w);
    resume_trace(on);
    if (status == MXC_OK)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return status;
}
