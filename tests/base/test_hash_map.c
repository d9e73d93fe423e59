/* SPDX-License-Identifier: Apache-2.0 */
/* The hash map against a plain array, its order, and failed allocations. */
#include "support.h"

#include "base/hash_map.h"
#include "base/sys.h"

static int a, b, c;

static void put_get_replace_remove(void **state) {
    mxci_hash_map *map;
    char key[] = "x";
    (void)state;
    assert_ok(mxci_hash_map_create(&map));
    assert_null(mxci_hash_map_get(map, "x"));
    assert_ok(mxci_hash_map_put(map, key, &a));
    key[0] = 'y'; /* the map has a copy */
    assert_ptr_equal(mxci_hash_map_get(map, "x"), &a);
    assert_ok(mxci_hash_map_put(map, "x", &b));
    assert_ptr_equal(mxci_hash_map_get(map, "x"), &b);
    assert_int_equal(mxci_hash_map_count(map), 1);
    assert_ok(mxci_hash_map_put(map, "", NULL));
    assert_true(mxci_hash_map_has(map, ""));
    assert_null(mxci_hash_map_get(map, ""));
    assert_ptr_equal(mxci_hash_map_remove(map, "x"), &b);
    assert_null(mxci_hash_map_remove(map, "x"));
    assert_false(mxci_hash_map_has(map, "x"));
    assert_int_equal(mxci_hash_map_count(map), 1);
    mxci_hash_map_destroy(map);
    mxci_hash_map_destroy(NULL);
}

static void walking_keeps_the_order(void **state) {
    static const char *const left[] = {"c", "a", "d"};
    const char *key;
    size_t cursor = 0;
    mxci_hash_map *map;
    void *value;
    int n = 0;
    (void)state;
    assert_ok(mxci_hash_map_create(&map));
    assert_false(mxci_hash_map_next(map, &cursor, &key, &value));
    assert_ok(mxci_hash_map_put(map, "c", &c));
    assert_ok(mxci_hash_map_put(map, "b", &b));
    assert_ok(mxci_hash_map_put(map, "a", &a));
    assert_ok(mxci_hash_map_put(map, "c", &c));
    mxci_hash_map_remove(map, "b");
    assert_ok(mxci_hash_map_put(map, "d", &b));
    for (cursor = 0; mxci_hash_map_next(map, &cursor, &key, &value); n++)
        assert_string_equal(key, left[n]);
    assert_int_equal(n, 3);
    mxci_hash_map_destroy(map);
}

enum { KEYS = 3000 };

/* Random puts and removes on few keys, so that holes, rebuilds and reinsertions all happen, compared with an array. */
static void random_work_agrees_with_an_array(void **state) {
    static void *model[KEYS];
    size_t count = 0, cursor = 0, walked = 0;
    uint32_t random = 7;
    const char *name;
    mxci_hash_map *map;
    void *value;
    char key[16];
    (void)state;
    memset(model, 0, sizeof model);
    assert_ok(mxci_hash_map_create(&map));
    for (int i = 0; i < TEST_SCALE(200000); i++) {
        unsigned k = (random = random * 1664525u + 1013904223u) >> 8;
        unsigned n = k % KEYS;
        snprintf(key, sizeof key, "k%u", n);
        assert_ptr_equal(mxci_hash_map_get(map, key), model[n]);
        if (k / KEYS % 3 == 0) {
            assert_ptr_equal(mxci_hash_map_remove(map, key), model[n]);
            count -= model[n] != NULL;
            model[n] = NULL;
        } else {
            count += !model[n];
            model[n] = &model[k % 5];
            assert_ok(mxci_hash_map_put(map, key, model[n]));
        }
        assert_int_equal(mxci_hash_map_count(map), count);
    }
    while (mxci_hash_map_next(map, &cursor, &name, &value)) {
        assert_ptr_equal(value, model[atoi(name + 1)]);
        walked++;
    }
    assert_int_equal(walked, count);
    mxci_hash_map_destroy(map);
}

/* Allocation n fails while 100 keys are put; the map keeps what it had and works on. */
static void failed_allocations_leave_the_map_whole(void **state) {
    int64_t live = mxci_alloc_live();
    mxci_hash_map *map;
    (void)state;
    mxci_test_fail_alloc(1, 0);
    assert_status(mxci_hash_map_create(&map), MXC_ENOMEM);
    assert_null(map);
    for (int n = 2; n < 120; n++) {
        int failures = 0;
        mxci_test_fail_alloc(n, 0);
        assert_ok(mxci_hash_map_create(&map));
        for (int i = 0; i < 100; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            if (mxci_hash_map_put(map, key, &a) != MXC_OK) {
                failures++;
                assert_int_equal(mxci_hash_map_count(map), i);
                assert_false(mxci_hash_map_has(map, key));
                assert_ok(mxci_hash_map_put(map, key, &a));
            }
            assert_true(mxci_hash_map_has(map, "0") && mxci_hash_map_has(map, key));
        }
        assert_true(failures <= 1);
        mxci_hash_map_destroy(map);
    }
    mxci_test_fail_alloc(0, 0);
    assert_int_equal(mxci_alloc_live(), live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_get_replace_remove),
        cmocka_unit_test(walking_keeps_the_order),
        cmocka_unit_test(random_work_agrees_with_an_array),
        cmocka_unit_test(failed_allocations_leave_the_map_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
