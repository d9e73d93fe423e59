/* SPDX-License-Identifier: Apache-2.0 */
/* The group in memory: a world with one lock; collective operations by number and channel, messages in queues. */
#include "kvstore/fake_group.h"

#include <stdlib.h>
#include <string.h>

#include <mxc/half.h>

#include "base/sys.h"

enum { RANKS = FAKE_GROUP_RANKS };
typedef enum kind { SUM, GATHER, BROADCAST } kind;

/* A collective operation: what each rank gave, and the result once all have joined. */
typedef struct meeting {
    kind kind;
    mxci_group_channel channel;
    int64_t number;
    int root; /* who sends, or alone gets the sum; -1: all */
    int joined, left;
    mxc_dtype dtype;
    int64_t n;
    void *given[RANKS];
    int64_t bytes[RANKS];
    void *result;
    struct meeting *next;
} meeting;

typedef struct message {
    int from, to, waits, is_taken;
    mxci_group_channel channel;
    size_t bytes;
    struct message *next;
    char data[];
} message;

/* A transfer's room: which of these it is. */
typedef struct operation {
    meeting *meeting;
    message *sent;
    mxci_group_channel channel;
    int from, tests;
    void *out;
    size_t room;
    struct operation *next; /* all of them, until the end */
} operation;

struct mxci_process_group {
    int rank, is_frozen, refused;
    int64_t numbers[MXCI_CHANNELS];
};

static mxci_mutex lock = MXCI_MUTEX_INIT;
static int size, delay, n_open;
static meeting *meetings;
static message *messages;
static operation *operations;
static struct mxci_process_group groups[RANKS];

/* ---- for tests --------------------------------------------------------------------------------------------------- */

void fake_group_start(int n) {
    size = n;
    memset(groups, 0, sizeof groups);
}

static int count_open(void) {
    mxci_mutex_lock(&lock);
    int n = n_open;
    mxci_mutex_unlock(&lock);
    return n;
}

