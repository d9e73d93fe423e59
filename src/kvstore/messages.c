/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Point-to-point messages: other threads append them to a queue, the communication thread sends them, and passes those
 * that arrive to the handler. They are sent synchronously (complete when the receiver has matched them), so that what
 * is in flight is bounded by what the senders wait for.
 */
#include "kvstore/comm_state.h"

enum { MAX_RECEIVED = 16 }; /* in one step, before the thread does other work */

mxci_message *mxci_message_create(int to, size_t bytes) {
    mxci_message *message = mxci_alloc(sizeof *message + bytes);
    if (!message)
        return NULL;
    *message = (mxci_message){.to = to, .bytes = bytes};
    return message;
}

void mxci_comm_send(mxci_comm *comm, mxci_message *message) {
    message->next = NULL;
    mxci_mutex_lock(&comm->lock);
    *comm->outgoing_end = message;
    comm->outgoing_end = &message->next;
    mxci_cond_signal(&comm->has_work);
    mxci_mutex_unlock(&comm->lock);
}

static mxci_message *take_outgoing(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxci_message *outgoing = comm->outgoing;
    comm->outgoing = NULL;
    comm->outgoing_end = &comm->outgoing;
    mxci_mutex_unlock(&comm->lock);
    return outgoing;
}

/* Start sending what other threads have queued. After a failure the rest is listed as sending too, so that it is
 * failed with them. */
static mxc_status send_outgoing(mxci_comm *comm, int *progressed) {
    mxc_status status = MXC_OK;
    for (mxci_message *p = take_outgoing(comm), *next; p; p = next) {
        next = p->next;
        p->next = comm->sending;
        comm->sending = p;
        *progressed = 1;
        if (status == MXC_OK)
            status = comm->api->send(comm->group, MXCI_CHANNEL_SERVER, p->to, p->data, p->bytes, 1, &p->transfer);
    }
    return status;
}

/* Free the messages that their receivers have matched. */
static mxc_status complete_sent(mxci_comm *comm, int *progressed) {
    for (mxci_message **at = &comm->sending; *at;) {
        mxci_message *p = *at;
        int done = 0;
        MXC_TRY(comm->api->test(comm->group, &p->transfer, &done));
        if (!done) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        *progressed = 1;
        if (p->on_completion)
            p->on_completion(p, MXC_OK, NULL);
        mxci_free(p);
    }
    return MXC_OK;
}

/* Start receiving the next message, if there is one. */
static mxc_status begin_incoming(mxci_comm *comm) {
    int from;
    MXC_TRY(comm->api->probe(comm->group, MXCI_CHANNEL_SERVER, &from, &comm->incoming_bytes));
    if (from < 0)
        return MXC_OK;
    comm->incoming = mxci_alloc(comm->incoming_bytes + 1);
    if (!comm->incoming)
        return MXC_FAIL(MXC_ENOMEM, "no memory for a message of %zu bytes of rank %d", comm->incoming_bytes, from);
    comm->incoming[comm->incoming_bytes] = '\0'; /* terminates a message that ends with text */
    return comm->api->receive_from(comm->group, MXCI_CHANNEL_SERVER, from, comm->incoming, comm->incoming_bytes,
                                   &comm->incoming_transfer);
}

static mxc_status receive_messages(mxci_comm *comm, int *progressed) {
    for (int i = 0; i < MAX_RECEIVED; i++) {
        int done = 0;
        if (!comm->incoming)
            MXC_TRY(begin_incoming(comm));
        if (comm->incoming)
            MXC_TRY(comm->api->test(comm->group, &comm->incoming_transfer, &done));
        if (!done)
            return MXC_OK;
        *progressed = 1;
        mxc_status status = comm->handler.receive(comm->handler.arg, comm->incoming_transfer.from, comm->incoming,
                                                  comm->incoming_transfer.bytes);
        mxci_free(comm->incoming);
        comm->incoming = NULL;
        MXC_TRY(status);
    }
    return MXC_OK;
}

static void abandon_messages(mxci_comm *comm, mxci_message *messages) {
    for (mxci_message *p = messages, *next; p; p = next) {
        next = p->next;
        p->next = comm->abandoned;
        comm->abandoned = p;
        if (p->on_completion)
            p->on_completion(p, comm->code, comm->message);
    }
}

/* The transport may still read messages that are in flight, so they are freed with comm only. */
static void fail_messages(mxci_comm *comm) {
    mxci_message *sending = comm->sending;
    comm->sending = NULL;
    abandon_messages(comm, sending);
    abandon_messages(comm, take_outgoing(comm));
    comm->handler.fail(comm->handler.arg, comm->code, comm->message);
}

int mxci_messages_all_sent(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    int all = !comm->outgoing && !comm->sending;
    mxci_mutex_unlock(&comm->lock);
    return all;
}

int mxci_messages_step(mxci_comm *comm) {
    int progressed = 0;
    if (!comm->handler.receive)
        return 0;
    if (comm->is_failed || mxci_comm_check_status(comm, send_outgoing(comm, &progressed)) ||
        mxci_comm_check_status(comm, complete_sent(comm, &progressed)) ||
        mxci_comm_check_status(comm, receive_messages(comm, &progressed)))
        fail_messages(comm);
    return progressed;
}
