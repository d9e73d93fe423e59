/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of two ranks that have the same name, but not the same bytes: the communication finds that before anything is
 * sent, whatever is above it. Covers the signatures of kvstore/collectives.c too.
 */
#include "base/sys.h"
#include "kvstore/comm.h"
#include "kvstore/fake_group.h"
#include "support.h"

enum { ROOM = 4096 };

typedef struct side {
    int rank;
    int64_t piece_bytes;
    mxci_call call;
    mxci_thread thread;
    mxc_status status;
    char message[MXC_ERROR_MAX];
    float in[ROOM], out[ROOM];
} side;

static void make_call(void *arg) {
    side *s = arg;
    mxci_comm *comm;
    const mxci_comm_settings settings = {
        .timeout_ns = 20000000000,
        .join_ns = 60000000000,
        .piece_bytes = s->piece_bytes,
        .config = "the same",
    };
    s->status = mxci_comm_open(fake_group_api(s->rank), &settings, NULL, &comm);
    if (s->status == MXC_OK) {
        s->call.name = "a call";
        s->call.in = s->in;
        s->call.out = s->out;
        s->status = mxci_comm_call(comm, &s->call);
    }
    snprintf(s->message, sizeof s->message, "%s", s->status != MXC_OK ? mxc_last_error() : "");
    mxci_comm_close(comm);
}

/* What both are told; "" if both calls succeed. */
static const char *call_both(int64_t pieces_0, mxci_call call_0, int64_t pieces_1, mxci_call call_1) {
    static side sides[2];
    memset(sides, 0, sizeof sides);
    sides[0] = (side){.rank = 0, .piece_bytes = pieces_0, .call = call_0};
    sides[1] = (side){.rank = 1, .piece_bytes = pieces_1, .call = call_1};
    fake_group_start(2);
    for (int i = 0; i < 2; i++)
        assert_ok(mxci_thread_start(&sides[i].thread, "side", make_call, &sides[i]));
    for (int i = 0; i < 2; i++)
        mxci_thread_join(sides[i].thread);
    fake_group_end();
    assert_int_equal(sides[0].status, sides[1].status);
    assert_string_equal(sides[0].message, sides[1].message);
    assert_true(sides[0].status == MXC_OK || sides[0].status == MXC_EWORKER);
    for (int i = 0; i < ROOM && sides[0].status != MXC_OK; i++)
        assert_true(sides[1].out[i] == 0);
    return sides[0].message;
}

static void expect(const char *message, const char *ours, const char *theirs) {
    if (!strstr(message, ours) || !strstr(message, theirs))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", message, ours, theirs);
}

static void test_forms(void **state) {
    const mxci_call sum = {.kind = MXCI_CALL_REDUCE, .dtype = MXC_F32, .n = 64};
    mxci_call other = sum;
    (void)state;
    assert_string_equal(call_both(4096, sum, 4096, sum), "");
    other.n = 16;
    expect(call_both(4096, sum, 4096, other), "(a call) of rank 1 is a sum of 16 float32", "rank 0 it is a sum of 64");
    other = sum;
    other.dtype = MXC_F64;
    expect(call_both(4096, sum, 4096, other), "of rank 1 is a sum of 64 float64", "it is a sum of 64 float32");
    other = sum;
    other.kind = MXCI_CALL_ALLGATHER;
    expect(call_both(4096, sum, 4096, other), "of rank 1 is an allgather of 64 bytes", "it is a sum of 64 float32");
    other = sum;
    other.share = 32;
    expect(call_both(4096, sum, 4096, other), "in 1 pieces of shares, of", "it is a sum of 64 float32 in 1 pieces: ");
    expect(call_both(64, sum, 128, sum), "rank 1 is a sum of 64 float32 in 2 pieces", "it is a sum of 64 float32 in 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
