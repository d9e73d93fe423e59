/*
 * Operators whose kernels know f32 and f64 only run f16 and bf16 through f32 copies in their scratch memory.
 * For operators of at most MXCI_WIDEN_SLOTS arguments and outputs, and without auxiliary states.
 */
#ifndef MXCI_OPERATOR_WIDEN_H
#define MXCI_OPERATOR_WIDEN_H

#include <mxc/op.h>

#define MXCI_WIDEN_SLOTS 4

/* Bytes of the copies, to be added to temp_bytes: 0 unless the first input is f16 or bf16. */
size_t mxci_widen_bytes(const mxc_op_sig *sig, mxc_pass pass);
/* Run compute on call itself, or on f32 copies where the first input is f16 or bf16; temp then begins behind them. */
mxc_status mxci_widen_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute);

#endif
