/* SPDX-License-Identifier: Apache-2.0 */
#include <dnnl.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "onednn.h"

enum { ARRAYS = 3 }; /* data, weights, out, or their gradients */

struct peer {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t forward, chosen;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[ARRAYS];
    dnnl_exec_arg_t args[ARRAYS];
    int n, threads;
};

static void check(dnnl_status_t status) {
    if (status != dnnl_success)
        abort();
}

static dnnl_memory_desc_t describe(int ndims, const dnnl_dims_t dims) {
    dnnl_memory_desc_t d;
    check(dnnl_memory_desc_init_by_tag(&d, ndims, dims, dnnl_f32, dnnl_format_tag_any));
    return d;
}

/* An array in the layout that the primitive chose, filled. */
static void add_array(peer *p, dnnl_query_t which, int arg) {
    const dnnl_memory_desc_t *d = dnnl_primitive_desc_query_md(p->chosen, which, 0);
    size_t n = dnnl_memory_desc_get_size(d) / sizeof(float);
    void *data;
    check(dnnl_memory_create(&p->memory[p->n], d, p->engine, DNNL_MEMORY_ALLOCATE));
    check(dnnl_memory_get_data_handle(p->memory[p->n], &data));
    for (size_t i = 0; i < n; i++)
        ((float *)data)[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    p->args[p->n] = (dnnl_exec_arg_t){arg, p->memory[p->n]};
    p->n++;
}

static dnnl_status_t choose(peer *p, int pass, const dnnl_memory_desc_t d[ARRAYS], const dnnl_dims_t pad) {
    const dnnl_dims_t strides = {1, 1};
    dnnl_convolution_desc_t forward, backward;
    check(dnnl_convolution_forward_desc_init(&forward, dnnl_forward_training, dnnl_convolution_direct, &d[0], &d[1],
                                             NULL, &d[2], strides, pad, pad));
    if (dnnl_primitive_desc_create(&p->forward, &forward, NULL, p->engine, NULL) != dnnl_success)
        return dnnl_unimplemented;
    if (pass == PEER_FORWARD)
        return dnnl_primitive_desc_clone(&p->chosen, p->forward);
    if (pass == PEER_DATA)
        check(dnnl_convolution_backward_data_desc_init(&backward, dnnl_convolution_direct, &d[0], &d[1], &d[2], strides,
                                                       pad, pad));
    else
        check(dnnl_convolution_backward_weights_desc_init(&backward, dnnl_convolution_direct, &d[0], &d[1], NULL, &d[2],
                                                          strides, pad, pad));
    return dnnl_primitive_desc_create(&p->chosen, &backward, NULL, p->engine, p->forward);
}

static void add_arrays(peer *p, int pass) {
    if (pass == PEER_FORWARD) {
        add_array(p, dnnl_query_src_md, DNNL_ARG_SRC);
        add_array(p, dnnl_query_weights_md, DNNL_ARG_WEIGHTS);
        add_array(p, dnnl_query_dst_md, DNNL_ARG_DST);
    } else if (pass == PEER_DATA) {
        add_array(p, dnnl_query_diff_dst_md, DNNL_ARG_DIFF_DST);
        add_array(p, dnnl_query_weights_md, DNNL_ARG_WEIGHTS);
        add_array(p, dnnl_query_diff_src_md, DNNL_ARG_DIFF_SRC);
    } else {
        add_array(p, dnnl_query_src_md, DNNL_ARG_SRC);
        add_array(p, dnnl_query_diff_dst_md, DNNL_ARG_DIFF_DST);
        add_array(p, dnnl_query_diff_weights_md, DNNL_ARG_DIFF_WEIGHTS);
    }
}

void peer_prepare(char **argv) {
    if (!getenv("OMP_WAIT_POLICY") && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        execv("/proc/self/exe", argv);
}

peer *peer_open(int pass, int batch, int channels, int side, int filters, int kernel, int groups, int threads) {
    const dnnl_dims_t data = {batch, channels, side, side}, out = {batch, filters, side, side};
    const dnnl_dims_t weights = {filters, channels, kernel, kernel};
    const dnnl_dims_t grouped = {groups, filters / groups, channels / groups, kernel, kernel};
    const dnnl_dims_t pad = {kernel / 2, kernel / 2};
    const dnnl_memory_desc_t d[ARRAYS] = {
        describe(4, data),
        groups > 1 ? describe(5, grouped) : describe(4, weights),
        describe(4, out),
    };
    peer *p = calloc(1, sizeof *p);
    p->threads = threads;
    omp_set_num_threads(threads);
    check(dnnl_engine_create(&p->engine, dnnl_cpu, 0));
    check(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));
    if (choose(p, pass, d, pad) != dnnl_success) {
        peer_close(p);
        return NULL;
    }
    add_arrays(p, pass);
    check(dnnl_primitive_create(&p->primitive, p->chosen));
    return p;
}

void peer_run(peer *p) {
    omp_set_num_threads(p->threads);
    check(dnnl_primitive_execute(p->primitive, p->stream, p->n, p->args));
    check(dnnl_stream_wait(p->stream));
}

void peer_close(peer *p) {
    for (int i = 0; i < p->n; i++)
        dnnl_memory_destroy(p->memory[i]);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    if (p->chosen)
        dnnl_primitive_desc_destroy(p->chosen);
    if (p->forward)
        dnnl_primitive_desc_destroy(p->forward);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}
