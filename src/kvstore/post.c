/* Messages between two ranks: sent when they are posted, given to the mailbox when they arrive. */
#include "kvstore/comm_state.h"

enum { ARRIVALS = 16 }; /* at a time, before the thread looks at other things */

mxci_post *mxci_post_create(int to, size_t bytes) {
    mxci_post *post = mxci_alloc(sizeof *post + bytes);
    if (!post)
        return NULL;
    *post = (mxci_post){.to = to, .bytes = bytes};
    return post;
}

void mxci_comm_post(mxci_comm *comm, mxci_post *post) {
    post->next = NULL;
    mxci_mutex_lock(&comm->lock);
    *comm->posted_end = post;
    comm->posted_end = &post->next;
    mxci_cond_signal(&comm->asked);
    mxci_mutex_unlock(&comm->lock);
}

static mxci_post *take_posted(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxci_post *posted = comm->posted;
    comm->posted = NULL;
    comm->posted_end = &comm->posted;
    mxci_mutex_unlock(&comm->lock);
    return posted;
}

static mxc_status send_posted(mxci_comm *comm, int *moved) {
    mxc_status status = MXC_OK;
    for (mxci_post *p = take_posted(comm), *next; p; p = next) {
        next = p->next;
        p->next = comm->sending;
        comm->sending = p;
        *moved = 1;
        if (status == MXC_OK)
            status = comm->api->send(comm->group, MXCI_CHANNEL_SERVER, p->to, p->data, p->bytes, 1, &p->transfer);
    }
    return status;
}

static mxc_status end_sent(mxci_comm *comm, int *moved) {
    for (mxci_post **at = &comm->sending; *at;) {
        mxci_post *p = *at;
        int done = 0;
        MXC_TRY(comm->api->test(comm->group, &p->transfer, &done));
        if (!done) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        *moved = 1;
        if (p->ended)
            p->ended(p, MXC_OK, NULL);
        mxci_free(p);
    }
    return MXC_OK;
}

/* Begin to receive the next message, if there is one. */
static mxc_status begin_arrival(mxci_comm *comm) {
    int from;
    MXC_TRY(comm->api->probe(comm->group, MXCI_CHANNEL_SERVER, &from, &comm->arriving_bytes));
    if (from < 0)
        return MXC_OK;
    comm->arriving = mxci_alloc(comm->arriving_bytes + 1);
    if (!comm->arriving)
        return MXC_FAIL(MXC_ENOMEM, "no memory for a message of %zu bytes of rank %d", comm->arriving_bytes, from);
    comm->arriving[comm->arriving_bytes] = '\0'; /* of a message that ends with text */
    return comm->api->receive_from(comm->group, MXCI_CHANNEL_SERVER, from, comm->arriving, comm->arriving_bytes,
                                   &comm->arrival);
}

static mxc_status receive(mxci_comm *comm, int *moved) {
    for (int i = 0; i < ARRIVALS; i++) {
        int done = 0;
        if (!comm->arriving)
            MXC_TRY(begin_arrival(comm));
        if (comm->arriving)
            MXC_TRY(comm->api->test(comm->group, &comm->arrival, &done));
        if (!done)
            return MXC_OK;
        *moved = 1;
        mxc_status status =
            comm->mailbox.receive(comm->mailbox.arg, comm->arrival.from, comm->arriving, comm->arrival.bytes);
        mxci_free(comm->arriving);
        comm->arriving = NULL;
        MXC_TRY(status);
    }
    return MXC_OK;
}

static void strand(mxci_comm *comm, mxci_post *posts) {
    for (mxci_post *p = posts, *next; p; p = next) {
        next = p->next;
        p->next = comm->stranded;
        comm->stranded = p;
        if (p->ended)
            p->ended(p, comm->code, comm->message);
    }
}

/* Whether a message is still on its way is not known: its memory stays, as that of transfers does. */
static void fail_posts(mxci_comm *comm) {
    mxci_post *sending = comm->sending;
    comm->sending = NULL;
    strand(comm, sending);
    strand(comm, take_posted(comm));
    comm->mailbox.fail(comm->mailbox.arg, comm->code, comm->message);
}

int mxci_post_all_sent(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    int all = !comm->posted && !comm->sending;
    mxci_mutex_unlock(&comm->lock);
    return all;
}

int mxci_post_step(mxci_comm *comm) {
    int moved = 0;
    if (!comm->mailbox.receive)
        return 0;
    if (comm->is_failed || mxci_watch_failed(comm, send_posted(comm, &moved)) ||
        mxci_watch_failed(comm, end_sent(comm, &moved)) || mxci_watch_failed(comm, receive(comm, &moved)))
        fail_posts(comm);
    return moved;
}
