/* SPDX-License-Identifier: Apache-2.0 */
/* Two-bit compression and expansion, queued as tasks on the engine. They know arrays only; exchange.c sends the codes.
 */
#include "kvstore/compress.h"

#include "base/sys.h"

enum { GRAIN = 4096 }; /* least number of words per part of a parallel loop */

/* Of compressing: values, residual, codes. Of expanding: codes, values. */
typedef struct compress_task {
    mxc_ndarray *arrays[3]; /* a reference each; the last may be NULL */
    float threshold;
    float *values, *residual;
    uint32_t *codes;
    int64_t n_words, n_ranks;
} compress_task;

static void compress_task_free(void *arg) {
    compress_task *work = arg;
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(work->arrays[i]);
    mxci_free(work);
}

static mxc_status data_of(mxc_ndarray *array, void **out) {
    mxc_tensor tensor;
    MXC_TRY(mxc_ndarray_tensor(array, &tensor));
    *out = tensor.data;
    return MXC_OK;
}

/* ---- compressing ------------------------------------------------------------------------------------------------- */

/* The code of a value; *residual becomes the error, which is added to the value of the next step. */
static uint32_t compress_one(float value, float threshold, float *residual) {
    float sum = *residual + value;
    uint32_t bits = sum >= threshold ? 3u : sum <= -threshold ? 2u : 0u;
    *residual = bits == 3u ? sum - threshold : bits == 2u ? sum + threshold : sum;
    return bits;
}

static void compress_range(void *arg, int64_t begin, int64_t end, int part) {
    const compress_task *work = arg;
    (void)part;
    for (int64_t w = begin; w < end; w++) {
        int64_t at = w * MXCI_VALUES_PER_WORD;
        uint32_t word = 0;
        for (int i = 0; i < MXCI_VALUES_PER_WORD; i++)
            word = word << 2 | compress_one(work->values[at + i], work->threshold, &work->residual[at + i]);
        work->codes[w] = word;
    }
}

static mxc_status compress_run(const mxc_run *run, void *arg) {
    compress_task *work = arg;
    MXC_TRY(data_of(work->arrays[0], (void **)&work->values));
    MXC_TRY(data_of(work->arrays[1], (void **)&work->residual));
    MXC_TRY(data_of(work->arrays[2], (void **)&work->codes));
    mxc_parallel_for(run, work->n_words, GRAIN, compress_range, work);
    return MXC_OK;
}

/* ---- expanding --------------------------------------------------------------------------------------------------- */

static void expand_range(void *arg, int64_t begin, int64_t end, int part) {
    const compress_task *work = arg;
    const float decoded[4] = {0, 0, -work->threshold, work->threshold};
    (void)part;
    for (int64_t w = begin; w < end; w++)
        for (int i = 0; i < MXCI_VALUES_PER_WORD; i++) {
            float sum = 0;
            for (int64_t r = 0; r < work->n_ranks; r++)
                sum += decoded[work->codes[r * work->n_words + w] >> (30 - 2 * i) & 3u];
            work->values[w * MXCI_VALUES_PER_WORD + i] = sum;
        }
}

static mxc_status expand_run(const mxc_run *run, void *arg) {
    compress_task *work = arg;
    MXC_TRY(data_of(work->arrays[0], (void **)&work->codes));
    MXC_TRY(data_of(work->arrays[1], (void **)&work->values));
    mxc_parallel_for(run, work->n_words, GRAIN, expand_range, work);
    return MXC_OK;
}

/* ---- queueing ---------------------------------------------------------------------------------------------------- */

/* Queue fn, which reads the first array and changes the others. */
static mxc_status push_task(const char *name, mxc_task_fn fn, int n, mxc_ndarray *const *arrays,
                            const compress_task *like, int priority) {
    mxc_task task = MXC_TASK_INIT;
    mxc_var *vars[3];
    compress_task *work = mxci_alloc(sizeof *work);
    if (!work)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to queue %s", name);
    *work = *like;
    for (int i = 0; i < n; i++) {
        work->arrays[i] = mxc_ndarray_retain(arrays[i]);
        vars[i] = mxc_ndarray_var(arrays[i]);
    }
    task.name = name;
    task.fn = fn;
    task.arg = work;
    task.destroy = compress_task_free;
    task.priority = priority;
    task.flags = MXC_TASK_HELPED;
    return mxc_engine_push(mxc_var_engine(vars[0]), &task, 1, vars, n - 1, vars + 1, 0);
}

mxc_status mxci_compress(mxc_ndarray *values, mxc_ndarray *residual, mxc_ndarray *codes, float threshold,
                         int priority) {
    mxc_ndarray *const arrays[] = {values, residual, codes};
    const compress_task like = {.threshold = threshold, .n_words = mxc_ndarray_size(codes)};
    return push_task("kvstore_compress", compress_run, 3, arrays, &like, priority);
}

mxc_status mxci_expand(mxc_ndarray *codes, mxc_ndarray *values, float threshold, int priority) {
    mxc_ndarray *const arrays[] = {codes, values};
    const compress_task like = {
        .threshold = threshold,
        .n_words = mxc_ndarray_size(values) / MXCI_VALUES_PER_WORD,
        .n_ranks = mxc_ndarray_shape(codes)->dim[0],
    };
    return push_task("kvstore_expand", expand_run, 2, arrays, &like, priority);
}
