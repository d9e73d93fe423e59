/* SPDX-License-Identifier: Apache-2.0 */
/* Data iterators. A DataIterCreator is the name of an iterator of libmxc. */
#include <string.h>

#include "compat/sparse.h"

/* DataIterHandle. */
typedef struct data_iter {
    mxc_iter *iter;
    mxc_batch batch; /* the latest one; n_data 0: none */
    int is_sparse;   /* the front end gets its data as csr */
} data_iter;

int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array) {
    uint32_t n = 0;
    MXNET_NEED(out_size);
    MXNET_NEED(out_array);
    while (mxc_iter_name_at((int)n))
        n++;
    DataIterCreator *list = mxnet_buffer(MXNET_SLOT_HANDLES, n, sizeof *list);
    if (!list)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        list[i] = (DataIterCreator)(uintptr_t)mxc_iter_name_at((int)i);
    *out_size = n;
    *out_array = list;
    return 0;
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description, uint32_t *num_args,
                          const char ***arg_names, const char ***arg_type_infos, const char ***arg_descriptions) {
    enum { TYPE = 192 };
    MXNET_NEED(creator);
    const mxc_param *params = mxc_iter_params(creator);
    uint32_t n = 0;
    if (!params)
        return mxnet_fail("there is no iterator \"%s\"", (const char *)creator);
    while (params[n].name)
        n++;
    const char **lists = mxnet_buffer(MXNET_SLOT_STRINGS, 3 * (size_t)n, sizeof *lists);
    char *types = mxnet_buffer(MXNET_SLOT_CHARS, n, TYPE);
    if (!lists || !types)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        lists[i] = params[i].name;
        lists[n + i] = mxc_param_describe(&params[i], types + (size_t)i * TYPE, TYPE);
        lists[2 * n + i] = params[i].doc ? params[i].doc : "";
    }
    *name = creator;
    *description = mxc_iter_doc(creator);
    *num_args = n;
    *arg_names = lists;
    *arg_type_infos = lists + n;
    *arg_descriptions = lists + 2 * (size_t)n;
    return 0;
}

static int has_param(const mxc_param *params, const char *key) {
    for (const mxc_param *p = params; p && p->name; p++)
        if (strcmp(p->name, key) == 0 || (p->alias && strcmp(p->alias, key) == 0))
            return 1;
    return 0;
}

/* Front ends pass parameters of their own along, such as the names of data and label; those are left out. */
int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char *const *keys, const char *const *vals,
                         DataIterHandle *out) {
    int n = 0;
    MXNET_NEED(handle);
    MXNET_NEED(out);
    const mxc_param *params = mxc_iter_params(handle);
    const char **known = mxnet_buffer(MXNET_SLOT_SCRATCH, 2 * (size_t)num_param, sizeof *known);
    if (!known)
        return -1;
    for (uint32_t i = 0; i < num_param; i++)
        if (has_param(params, keys[i])) {
            known[n] = keys[i];
            known[num_param + n++] = vals[i];
        }
    data_iter *made = mxnet_alloc(1, sizeof *made);
    if (!made)
        return -1;
    if (mxnet_result(mxc_iter_create(handle, n, known, known + num_param, &made->iter))) {
        mxnet_free(made);
        return -1;
    }
    made->is_sparse = strcmp(handle, "LibSVMIter") == 0;
    *out = made;
    return 0;
}

int MXDataIterFree(DataIterHandle handle) {
    data_iter *it = handle;
    if (it)
        mxc_iter_destroy(it->iter);
    mxnet_free(it);
    return 0;
}

int MXDataIterNext(DataIterHandle handle, int *out) {
    data_iter *it = handle;
    MXNET_NEED(handle);
    MXNET_NEED(out);
    MXNET_TRY(mxc_iter_next(it->iter, &it->batch));
    *out = it->batch.n_data > 0;
    return 0;
}

int MXDataIterBeforeFirst(DataIterHandle handle) {
    data_iter *it = handle;
    MXNET_NEED(handle);
    memset(&it->batch, 0, sizeof it->batch);
    return mxnet_result(mxc_iter_reset(it->iter));
}

static int batch_array(const data_iter *it, int n, mxc_ndarray *const *arrays, const char *what, NDArrayHandle *out) {
    MXNET_NEED(it);
    MXNET_NEED(out);
    if (n <= 0)
        return mxnet_fail("the iterator has no %s: call MXDataIterNext first", what);
    return mxnet_ndarray_new(mxc_ndarray_retain(arrays[0]), out);
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out) {
    const data_iter *it = handle;
    MXNET_CALL(batch_array(it, it ? it->batch.n_data : 0, it ? it->batch.data : NULL, "data", out));
    ((mxnet_ndarray *)*out)->storage = it->is_sparse ? MXNET_CSR : MXNET_DENSE;
    return 0;
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out) {
    const data_iter *it = handle;
    return batch_array(it, it ? it->batch.n_label : 0, it ? it->batch.label : NULL, "label", out);
}

int MXDataIterGetIndex(DataIterHandle handle, const uint64_t **out_index, uint64_t *out_size) {
    const data_iter *it = handle;
    MXNET_NEED(handle);
    *out_index = it->batch.index;
    *out_size = (uint64_t)it->batch.n_index;
    return 0;
}

int MXDataIterGetPadNum(DataIterHandle handle, int *pad) {
    const data_iter *it = handle;
    MXNET_NEED(handle);
    *pad = (int)it->batch.pad;
    return 0;
}
