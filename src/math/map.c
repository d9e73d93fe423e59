/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over parts and tiles of one element-wise computation. Without conversion, broadcasting or sums a part is one
 * call of the kernel; otherwise it goes by tiles that stay in the first-level cache. */
#include "math/map.h"

#include <string.h>

#include "math/assign.h"
#include "math/reduce_kernels.h"

/* Eight bytes hold any compute type. */
typedef struct tile {
    _Alignas(64) int64_t element[MXCI_TILE];
} tile;

static int is_native(mxc_dtype dtype) {
    return mxci_compute_type(dtype) == dtype;
}

static const char *map_at(const void *data, int64_t element, mxc_dtype dtype) {
    return (const char *)data + (size_t)element * mxc_dtype_size(dtype);
}

/* n elements of an input from element begin of the space on, in the compute type: in place if they are dense and of
 * that type, else gathered and converted to the buffer. */
static const void *map_load(const mxci_operand *in, mxc_dtype dtype, int64_t begin, int64_t n, tile *buffer) {
    tile raw;
    const void *from;
    if (!in->data)
        return buffer; /* filled once */
    from = in->strides ? (const void *)(is_native(dtype) ? buffer : &raw) : map_at(in->data, begin, dtype);
    if (in->strides)
        mxci_gather(in->strides, mxc_dtype_size(dtype), in->data, begin, n, (void *)from);
    if (is_native(dtype))
        return from;
    mxci_load(dtype, from, buffer, n);
    return buffer;
}

/* Adds a tile of a broadcast input's gradient to the part's sums, each at the element that it belongs to. */
static void add_to_sums(const mxci_mapping *m, const mxci_result *r, int64_t begin, int64_t n, const tile *values,
                        int part) {
    double *sums = r->sums + part * r->n_sums;
    if (mxci_compute_type(m->dtype) == MXC_F64)
        mxci_scatter_add_f64(r->sum_strides, (const double *)values, begin, n, sums);
    else
        mxci_scatter_add_f32(r->sum_strides, (const float *)values, begin, n, sums);
}

/* Whether a result takes the memory of an input, which is then in the caches when it is stored. */
static int is_in_place(const mxci_mapping *m, const mxci_result *r) {
    for (int k = 0; k < m->n_in; k++)
        if (r->data == m->in[k].data)
            return 1;
    return 0;
}

static int store_mode_of(const mxci_mapping *m, const mxci_result *r) {
    return mxci_store_mode(r->req, (size_t)m->n * mxc_dtype_size(m->dtype), is_in_place(m, r));
}

static void call_kernel(const mxci_result *r, int64_t n, const void *const *in, void *out) {
    if (r->fn)
        r->fn(n, in, out);
    else
        r->fn_params(n, in, r->params, out);
}

/* Stores the kernel's result directly where it has the dtype and is written plainly, else through a tile. */
static void map_compute(const mxci_mapping *m, const mxci_result *r, const void *const *in, int64_t begin, int64_t n,
                        int part) {
    void *to = r->data ? (void *)map_at(r->data, begin, m->dtype) : NULL;
    tile values;
    int store_mode = store_mode_of(m, r);
    if (!r->sums && is_native(m->dtype) && store_mode == MXCI_STORE_WRITE) {
        call_kernel(r, n, in, to);
        return;
    }
    call_kernel(r, n, in, &values);
    if (r->sums)
        add_to_sums(m, r, begin, n, &values, part);
    else
        mxci_assign_tile(store_mode, m->dtype, &values, to, n);
}

/* Constant inputs fill their buffer once; results are computed tile by tile while the inputs are in the cache. */
static void run_tiles(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_mapping *m = arg;
    tile buffers[MXCI_MAP_INPUTS];
    const void *in[MXCI_MAP_INPUTS];
    for (int k = 0; k < m->n_in; k++)
        if (!m->in[k].data)
            mxci_fill_compute(mxci_compute_type(m->dtype), m->in[k].value, &buffers[k], MXCI_TILE);
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        for (int k = 0; k < m->n_in; k++)
            in[k] = map_load(&m->in[k], m->dtype, i, n, &buffers[k]);
        for (int r = 0; r < MXCI_MAP_RESULTS; r++)
            if (m->result[r].req != MXC_REQ_NULL)
                map_compute(m, &m->result[r], in, i, n, part);
    }
    mxci_stream_end();
}

/* One result, and every operand dense and of the compute type: one call of the kernel, no tiles. */
static void map_run_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_mapping *m = arg;
    const void *in[MXCI_MAP_INPUTS];
    for (int k = 0; k < m->n_in; k++)
        in[k] = map_at(m->in[k].data, begin, m->dtype);
    map_compute(m, &m->result[0], in, begin, end - begin, part);
}

