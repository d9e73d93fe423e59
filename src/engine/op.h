/* Prepared operators, and the internal body of a wait. */
#ifndef MXCI_ENGINE_OP_H
#define MXCI_ENGINE_OP_H

#include "engine/block.h"

/* A run of the operator has ended. Frees it if that was the last one after mxc_engine_op_destroy. */
void mxci_op_ended(mxc_engine_op *op);

/* Body of blocks that stand in a queue for a waiting thread and run nothing. */
extern const mxci_body mxci_sync_body;

#endif
