/* Two-bit compression, as functions of the engine. */
#include "kvstore/compress.h"

#include "base/sys.h"

enum { GRAIN = 4096 }; /* words worth giving to another thread */

typedef struct job {
    mxc_ndarray *arrays[3]; /* a reference each; the last may be NULL */
    float threshold;
    float *values, *rest;
    uint32_t *words;
    int64_t n_words, n_ranks;
} job;

static void job_free(void *arg) {
    job *j = arg;
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(j->arrays[i]);
    mxci_free(j);
}

static mxc_status data_of(mxc_ndarray *array, void **out) {
    mxc_tensor tensor;
    MXC_TRY(mxc_ndarray_tensor(array, &tensor));
    *out = tensor.data;
    return MXC_OK;
}

/* ---- there ----------------------------------------------------------------------------------------------------- */

/* The value's two bits; rest gets what they leave over. */
static uint32_t compress_one(float value, float threshold, float *rest) {
    float sum = *rest + value;
    uint32_t bits = sum >= threshold ? 3u : sum <= -threshold ? 2u : 0u;
    *rest = bits == 3u ? sum - threshold : bits == 2u ? sum + threshold : sum;
    return bits;
}

static void compress_range(void *arg, int64_t begin, int64_t end, int part) {
    const job *j = arg;
    (void)part;
    for (int64_t w = begin; w < end; w++) {
        int64_t at = w * MXCI_VALUES_PER_WORD;
        uint32_t word = 0;
        for (int i = 0; i < MXCI_VALUES_PER_WORD; i++)
            word = word << 2 | compress_one(j->values[at + i], j->threshold, &j->rest[at + i]);
        j->words[w] = word;
    }
}

static mxc_status compress_run(const mxc_run *run, void *arg) {
    job *j = arg;
    MXC_TRY(data_of(j->arrays[0], (void **)&j->values));
    MXC_TRY(data_of(j->arrays[1], (void **)&j->rest));
    MXC_TRY(data_of(j->arrays[2], (void **)&j->words));
    mxc_parallel_for(run, j->n_words, GRAIN, compress_range, j);
    return MXC_OK;
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

static void expand_range(void *arg, int64_t begin, int64_t end, int part) {
    const job *j = arg;
    const float meaning[4] = {0, 0, -j->threshold, j->threshold};
    (void)part;
    for (int64_t w = begin; w < end; w++)
        for (int i = 0; i < MXCI_VALUES_PER_WORD; i++) {
            float sum = 0;
            for (int64_t r = 0; r < j->n_ranks; r++)
                sum += meaning[j->words[r * j->n_words + w] >> (30 - 2 * i) & 3u];
            j->values[w * MXCI_VALUES_PER_WORD + i] = sum;
        }
}

static mxc_status expand_run(const mxc_run *run, void *arg) {
    job *j = arg;
    MXC_TRY(data_of(j->arrays[0], (void **)&j->words));
    MXC_TRY(data_of(j->arrays[1], (void **)&j->values));
    mxc_parallel_for(run, j->n_words, GRAIN, expand_range, j);
    return MXC_OK;
}

/* ---- queueing -------------------------------------------------------------------------------------------------- */

/* Reads the first array, changes the others. */
static mxc_status push(const char *name, mxc_task_fn fn, int n, mxc_ndarray *const *arrays, const job *like,
                       int priority) {
    mxc_task task = MXC_TASK_INIT;
    mxc_var *vars[3];
    job *j = mxci_alloc(sizeof *j);
    if (!j)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to queue %s", name);
    *j = *like;
    for (int i = 0; i < n; i++) {
        j->arrays[i] = mxc_ndarray_retain(arrays[i]);
        vars[i] = mxc_ndarray_var(arrays[i]);
    }
    task.name = name;
    task.fn = fn;
    task.arg = j;
    task.destroy = job_free;
    task.priority = priority;
    task.flags = MXC_TASK_HELPED;
    return mxc_engine_push(mxc_var_engine(vars[0]), &task, 1, vars, n - 1, vars + 1, 0);
}

mxc_status mxci_compress(mxc_ndarray *values, mxc_ndarray *rest, mxc_ndarray *words, float threshold, int priority) {
    mxc_ndarray *const arrays[] = {values, rest, words};
    const job like = {.threshold = threshold, .n_words = mxc_ndarray_size(words)};
    return push("kvstore_compress", compress_run, 3, arrays, &like, priority);
}

mxc_status mxci_expand(mxc_ndarray *words, mxc_ndarray *values, float threshold, int priority) {
    mxc_ndarray *const arrays[] = {words, values};
    const job like = {
        .threshold = threshold,
        .n_words = mxc_ndarray_size(values) / MXCI_VALUES_PER_WORD,
        .n_ranks = mxc_ndarray_shape(words)->dim[0],
    };
    return push("kvstore_expand", expand_run, 2, arrays, &like, priority);
}
