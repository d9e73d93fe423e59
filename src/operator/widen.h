/*
 * Operators whose kernels know f32 and f64 only run f16 and bf16 through f32 copies in their scratch memory; and those
 * that know channels second only (N,C,spatial) run channels last (N,spatial,C) through copies. For operators of at most
 * MXCI_WIDEN_SLOTS arguments and outputs, and without auxiliary states.
 */
#ifndef MXCI_OPERATOR_WIDEN_H
#define MXCI_OPERATOR_WIDEN_H

#include <mxc/op.h>

#define MXCI_WIDEN_SLOTS 4

/* Bytes of the copies, to be added to temp_bytes: 0 unless the first input is f16 or bf16. */
size_t mxci_widen_bytes(const mxc_op_sig *sig, mxc_pass pass);
/* Run compute on call itself, or on f32 copies where the first input is f16 or bf16; temp then begins behind them. */
mxc_status mxci_widen_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute);

/* Bytes of scratch channels last: of the copies, and what temp_bytes says of channels second. params: those of the
 * operator with channels second; NULL: it has them, and needs no copies. */
size_t mxci_planar_bytes(const mxc_op_sig *sig, mxc_pass pass, const void *params,
                         size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass));
/* Run compute on copies with channels second, of arrays of three axes or more; or on call itself, as above. */
mxc_status mxci_planar_run(const mxc_op_call *call, mxc_pass pass, const void *params, mxc_op_compute_fn compute);

#endif