static int needs_no_tiles(const mxci_mapping *m) {
    for (int k = 0; k < m->n_in; k++)
        if (!m->in[k].data || m->in[k].strides)
            return 0;
    return is_native(m->dtype) && m->result[1].req == MXC_REQ_NULL && !m->result[0].sums &&
           store_mode_of(m, &m->result[0]) == MXCI_STORE_WRITE;
}

/* The result that shares memory with an input is computed last, since the other one reads that input. */
static void order_results(mxci_mapping *m) {
    for (int k = 0; k < m->n_in; k++)
        if (m->result[0].req != MXC_REQ_NULL && m->result[0].data == m->in[k].data) {
            mxci_result first = m->result[0];
            m->result[0] = m->result[1];
            m->result[1] = first;
            return;
        }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

typedef struct finish_args {
    const mxci_result *result;
    mxc_dtype dtype;
    int parts;
} finish_args;

/* Elements begin..end-1 of a result from the parts' sums. */
static void finish_range(void *arg, int64_t begin, int64_t end, int part) {
    const finish_args *a = arg;
    const mxci_result *r = a->result;
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        double wide[MXCI_TILE];
        float narrow[MXCI_TILE];
        memcpy(wide, r->sums + i, (size_t)n * sizeof(double));
        for (int p = 1; p < a->parts; p++)
            mxci_add_row(MXC_F64, wide, r->sums + p * r->n_sums + i, n);
        for (int64_t j = 0; j < n; j++)
            narrow[j] = (float)wide[j];
        mxci_assign_tile(r->req == MXC_REQ_ADD ? MXCI_STORE_ADD : MXCI_STORE_WRITE, a->dtype,
                         a->dtype == MXC_F64 ? (void *)wide : narrow, (void *)map_at(r->data, i, a->dtype), n);
    }
}

static void finish_sums(const mxc_run *run, const mxci_mapping *m, int parts) {
    for (int r = 0; r < MXCI_MAP_RESULTS; r++) {
        finish_args args = {&m->result[r], m->dtype, parts};
        if (m->result[r].req != MXC_REQ_NULL && m->result[r].sums)
            mxc_parallel_for(run, m->result[r].n_sums, MXCI_GRAIN, finish_range, &args);
    }
}

static void clear_sums(const mxci_mapping *m, int parts) {
    for (int r = 0; r < MXCI_MAP_RESULTS; r++)
        if (m->result[r].req != MXC_REQ_NULL && m->result[r].sums)
            memset(m->result[r].sums, 0, mxci_sum_bytes(m->result[r].n_sums, parts));
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* Gradients have no kernels in integers, and no sums. */
static mxc_status check_kernels(const mxci_mapping *m) {
    for (int r = 0; r < MXCI_MAP_RESULTS; r++)
        if (m->result[r].req != MXC_REQ_NULL && ((!m->result[r].fn && !m->result[r].fn_params) ||
                                                 (m->result[r].sums && !(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(m->dtype)))))
            return MXC_FAIL(MXC_EDTYPE, "no gradient is computed in dtype %s, expected a float dtype",
                            mxc_dtype_name(m->dtype));
    return MXC_OK;
}

mxc_status mxci_mapping_run(const mxc_run *run, const mxci_mapping *mapping) {
    mxci_mapping m = *mapping;
    int64_t grain = m.grain ? m.grain : MXCI_GRAIN;
    int parts = mxc_parallel_parts(run, m.n, grain);
    MXC_TRY(check_kernels(&m));
    parts = parts > 1 ? parts : 1;
    if (m.result[1].req != MXC_REQ_NULL)
        order_results(&m);
    clear_sums(&m, parts);
    mxc_parallel_for(run, m.n, grain, needs_no_tiles(&m) ? map_run_range : run_tiles, &m);
    finish_sums(run, &m, parts);
    return MXC_OK;
}

mxc_status mxci_sum_to_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxci_strided *strides,
                               const mxc_tensor *from, double *sums) {
    mxci_mapping m = {
        .dtype = from->dtype,
        .n = mxc_shape_size(&from->shape),
        .n_in = 2,
        .in = {{.data = from->data}, {.value = 1}},
    };
    m.result[0] = (mxci_result){.fn = mxci_reduce_grad_scale[mxci_compute_type(from->dtype)],
                                .req = req,
                                .data = to->data,
                                .sum_strides = strides,
                                .n_sums = mxc_shape_size(&to->shape),
                                .sums = sums};
    return req == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(run, &m);
}

mxc_status mxci_assign_scaled(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                              double scale) {
    mxci_mapping m = {
        .dtype = to->dtype,
        .n = mxc_shape_size(&to->shape),
        .n_in = 2,
        .in = {{.data = from->data}, {.value = scale}},
    };
    m.result[0] =
        (mxci_result){.fn = mxci_reduce_grad_scale[mxci_compute_type(to->dtype)], .req = req, .data = to->data};
    return req == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(run, &m);
}
