/* SPDX-License-Identifier: Apache-2.0 */
/* What cases cannot hold: a failing run, and what the arguments are called. */
#include "support.h"

#include <mxc/op.h>

/* 4 steps, one sequence, 3 classes; its label. */
static void expect_refused(float label, const char *message) {
    static const float zeros[12];
    mxc_ndarray *in[2], *out = NULL;
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){4, 1, 3}, MXC_F32, zeros, &in[0]));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){1, 1}, MXC_F32, &label, &in[1]));
    assert_ok(mxc_invoke("CTCLoss", 2, in, 0, NULL, NULL, 1, &out));
    assert_int_equal(mxc_ndarray_wait_to_read(out), MXC_EINVAL);
    if (!strstr(mxc_last_error(), message))
        fail_msg("found \"%s\", expected \"%s\"", mxc_last_error(), message);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out);
}

static void test_labels_are_classes(void **state) {
    (void)state;
    expect_refused(3, "CTCLoss: argument 'label': element 0 is 3, expected an index in [1, 3)");
    expect_refused(-1, "element 0 is -1");
}

static void test_argument_names(void **state) {
    static const char *const keys[] = {"use_label_lengths"}, *const values[] = {"True"};
    char name[32];
    mxc_op *op;
    (void)state;
    assert_ok(mxc_op_create("CTCLoss", 1, keys, values, &op));
    assert_int_equal(mxc_op_n_args(op), 3);
    assert_string_equal(mxc_op_arg_name(op, 2, name, sizeof name), "label_lengths");
    mxc_op_release(op);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_are_classes),
        cmocka_unit_test(test_argument_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
