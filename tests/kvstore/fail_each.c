/* SPDX-License-Identifier: Apache-2.0 */
/* Failing each allocation in turn. */
#include "kvstore/fail_each.h"

#include <mxc/kvstore.h>

#include "base/sys.h"
#include "support.h"

static mxc_status use_everything(const char *type, const mxc_context *contexts) {
    mxc_kvstore *store = NULL;
    const char *keys[] = {"w", "w"};
    mxc_ndarray *values[2] = {NULL, NULL};
    mxc_status status = mxc_kvstore_create(type, &store);
    for (int i = 0; status == MXC_OK && i < 2; i++)
        status = mxc_ndarray_create(1, (int64_t[]){4}, MXC_F32, contexts[i], &values[i]);
    for (int i = 0; status == MXC_OK && i < 2; i++)
        status = mxc_ndarray_fill(values[i], 1);
    if (status == MXC_OK)
        status = mxc_kvstore_init(store, 1, keys, values);
    if (status == MXC_OK)
        status = mxc_kvstore_push(store, 2, keys, values, 0);
    if (status == MXC_OK)
        status = mxc_kvstore_pull(store, 2, keys, values, 0);
    for (int i = 0; i < 2; i++) {
        if (status == MXC_OK)
            status = mxc_ndarray_wait_to_read(values[i]);
        mxc_ndarray_release(values[i]);
    }
    mxc_kvstore_destroy(store);
    return status;
}

void fail_each_allocation(const char *type, mxc_context a, mxc_context b) {
    const mxc_context contexts[] = {a, b};
    mxc_status status = MXC_ENOMEM;
    mxc_engine *engine;
    assert_ok(use_everything(type, contexts)); /* what is made once is made */
    assert_ok(mxc_engine_default(&engine));
    for (int64_t k = 1; status != MXC_OK; k++) {
        MXC_IGNORE(mxc_wait_all(engine));
        int64_t live = mxci_alloc_live();
        mxci_test_fail_alloc(k, 0);
        status = use_everything(type, contexts);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        MXC_IGNORE(mxc_wait_all(engine));
        assert_true(k < 1000);
        assert_true(mxci_alloc_live() <= live + 2); /* the engine and pools may keep a block */
    }
}
