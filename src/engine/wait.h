/* Waiting for something in the engine: what for, and how a thread sleeps until it may have come. */
#ifndef MXCI_ENGINE_WAIT_H
#define MXCI_ENGINE_WAIT_H

#include <mxc/engine.h>

#include "engine/block.h"

/* Threads that sleep until anything that they wait for may have happened. */
typedef struct mxci_event {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t word;
    _Atomic int32_t parked;
    _Atomic int32_t looking; /* threads that wait awake and take parts of loops */
} mxci_event;

/* Wake all who sleep. Comes after what they wait for has been stored. */
void mxci_event_raise(mxci_event *event);
/* Wake up to count sleepers, to help. */
void mxci_event_call(mxci_event *event, int count);

typedef struct mxci_wait mxci_wait;
struct mxci_wait {
    mxc_engine *engine;
    int (*over)(const mxci_wait *wait); /* 1 once it has come; then stays so */
    mxc_var *var;                       /* that is waited for, or NULL */
    uint64_t version;                   /* of var */
    mxci_block *block;                  /* whose done is waited for */
    uint32_t epoch;                     /* that is to be drained */
};

/* Wait by the engine's kind; the gate is left meanwhile. MXC_ESTATE, or what hindered a thread from taking this one's
 * place; MXC_OK: it is over. */
mxc_status mxci_wait_for(const mxci_wait *wait);
/* Wait without helping: look for a while, then sleep. */
void mxci_wait_plainly(const mxci_wait *wait);
/* Before looking whether it is over: have the event raised when it comes. Returns the event's word; as long as that
 * stays, it has not come since. */
uint32_t mxci_wait_announce(const mxci_wait *wait);
/* Sleep until the event, unless it is over by then or word, of the last announcement, has moved. */
void mxci_wait_sleep(const mxci_wait *wait, uint32_t word);
/* Wait until nothing that was pushed is left. */
void mxci_wait_idle(mxc_engine *engine);

int mxci_wait_block_done(const mxci_wait *wait);

#endif
