/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of sizes at and beyond the limits of their types. */
#include "support.h"

#include "base/size.h"

#define SHAPE(...)                                                       \
    (mxc_shape) {                                                        \
        (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), { \
            __VA_ARGS__                                                  \
        }                                                                \
    }

static void bytes_saturate(void **state) {
    (void)state;
    assert_true(mxci_size_add(2, 3) == 5);
    assert_true(mxci_size_add(SIZE_MAX - 1, 1) == SIZE_MAX);
    assert_true(mxci_size_add(SIZE_MAX, 1) == SIZE_MAX);
    assert_true(mxci_size_add(SIZE_MAX, SIZE_MAX) == SIZE_MAX);
    assert_true(mxci_size_mul(6, 7) == 42);
    assert_true(mxci_size_mul((size_t)1 << 32, (size_t)1 << 32) == SIZE_MAX); /* 0 where it wraps */
    assert_true(mxci_size_mul(SIZE_MAX, 3) == SIZE_MAX);
    assert_true(mxci_size_mul(SIZE_MAX, 0) == 0);
    assert_true(mxci_size_fits(0) && mxci_size_fits(PTRDIFF_MAX / 2));
    assert_false(mxci_size_fits((size_t)PTRDIFF_MAX / 2 + 1));
    assert_false(mxci_size_fits(SIZE_MAX));
}

static void bytes_are_aligned(void **state) {
    (void)state;
    assert_true(mxci_size_align(0) == 0);
    assert_true(mxci_size_align(1) == 64 && mxci_size_align(64) == 64 && mxci_size_align(65) == 128);
    assert_true(mxci_size_align(SIZE_MAX - 64) == SIZE_MAX - 63); /* the largest multiple of 64 */
    assert_true(mxci_size_align(SIZE_MAX - 62) == SIZE_MAX && mxci_size_align(SIZE_MAX) == SIZE_MAX);
}

static void counts_become_bytes(void **state) {
    (void)state;
    assert_true(mxci_size_of(0, 8) == 0 && mxci_size_of(5, 8) == 40);
    assert_true(mxci_size_of(-1, 1) == SIZE_MAX);
    assert_true(mxci_size_of(INT64_MAX, 1) == SIZE_MAX);
    assert_true(mxci_size_of((int64_t)1 << 61, 8) == SIZE_MAX);
}

static void axes_saturate(void **state) {
    (void)state;
    assert_true(mxci_dim_add(2, 3) == 5 && mxci_dim_mul(2, 3) == 6);
    assert_true(mxci_dim_add(INT64_MAX, 1) == INT64_MAX);
    assert_true(mxci_dim_mul((int64_t)1 << 32, (int64_t)1 << 31) == INT64_MAX);
    assert_true(mxci_dim_mul(INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(mxci_dim_mul(INT64_MAX, 0) == 0);
    assert_true(mxci_dim_add(-1, 5) == -1 && mxci_dim_add(5, -1) == -1);
    assert_true(mxci_dim_mul(-1, 0) == -1 && mxci_dim_mul(INT64_MAX, -1) == -1);
}

static void shapes_are_counted(void **state) {
    const mxc_shape cube = SHAPE(2, 3, 4), open = SHAPE(2, -1, 4), wide = SHAPE(1024, 4503599627370497);
    const mxc_shape empty = SHAPE(3, 0, 5), unknown = {.ndim = -1}, scalar = {.ndim = 0};
    (void)state;
    assert_int_equal(mxci_shape_count(&cube, 0, 3), 24);
    assert_int_equal(mxci_shape_count(&cube, 1, 1), 1);
    assert_int_equal(mxci_shape_count(&open, 0, 3), -1);
    assert_int_equal(mxci_shape_extent(&open), 8);
    assert_int_equal(mxci_shape_extent(&empty), 15);
    assert_true(mxci_shape_bytes(&cube, 4) == 96 && mxci_shape_bytes(&scalar, 8) == 8);
    assert_true(mxci_shape_bytes(&empty, 8) == 0);
    assert_true(mxci_shape_bytes(&open, 4) == SIZE_MAX && mxci_shape_bytes(&unknown, 4) == SIZE_MAX);
    assert_true(mxci_shape_bytes(&wide, 4) == SIZE_MAX); /* 4096 where it wraps */
}

static void shapes_fit_or_do_not(void **state) {
    const mxc_shape most = SHAPE(MXC_MAX_ELEMENTS), more = SHAPE(MXC_MAX_ELEMENTS + 1);
    const mxc_shape hidden = SHAPE(INT64_MAX, 0, 2), partly = SHAPE((int64_t)1 << 31, -1, (int64_t)1 << 31);
    const mxc_shape unknown = {.ndim = -1}, scalar = {.ndim = 0}, empty = SHAPE(0, 1024);
    (void)state;
    assert_true(mxci_shape_fits(&unknown) && mxci_shape_fits(&scalar) && mxci_shape_fits(&empty));
    assert_true(mxci_shape_fits(&most) && mxci_size_fits(mxci_shape_bytes(&most, 8)));
    assert_false(mxci_shape_fits(&more));
    assert_false(mxci_shape_fits(&hidden));
    assert_false(mxci_shape_fits(&partly));
    assert_true(mxci_shape_bytes(&hidden, 1) == SIZE_MAX);
}

static void scratch_is_measured_and_laid_out(void **state) {
    mxci_scratch measure = {.base = NULL}, use, huge = {.base = NULL};
    char memory[256];
    (void)state;
    assert_null(mxci_scratch_take(&measure, 1));
    assert_null(mxci_scratch_take(&measure, 65));
    assert_true(measure.bytes == 192);
    use = (mxci_scratch){.base = memory};
    assert_ptr_equal(mxci_scratch_take(&use, 1), memory);
    assert_ptr_equal(mxci_scratch_take(&use, 65), memory + 64);
    assert_true(use.bytes == measure.bytes);
    mxci_scratch_take(&huge, SIZE_MAX - 100);
    mxci_scratch_take(&huge, 200); /* 99 where it wraps */
    mxci_scratch_take(&huge, 8);
    assert_true(huge.bytes == SIZE_MAX);
    assert_false(mxci_size_fits(huge.bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_saturate),
        cmocka_unit_test(bytes_are_aligned),
        cmocka_unit_test(counts_become_bytes),
        cmocka_unit_test(axes_saturate),
        cmocka_unit_test(shapes_are_counted),
        cmocka_unit_test(shapes_fit_or_do_not),
        cmocka_unit_test(scratch_is_measured_and_laid_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
