/* SPDX-License-Identifier: Apache-2.0 */
/* The event of an operator's run in a trace: the shapes of its arguments and results, the bytes of all its arrays, and
 * its scratch. */
#include "operator/trace_call.h"

#include "base/text.h"
#include "base/trace.h"
#include "math/assign.h"

enum { TEXT = 256 };

/* Appends shapes to the line; returns the bytes of the arrays that have data. */
static int64_t add_arrays(mxci_line *line, const mxc_tensor *arrays, int n) {
    char text[MXC_SHAPE_TEXT];
    int64_t bytes = 0;
    for (int i = 0; i < n && arrays; i++) {
        mxci_line_printf(line, "%s%s", line->length ? " " : "", mxc_shape_format(&arrays[i].shape, text, sizeof text));
        bytes += arrays[i].data ? (int64_t)mxci_tensor_bytes(&arrays[i]) : 0;
    }
    return bytes;
}

void mxci_trace_call(int64_t begin, const char *name, const char *category, const mxc_op_call *call, mxc_pass pass) {
    char text[TEXT], unused[TEXT];
    mxci_line line = {text, sizeof text, 0}, other = {unused, sizeof unused, 0};
    int64_t bytes = 0;
    if (begin == 0)
        return;
    text[0] = '\0';
    if (pass == MXC_BACKWARD)
        bytes += add_arrays(&line, call->out_grad, call->n_out) + add_arrays(&other, call->in, call->n_in);
    else
        bytes += add_arrays(&line, call->in, call->n_in);
    mxci_line_printf(&line, "%s->", line.length ? " " : "");
    if (pass == MXC_BACKWARD)
        bytes += add_arrays(&line, call->in_grad, call->n_in) + add_arrays(&other, call->out, call->n_out);
    else
        bytes += add_arrays(&line, call->out, call->n_out);
    bytes += add_arrays(&other, call->aux, call->n_aux);
    mxci_trace_end_with(begin, name, category, text, bytes, (int64_t)call->temp_bytes);
}
