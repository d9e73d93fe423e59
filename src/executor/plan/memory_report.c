/* SPDX-License-Identifier: Apache-2.0 */
/* Memory reports and the text of a program: see memory_report.h. */
#include "executor/plan/memory_report.h"

#include "base/error.h"
#include "base/text.h"
#include "executor/plan/signature.h"
#include "symbol/graph_query.h"

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static int64_t variable_bytes(const mxci_graph *g, int32_t n, const int32_t *nodes, const mxc_req *reqs) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++)
        if (!reqs || reqs[i] != MXC_REQ_NULL)
            bytes += mxci_graph_entry_bytes(g, g->nodes[nodes[i]].first_entry);
    return bytes;
}

mxc_status mxci_memory_report_make(const mxci_program *p, mxc_memory_report *out) {
    const mxci_graph *g = p->graph;
    mxci_signature_room room;
    mxc_engine *engine;
    mxc_status status = MXC_OK;
    *out = p->report;
    out->arguments = variable_bytes(g, g->n_args, g->args, NULL);
    out->gradients = variable_bytes(g, g->n_args, g->args, p->grad_req);
    out->aux = variable_bytes(g, g->n_aux, g->aux, NULL);
    out->outputs = 0;
    for (int32_t i = 0; i < g->n_outputs; i++) { /* each output once, and none that is an argument or auxiliary state */
        mxci_location location = p->location[g->outputs[i]];
        if (location.kind == MXCI_LOCATION_OUTPUT && location.index == i)
            out->outputs += mxci_graph_entry_bytes(g, g->outputs[i]);
    }
    out->constants = 0;
    for (int32_t i = 0; i < p->n_constants; i++)
        out->constants += mxci_graph_entry_bytes(g, p->constants[i].value);
    out->temp = 0; /* steps of a pool share one scratch, so the largest counts */
    MXC_TRY(mxc_engine_default(&engine));
    MXC_TRY(mxci_signature_room_make(g, &room));
    for (int32_t i = 0; i < p->n_steps && status == MXC_OK; i++) {
        size_t bytes = 0;
        status = mxci_signature_temp(p, p->order[i], mxc_engine_parallelism(engine), &room, &bytes);
        out->temp = (int64_t)bytes > out->temp ? (int64_t)bytes : out->temp;
    }
    mxci_signature_room_free(&room);
    return status;
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void print_bytes(mxci_text *t, const char *what, int64_t bytes) {
    mxci_text_printf(t, "%-32s %14lld bytes %10.2f MiB\n", what, (long long)bytes, (double)bytes / (1 << 20));
}

mxc_status mxc_memory_report_print(const mxc_memory_report *r, char **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_CHECK_NON_NULL(r, "mxc_memory_report_print: report"));
    mxci_text t = {0};
    double whole;
    whole = r->internal_unplanned ? (double)r->internal_unplanned : 1;
    print_bytes(&t, "arguments", r->arguments);
    print_bytes(&t, "gradients", r->gradients);
    print_bytes(&t, "auxiliary states", r->aux);
    print_bytes(&t, "outputs", r->outputs);
    print_bytes(&t, "constants", r->constants);
    print_bytes(&t, "internal, unplanned", r->internal_unplanned);
    print_bytes(&t, "internal, in place", r->internal_inplace);
    print_bytes(&t, "internal, in place and shared", r->internal_planned);
    print_bytes(&t, "scratch of one operator", r->temp);
    mxci_text_printf(&t, "%lld operators, %lld internal arrays; planned is %.3f of unplanned\n", (long long)r->n_nodes,
                     (long long)r->n_internal_arrays, (double)r->internal_planned / whole);
    return mxci_text_take(&t, out);
}

/* The step, and for each output the request and where its array is. */
static void print_step(mxci_text *t, const mxci_program *p, int32_t step) {
    static const char *const requests[] = {"not computed", "write", "in place", "add"};
    static const char *const kinds[] = {"-",      "argument", "aux",  "head gradient",
                                        "output", "gradient", "pool", "constant"};
    const mxci_gnode *n = &p->graph->nodes[p->order[step]];
    char context[32], shape[MXC_SHAPE_TEXT];
    mxci_text_printf(t, "%s %d: %s %s on %s", step < p->n_forward ? "forward" : "backward", step,
                     mxci_graph_op_def(p->graph, p->order[step])->name, n->name,
                     mxc_context_format(n->context, context, sizeof context));
    if (mxci_program_tile_of(p, step) >= 0)
        mxci_text_printf(t, ", %lld rows at a time", (long long)p->tiles[mxci_program_tile_of(p, step)].slice);
    mxci_text_add(t, "\n");
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++) {
        mxci_location location = p->location[p->root[i]];
        mxci_text_printf(t, "    %s: %s %s in %s", requests[p->req[i]],
                         mxc_shape_format(&p->graph->shapes[i], shape, sizeof shape),
                         mxc_dtype_name(p->graph->types[i]), kinds[location.kind]);
        if (location.kind == MXCI_LOCATION_POOL) {
            const mxci_memory_range *range = &p->ranges[location.index];
            mxci_text_printf(t, " %d at %lld, %lld bytes", range->pool, (long long)range->offset,
                             (long long)range->bytes);
        } else if (location.kind != MXCI_LOCATION_NONE) {
            mxci_text_printf(t, " %d", location.index);
        }
        mxci_text_add(t, "\n");
    }
}

static void print_constant(mxci_text *t, const mxci_program *p, int32_t at) {
    const int32_t entry = p->constants[at].value, node = p->graph->entry_node[entry];
    char shape[MXC_SHAPE_TEXT];
    mxci_text_printf(t, "constant %d: %s %s, output %d: %s %s\n", at, mxci_graph_op_def(p->graph, node)->name,
                     p->graph->nodes[node].name, entry - p->graph->nodes[node].first_entry,
                     mxc_shape_format(&p->graph->shapes[entry], shape, sizeof shape),
                     mxc_dtype_name(p->graph->types[entry]));
}

mxc_status mxci_program_print(const mxci_program *p, char **out) {
    mxc_memory_report report;
    mxci_text t = {0};
    MXC_TRY(mxci_memory_report_make(p, &report));
    for (int32_t i = 0; i < p->n_constants; i++)
        print_constant(&t, p, i);
    for (int32_t i = 0; i < p->n_steps; i++)
        print_step(&t, p, i);
    for (int32_t i = 0; i < p->n_pools; i++)
        mxci_text_printf(&t, "pool %d: %lld bytes\n", i, (long long)p->pool_bytes[i]);
    mxci_text_printf(&t, "Total %.4f MiB allocated\n", (double)report.internal_planned / (1 << 20));
    mxci_text_printf(&t, "Total %.4f MiB of scratch requested\n", (double)report.temp / (1 << 20));
    return mxci_text_take(&t, out);
}
