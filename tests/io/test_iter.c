/* SPDX-License-Identifier: Apache-2.0 */
/* The iterator interface: by name, from a program's own methods, and calls without an iterator. */
#include "io/batches.h"

static void test_by_name(void **state) {
    mxc_iter *iter;
    char *text;
    (void)state;
    assert_string_equal(mxc_iter_name_at(0), "MNISTIter");
    assert_null(mxc_iter_name_at(-1));
    int n = 0;
    while (mxc_iter_name_at(n))
        n++;
    assert_null(mxc_iter_name_at(n + 1));
    assert_fails(mxc_iter_create("CIFARIter", 0, NULL, NULL, &iter), MXC_ENOTFOUND, "there are MNISTIter");
    assert_null(iter);
    assert_fails(mxc_iter_create(NULL, 0, NULL, NULL, &iter), MXC_EINVAL, "name");
    assert_fails(mxc_iter_describe("CIFARIter", &text), MXC_ENOTFOUND, "there are MNISTIter");
    assert_ok(mxc_iter_describe("MNISTIter", &text));
    assert_non_null(strstr(text, "batch_size : int"));
    assert_non_null(strstr(text, "default='128'") ? strstr(text, "128") : strstr(text, "default=128"));
    mxc_free(text);
}

static int count(void *self) {
    return *(int *)self;
}
static const mxc_data_desc *desc(void *self, int index) {
    static const mxc_data_desc d = {"data", {1, {2}}, MXC_F32};
    (void)self;
    (void)index;
    return &d;
}
static mxc_status next(void *self, mxc_batch *out) {
    (void)self;
    (void)out;
    return MXC_OK;
}
static mxc_status reset(void *self) {
    (void)self;
    return MXC_OK;
}
static mxc_status get(void *self, mxc_iter_state *out) {
    (void)self;
    *out = (mxc_iter_state){1, 2};
    return MXC_OK;
}
static mxc_status set(void *self, const mxc_iter_state *state) {
    (void)self;
    (void)state;
    return MXC_FAIL(MXC_EINVAL, "mine: no");
}
static void destroy(void *self) {
    *(int *)self = -1;
}

static void test_own_methods(void **state) {
    mxc_iter_methods methods = {sizeof methods, count, count, desc, next, reset, get, set, destroy};
    int self = 1;
    mxc_iter *iter;
    mxc_iter_state at;
    mxc_batch batch = {.n_data = 5};
    (void)state;
    assert_ok(mxc_iter_from_methods(&methods, &self, &iter));
    assert_int_equal(mxc_iter_n_data(iter), 1);
    assert_int_equal(mxc_iter_n_label(iter), 1);
    assert_non_null(mxc_iter_desc(iter, 1));
    assert_null(mxc_iter_desc(iter, 2));
    assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(batch.n_data, 0);
    assert_ok(mxc_iter_reset(iter));
    assert_ok(mxc_iter_get_state(iter, &at));
    assert_int_equal(at.position, 2);
    assert_fails(mxc_iter_set_state(iter, &at), MXC_EINVAL, "mine: no");
    mxc_iter_destroy(iter);
    assert_int_equal(self, -1);
    methods.size--;
    assert_fails(mxc_iter_from_methods(&methods, &self, &iter), MXC_EINVAL, "size");
    assert_fails(mxc_iter_from_methods(NULL, &self, &iter), MXC_EINVAL, "methods must not be NULL");
}

static void test_schema(void **state) {
    int found = 0;
    (void)state;
    for (const mxc_param *p = mxc_iter_params("CSVIter"); p && p->name; p++)
        found |= strcmp(p->name, "data_csv") == 0 && p->type == MXC_PARAM_STRING && p->doc;
    assert_true(found);
    assert_non_null(mxc_iter_doc("CSVIter"));
    assert_null(mxc_iter_params("NoIter"));
    assert_null(mxc_iter_doc("NoIter"));
    assert_null(mxc_iter_params(NULL));
}

static void test_calls_without_iterator(void **state) {
    mxc_batch batch;
    mxc_iter_state at = {0};
    (void)state;
    mxc_iter_destroy(NULL);
    assert_int_equal(mxc_iter_n_data(NULL), 0);
    assert_int_equal(mxc_iter_n_label(NULL), 0);
    assert_null(mxc_iter_desc(NULL, 0));
    assert_fails(mxc_iter_next(NULL, &batch), MXC_EINVAL, "must not be NULL");
    assert_fails(mxc_iter_reset(NULL), MXC_EINVAL, "must not be NULL");
    assert_fails(mxc_iter_get_state(NULL, &at), MXC_EINVAL, "must not be NULL");
    assert_fails(mxc_iter_set_state(NULL, &at), MXC_EINVAL, "must not be NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_own_methods),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_calls_without_iterator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