void fake_group_end(void) {
    while (count_open() > 0)
        mxci_sleep_ns(100000);
    for (meeting *m = meetings, *next; m; m = next) {
        next = m->next;
        for (int i = 0; i < size; i++)
            free(m->given[i]);
        free(m->result);
        free(m);
    }
    for (message *m = messages, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    for (operation *op = operations, *next; op; op = next) {
        next = op->next;
        free(op);
    }
    meetings = NULL;
    messages = NULL;
    operations = NULL;
    delay = 0;
}

void fake_group_freeze(int rank) {
    mxci_mutex_lock(&lock);
    groups[rank].is_frozen = 1;
    mxci_mutex_unlock(&lock);
}

void fake_group_await_frozen(int rank) {
    for (int is_frozen = 0; !is_frozen; mxci_sleep_ns(100000)) {
        mxci_mutex_lock(&lock);
        is_frozen = groups[rank].is_frozen;
        mxci_mutex_unlock(&lock);
    }
}

void fake_group_refuse(int rank, int sums) {
    mxci_mutex_lock(&lock);
    groups[rank].refused = sums;
    mxci_mutex_unlock(&lock);
}

void fake_group_delay(int tests) {
    mxci_mutex_lock(&lock);
    delay = tests;
    mxci_mutex_unlock(&lock);
}

/* A new operation in a transfer's room. The lock is held. */
static operation *begin(mxci_group_request *t, const operation *like) {
    operation *op = malloc(sizeof *op);
    *op = *like;
    op->next = operations;
    operations = op;
    memcpy(t->room, &op, sizeof op);
    return op;
}

/* ---- collective operations --------------------------------------------------------------------------------------- */

static void add(void *to, const void *from, int64_t n, mxc_dtype dtype) {
    for (int64_t i = 0; i < n; i++)
        switch (dtype) {
        case MXC_F32:
            ((float *)to)[i] += ((const float *)from)[i];
            break;
        case MXC_F64:
            ((double *)to)[i] += ((const double *)from)[i];
            break;
        case MXC_I64:
            ((int64_t *)to)[i] += ((const int64_t *)from)[i];
            break;
        case MXC_I32:
            ((int32_t *)to)[i] += ((const int32_t *)from)[i];
            break;
        case MXC_F16: {
            mxc_f16 *a = to;
            const mxc_f16 *b = from;
            a[i] = mxc_float_to_f16(mxc_f16_to_float(a[i]) + mxc_f16_to_float(b[i]));
            break;
        }
        default: {
            mxc_bf16 *a = to;
            const mxc_bf16 *b = from;
            a[i] = mxc_float_to_bf16(mxc_bf16_to_float(a[i]) + mxc_bf16_to_float(b[i]));
        }
        }
}

static void complete(meeting *m) {
    size_t bytes = (size_t)m->bytes[0];
    m->result = calloc(m->kind == GATHER ? (size_t)size : 1, bytes + 1);
    if (m->kind == GATHER)
        for (int i = 0; i < size; i++)
            memcpy((char *)m->result + (size_t)i * bytes, m->given[i], bytes);
    else
        memcpy(m->result, m->given[0], bytes);
    for (int i = 1; m->kind == SUM && i < size; i++)
        add(m->result, m->given[i], m->n, m->dtype);
}

/* A status, since ranks that do not fit each other are what the store has to find out before. */
static mxc_status join(mxci_process_group *g, mxci_group_channel channel, kind kind, int root, const void *in,
                       int64_t n, size_t bytes, mxc_dtype dtype, operation *op) {
    meeting *m = meetings;
    while (m && !(m->channel == channel && m->number == g->numbers[channel]))
        m = m->next;
    if (!m) {
        m = calloc(1, sizeof *m);
        *m = (meeting){.kind = kind,
                       .channel = channel,
                       .number = g->numbers[channel],
                       .dtype = dtype,
                       .n = n,
                       .root = root,
                       .next = meetings};
        m->bytes[0] = (int64_t)bytes;
        meetings = m;
    }
    if (m->kind != kind || m->root != root || m->dtype != dtype || m->n != n || m->bytes[0] != (int64_t)bytes)
        return MXC_FAIL(MXC_EIO, "ranks do not fit: %lld and %lld elements", (long long)m->n, (long long)n);
    g->numbers[channel]++;
    m->given[g->rank] = malloc(bytes + 1);
    memcpy(m->given[g->rank], in, bytes);
    if (++m->joined == size)
        complete(m);
    op->meeting = m;
    return MXC_OK;
}

static mxc_status start(mxci_process_group *g, mxci_group_channel channel, kind kind, int root, const void *in,
                        void *out, int64_t n, size_t bytes, mxc_dtype dtype, mxci_group_request *t) {
    mxci_mutex_lock(&lock);
    mxc_status status = MXC_OK;
    operation *op = begin(t, &(operation){.out = out});
    if (kind == SUM && n > 1 && g->refused > 0 && g->refused--)
        status = MXC_FAIL(MXC_EIO, "the wire is cut");
    if (status == MXC_OK && !g->is_frozen) /* else it will never be done */
        status = join(g, channel, kind, root, in, n, bytes, dtype, op);
    mxci_mutex_unlock(&lock);
    return status;
}

static mxc_status fake_allreduce(mxci_process_group *g, int to, const void *in, void *out, int64_t n, mxc_dtype dtype,
                                 mxci_group_request *t) {
    return start(g, MXCI_CHANNEL_DATA, SUM, to, in, out, n, (size_t)n * mxc_dtype_size(dtype), dtype, t);
}

static mxc_status fake_allgather(mxci_process_group *g, const void *in, void *out, size_t bytes,
                                 mxci_group_request *t) {
    return start(g, MXCI_CHANNEL_DATA, GATHER, -1, in, out, (int64_t)bytes, bytes, MXC_U8, t);
}

static mxc_status fake_broadcast(mxci_process_group *g, mxci_group_channel channel, int from, void *data, size_t bytes,
                                 mxci_group_request *t) {
    return start(g, channel, BROADCAST, from, data, data, (int64_t)bytes, bytes, MXC_U8, t);
}

/* What a rank is told does not wait for the others, nor does it for what it only gives. */
static int has_landed(const mxci_process_group *g, const meeting *m) {
    if (m->kind == BROADCAST)
        return m->given[m->root] != NULL;
    return m->result || (m->root >= 0 && m->root != g->rank);
}

static int test_meeting(const mxci_process_group *g, operation *op) {
    meeting *m = op->meeting;
    if (!has_landed(g, m) || op->tests++ < (m->kind == BROADCAST ? 0 : delay))
        return 0;
    size_t bytes = (size_t)m->bytes[0] * (m->kind == GATHER ? (size_t)size : 1);
    if (m->kind == BROADCAST)
        memcpy(op->out, m->given[m->root], bytes);
    else if (m->root < 0 || m->root == g->rank)
        memcpy(op->out, m->result, bytes);
    return 1;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static mxc_status fake_send(mxci_process_group *g, mxci_group_channel channel, int to, const void *data, size_t bytes,
                            int waits, mxci_group_request *t) {
    message *m = calloc(1, sizeof *m + bytes), **end = &messages;
    *m = (message){.from = g->rank, .to = to, .waits = waits, .channel = channel, .bytes = bytes};
    memcpy(m->data, data, bytes);
    mxci_mutex_lock(&lock);
    begin(t, &(operation){.sent = m});
    if (g->is_frozen || groups[to].is_frozen)
        m->to = -1;
    while (*end)
        end = &(*end)->next;
    *end = m;
    mxci_mutex_unlock(&lock);
    return MXC_OK;
}

static message *find_message(int to, mxci_group_channel channel, int from) {
    message *m = messages;
    while (m && (m->is_taken || m->to != to || m->channel != channel || (from >= 0 && m->from != from)))
        m = m->next;
    return m;
}

static mxc_status receive(mxci_group_channel channel, int from, void *data, size_t room, mxci_group_request *t) {
    mxci_mutex_lock(&lock);
    begin(t, &(operation){.channel = channel, .from = from, .out = data, .room = room});
    mxci_mutex_unlock(&lock);
    return MXC_OK;
}

static mxc_status fake_receive(mxci_process_group *g, mxci_group_channel channel, void *data, size_t room,
                               mxci_group_request *t) {
    (void)g;
    return receive(channel, -1, data, room, t);
}

static mxc_status fake_receive_from(mxci_process_group *g, mxci_group_channel channel, int from, void *data,
                                    size_t bytes, mxci_group_request *t) {
    (void)g;
    return receive(channel, from, data, bytes, t);
}

static mxc_status fake_probe(mxci_process_group *g, mxci_group_channel channel, int *from, size_t *bytes) {
    mxci_mutex_lock(&lock);
    message *m = g->is_frozen ? NULL : find_message(g->rank, channel, -1);
    *from = m ? m->from : -1;
    if (m)
        *bytes = m->bytes;
    mxci_mutex_unlock(&lock);
    return MXC_OK;
}

static int test_message(const mxci_process_group *g, const operation *op, mxci_group_request *t) {
    if (op->sent)
        return !op->sent->waits || op->sent->is_taken;
    message *m = find_message(g->rank, op->channel, op->from);
    if (!m)
        return 0;
    t->from = m->from;
    t->bytes = m->bytes < op->room ? m->bytes : op->room;
    memcpy(op->out, m->data, t->bytes);
    m->is_taken = 1;
    return 1;
}

static mxc_status fake_test(mxci_process_group *g, mxci_group_request *t, int *done) {
    operation *op;
    memcpy(&op, t->room, sizeof op);
    mxci_mutex_lock(&lock);
    *done = !g->is_frozen && (op->meeting ? test_meeting(g, op) : test_message(g, op, t));
    mxci_mutex_unlock(&lock);
    return MXC_OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static mxc_status open_as(int rank, mxci_process_group **out) {
    *out = &groups[rank];
    (*out)->rank = rank;
    mxci_mutex_lock(&lock);
    n_open++;
    mxci_mutex_unlock(&lock);
    return MXC_OK;
}

static int fake_close(mxci_process_group *g, int whole) {
    (void)g, (void)whole;
    mxci_mutex_lock(&lock);
    n_open--;
    mxci_mutex_unlock(&lock);
    return 1;
}

static int fake_rank(const mxci_process_group *g) {
    return g->rank;
}

static int fake_size(const mxci_process_group *g) {
    (void)g;
    return size;
}

#define TABLE(n)                                                                                                  \
    {                                                                                                             \
        .open = open_##n, .close = fake_close, .rank = fake_rank, .size = fake_size, .allreduce = fake_allreduce, \
        .allgather = fake_allgather, .broadcast = fake_broadcast, .send = fake_send, .receive = fake_receive,     \
        .probe = fake_probe, .receive_from = fake_receive_from, .test = fake_test                                 \
    }
#define OPENER(n)                                          \
    static mxc_status open_##n(mxci_process_group **out) { \
        return open_as(n, out);                            \
    }
OPENER(0)
OPENER(1)
OPENER(2)
OPENER(3)
OPENER(4)
OPENER(5)
OPENER(6)
OPENER(7)
static const mxci_process_group_api tables[RANKS] = {
    TABLE(0), TABLE(1), TABLE(2), TABLE(3), TABLE(4), TABLE(5), TABLE(6), TABLE(7),
};

const mxci_process_group_api *fake_group_api(int rank) {
    return &tables[rank];
}
