/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered device memory: when a deletion frees it, and who may take it next. */
#include "engine/device/run_memory.h"

#include <mxc/storage.h>

#include "engine/device_helpers.h"

static void await_end(const _Atomic int *ended) {
    for (int i = 0; i < LOOKS && !atomic_load(ended); i++)
        mxci_sleep_ns(BETWEEN_NS);
    assert_int_equal(atomic_load(ended), 1);
}

static void delete_while_used(fixture *f, mxc_context memory, int at_once) {
    _Atomic int ended = 0;
    mxc_var *var = make_var(f->engine);
    assert_ok(mxci_var_memory_acquired(var, memory));
    fake_hold();
    atomic_store(&f->change.called, 0);
    push_job(f->engine, &f->change, mxc_gpu(0), MXC_PROP_NORMAL, var, NULL);
    await_calls(&f->change, 1);
    mxc_var_delete(var, count_destroy, &ended);
    if (at_once)
        await_end(&ended);
    assert_int_equal(atomic_load(&ended), at_once);
    release_soon(f);
    assert_ok(mxc_wait_all(f->engine));
    await_end(&ended); /* a function that began before the deletion may push the end only now */
    mxci_thread_join(f->helper);
}

/* Memory of the device that still works on it goes at once, any other when the work is done. */
static void test_deletion(void **state) {
    delete_while_used(*state, mxc_cpu(0), 0);
    delete_while_used(*state, mxc_gpu(1), 0);
    delete_while_used(*state, mxc_gpu(0), 1);
}

typedef struct block {
    int *data;
} block;

static void give_back(void *arg) {
    block *b = arg;
    mxc_storage_free(mxc_gpu(0), b->data, 100);
    free(b);
}

static mxc_var *take_block(mxc_engine *engine, int **data) {
    mxc_var *var = make_var(engine);
    void *memory;
    assert_ok(mxc_storage_alloc(mxc_gpu(0), 100, &memory));
    assert_ok(mxci_var_memory_acquired(var, mxc_gpu(0)));
    *data = memory;
    return var;
}

static void delete_block(mxc_var *var, int *data) {
    block *b = malloc(sizeof *b);
    b->data = data;
    mxc_var_delete(var, give_back, b);
}

/* A block that the computing stream still works on is given out again; the copy into it comes after. */
static void test_reuse(void **state) {
    fixture *f = *state;
    int *first, *second, source = 77;
    job in;
    mxc_var *var = take_block(f->engine, &first);
    *first = 1;
    fake_hold();
    f->copy.from = first;
    push_job(f->engine, &f->copy, mxc_gpu(0), MXC_PROP_NORMAL, var, f->b);
    await_calls(&f->copy, 1);
    await_idle(f->b);
    delete_block(var, first);
    var = take_block(f->engine, &second);
    assert_ptr_equal(first, second);
    in = (job){.to = second, .from = &source};
    push_job(f->engine, &in, mxc_gpu(0), MXC_PROP_COPY_TO_DEVICE, NULL, var);
    await_calls(&in, 1);
    mxci_sleep_ns(5000000);
    fake_go_on();
    assert_ok(mxc_wait_all(f->engine));
    assert_int_equal(f->y, 1);
    assert_int_equal(*second, 77);
    delete_block(var, second);
}

/* Another engine takes the block: it waits. */
static void test_reuse_elsewhere(void **state) {
    fixture *f = *state;
    mxc_engine *other = make_engine(MXC_ENGINE_NAIVE, 0, 0);
    int *first, *second;
    mxc_var *var = take_block(f->engine, &first);
    *first = 1;
    fake_hold();
    f->copy.from = first;
    push_job(f->engine, &f->copy, mxc_gpu(0), MXC_PROP_NORMAL, var, f->b);
    await_calls(&f->copy, 1);
    await_idle(f->b);
    delete_block(var, first);
    release_soon(f);
    var = take_block(other, &second);
    assert_ptr_equal(first, second);
    *second = 5;
    delete_block(var, second);
    assert_ok(mxc_wait_to_read(f->b));
    assert_int_equal(f->y, 1);
    mxci_thread_join(f->helper);
    mxc_engine_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_deletion),
        WITH_FIXTURE(test_reuse),
        WITH_FIXTURE(test_reuse_elsewhere),
    };
    if (mxci_device_register(MXC_GPU, &fake_device) != MXC_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
