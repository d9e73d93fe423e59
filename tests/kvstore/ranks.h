/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of distributed stores by ranks that are threads of this process, on the group of fake_group.h. */
#ifndef MXC_TESTS_KVSTORE_RANKS_H
#define MXC_TESTS_KVSTORE_RANKS_H

#include "base/sys.h"
#include "kvstore/fake_group.h"
#include "kvstore/kvstore.h"
#include "support.h"

enum { N = 5, MOST = 4 }; /* elements of the first key; ranks */

/* One rank's part of a test: its status and message are looked at when all have ended. */
typedef struct rank {
    int rank, size;
    mxci_thread thread;
    const char *const *settings; /* name, value, ..., NULL */
    const char *type;
    mxc_status (*body)(struct rank *r, mxc_kvstore *store);
    mxc_status status;
    char message[MXC_ERROR_MAX];
    float found[8 * N]; /* for the test */
} rank;

static inline mxc_status make(const rank *r, mxc_kvstore **store) {
    const char *keys[8], *values[8];
    int n = 0;
    for (; r->settings && r->settings[2 * n]; n++) {
        keys[n] = r->settings[2 * n];
        values[n] = r->settings[2 * n + 1];
    }
    return mxci_kvstore_create_on(fake_group_api(r->rank), r->type, n, keys, values, store);
}

static inline void play(void *arg) {
    rank *r = arg;
    mxc_kvstore *store;
    r->status = make(r, &store);
    if (r->status == MXC_OK)
        r->status = r->body(r, store);
    snprintf(r->message, sizeof r->message, "%s", r->status == MXC_OK ? "" : mxc_last_error());
    mxc_kvstore_destroy(store);
}

static inline void set_ranks(rank *ranks, int size, const char *type, const char *const *settings,
                             mxc_status (*body)(rank *r, mxc_kvstore *store)) {
    for (int i = 0; i < size; i++)
        ranks[i] = (rank){.rank = i, .size = size, .type = type, .settings = settings, .body = body};
}

/* Ranks [begin, end) of a group that has been started, at the same time. */
static inline void play_some(rank *ranks, int begin, int end) {
    for (int i = begin; i < end; i++)
        assert_ok(mxci_thread_start(&ranks[i].thread, "rank", play, &ranks[i]));
    for (int i = begin; i < end; i++)
        mxci_thread_join(ranks[i].thread);
}

static inline void play_all(rank *ranks, int size, const char *type, const char *const *settings,
                            mxc_status (*body)(rank *r, mxc_kvstore *store)) {
    set_ranks(ranks, size, type, settings, body);
    fake_group_start(size);
    play_some(ranks, 0, size);
    fake_group_end();
}

static inline void expect_all_ok(const rank *ranks, int size) {
    for (int i = 0; i < size; i++)
        if (ranks[i].status != MXC_OK)
            fail_msg("rank %d: %s", i, ranks[i].message);
}

/* Every rank failed, with a message that has these parts. */
static inline void expect_all_failed(const rank *ranks, int size, const char *a, const char *b, const char *c) {
    for (int i = 0; i < size; i++) {
        const char *text = ranks[i].message;
        if (ranks[i].status != MXC_EWORKER || !strstr(text, a) || !strstr(text, b) || !strstr(text, c))
            fail_msg("rank %d: %s: \"%s\" lacks \"%s\", \"%s\" or \"%s\"", i, mxc_status_name(ranks[i].status), text, a,
                     b, c);
    }
}

/* Where the ranks' arrays are. */
static mxc_context context = {MXC_CPU, 0};

static inline mxc_status filled(double value, int64_t n, mxc_dtype dtype, mxc_ndarray **out) {
    MXC_TRY(mxc_ndarray_create(1, &n, dtype, context, out));
    return mxc_ndarray_fill(*out, value);
}

#endif
