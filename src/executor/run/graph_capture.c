/* SPDX-License-Identifier: Apache-2.0 */
/* Capturing the work of segments into device graphs, and launching them: see graph_capture.h. */
#include "executor/run/graph_capture.h"

#include "base/device.h"
#include "base/trace.h"
#include "executor/run/execute.h"
#include "operator/op_impl.h"
#include "symbol/graph_query.h"

enum { NEVER = -1 }; /* in mxci_segment.runs */

/* 1 if the step queues the same work every time. */
static int repeats(const mxci_program *p, int32_t step) {
    const mxci_gnode *n = &p->graph->nodes[p->order[step]];
    const mxc_op_def *def = mxci_graph_op_def(p->graph, p->order[step]);
    mxc_pass pass = n->kind == MXCI_BACKWARD ? MXC_BACKWARD : MXC_FORWARD;
    return mxci_op_impl_is_of_module(def, n->context.device, pass);
}

void mxci_graph_capture_prepare(const mxci_bound_program *b, mxci_segment *s) {
    const mxci_program *p = b->program;
    const mxci_device *device;
    mxc_context context = p->pools[s->pool];
    if (context.device != MXC_GPU || s->is_single || mxci_device_get(context, &device) != MXC_OK ||
        !device->capture_begin)
        return;
    for (int32_t i = s->first; i < s->end; i++)
        if (!repeats(p, i))
            return;
    s->capture_device = device;
}

static void discard(const mxci_bound_program *b, mxci_segment *s, int is_train) {
    if (s->captured[is_train])
        s->capture_device->graph_destroy(b->program->pools[s->pool], s->captured[is_train]);
    s->captured[is_train] = NULL;
    s->runs[is_train] = 0;
}

void mxci_graph_capture_discard(const mxci_bound_program *b, mxci_segments *segments) {
    for (int32_t i = 0; i < segments->n; i++)
        if (segments->items[i].capture_device) {
            discard(b, &segments->items[i], 0);
            discard(b, &segments->items[i], 1);
        }
}

static mxc_status launch(const mxci_segment *s, int is_train, const mxc_run *run, const mxc_random *random) {
    return s->capture_device->graph_launch(run->context, run->stream, s->captured[is_train], random);
}

/* Captures and launches the work. A segment that cannot be captured, such as one that waits for the device, is run step
 * by step from now on. */
static mxc_status capture(mxci_segment *s, int is_train, const mxc_run *run, const mxc_random *random) {
    const mxci_device *device = s->capture_device;
    mxc_status status = device->capture_begin(run->context, run->stream, random);
    if (status == MXC_OK) {
        mxc_status done = mxci_execute_steps(s, run);
        status = device->capture_end(run->context, run->stream, &s->captured[is_train]);
        if (done == MXC_OK && status == MXC_OK)
            return launch(s, is_train, run, random);
    }
    if (s->captured[is_train])
        device->graph_destroy(run->context, s->captured[is_train]);
    s->captured[is_train] = NULL;
    s->runs[is_train] = NEVER;
    return mxci_execute_steps(s, run);
}

mxc_status mxci_graph_capture_run(const mxc_run *run, void *arg) {
    mxci_segment *s = arg;
    int is_train = (int)(run->token & 1);
    const mxc_random random = mxci_execute_random(s, run->token), *drawn;
    int draws =
        s->first < s->executor->bound->program->n_forward && s->executor->bound->random_count[is_train][s->pool];
    drawn = draws ? &random : NULL;
    if (!s->capture_device || !run->stream || atomic_load_explicit(&mxci_trace_on, memory_order_relaxed))
        return mxci_execute_steps(s, run);
    if (s->captured[is_train])
        return launch(s, is_train, run, drawn);
    /* Not the first run: libraries allocate and tune in it, which must not be captured. */
    if (s->runs[is_train] == NEVER || s->runs[is_train]++ == 0)
        return mxci_execute_steps(s, run);
    return capture(s, is_train, run, drawn);
}
