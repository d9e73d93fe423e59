/* SPDX-License-Identifier: Apache-2.0 */
/* Memory reports: the bytes that a program needs, and its steps as text. */
#ifndef MXCI_EXECUTOR_PLAN_MEMORY_REPORT_H
#define MXCI_EXECUTOR_PLAN_MEMORY_REPORT_H

#include "executor/plan/program.h"

/* Statuses of mxci_signature_temp. */
mxc_status mxci_memory_report_make(const mxci_program *program, mxc_memory_report *out);
/* The program's steps, arrays and pools as text. Caller frees. MXC_ENOMEM. */
mxc_status mxci_program_print(const mxci_program *program, char **out);

#endif
