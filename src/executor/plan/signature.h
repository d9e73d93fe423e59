/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures: the mxc_op_sig of a step, from which an operator computes its scratch before it runs. */
#ifndef MXCI_EXECUTOR_PLAN_SIGNATURE_H
#define MXCI_EXECUTOR_PLAN_SIGNATURE_H

#include "executor/plan/program.h"

/* Room for one operator's shapes and types, enough for every node of a graph. */
typedef struct mxci_signature_room {
    mxc_shape *shapes;
    mxc_dtype *types;
} mxci_signature_room;
mxc_status mxci_signature_room_make(const mxci_graph *graph, mxci_signature_room *out);
void mxci_signature_room_free(mxci_signature_room *room);
/* Shapes as the node sees them when it runs: in a tile, slices. For a backward node, those of its forward node. */
void mxci_signature(const mxci_program *program, int32_t node, int parallelism, int is_train,
                    const mxci_signature_room *room, mxc_op_sig *out);
/* 1 if the node's step has anything to compute (mxci_has_work). */
int mxci_signature_has_work(const mxci_program *program, int32_t node, const mxc_op_sig *sig);
/* Bytes of scratch that a step needs, the more of training and not. MXC_ENOMEM if memory cannot have so many. */
mxc_status mxci_signature_temp(const mxci_program *program, int32_t node, int parallelism,
                               const mxci_signature_room *room, size_t *out);

#endif
