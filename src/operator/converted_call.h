/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators whose CPU functions compute fewer dtypes or layouts than the descriptor offers: the framework runs them on
 * converted copies in scratch memory, so that no operator converts by itself. 16-bit arrays become float32
 * (mxc_op_def.cpu_dtypes), and arrays with channels last, (N,spatial,C), become channels second, (N,C,spatial)
 * (mxc_op_def.to_channels_second).
 */
#ifndef MXCI_OPERATOR_CONVERTED_CALL_H
#define MXCI_OPERATOR_CONVERTED_CALL_H

#include <mxc/op.h>

/* Limits of such an operator: arguments, outputs, and bytes of its parameters. */
enum { MXCI_CONVERTED_SLOTS = 12, MXCI_CONVERTED_PARAMS = 1024 };

/* Whether the descriptor asks for conversions. */
int mxci_is_converted(const mxc_op_def *def);

/* Run the descriptor's CPU function on the call itself, or on copies where dtype or parameters need them. */
mxc_status mxci_converted_forward(const mxc_op_call *call);
mxc_status mxci_converted_backward(const mxc_op_call *call);

/* Scratch for the copies and for the CPU function on them. */
size_t mxci_converted_temp(const mxc_op_sig *sig, mxc_pass pass);

/* For operators that need f32 copies with some parameters only: scratch for the copies and for temp_bytes on them (may
 * be NULL), and a run of compute on them. */
size_t mxci_f32_temp(const mxc_op_sig *sig, mxc_pass pass, size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass));
mxc_status mxci_f32_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute);

#endif
