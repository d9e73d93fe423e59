/* SPDX-License-Identifier: Apache-2.0 */
/* The table of plans: every key keeps its value until there are more keys than places. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

#include "cuda/runtime/plan_cache.h"

namespace {

enum { PLACES = 64 };

int closed;

struct value {
    int64_t number = -1;
    bool is_open = false;
    void close() {
        closed += is_open;
    }
};

using cache = mxcu_plan_cache<value, 2, PLACES>;

/* The key's number, set to it if it is new. */
int64_t ask(cache *m, int64_t a, int64_t b, int *known) {
    value *v = m->find({a, b}, known);
    if (!*known) {
        assert_int_equal(v->number, -1); /* nothing of a key before */
        v->number = 1000 * a + b;
        v->is_open = true;
    }
    return v->number;
}

/* As many keys as places, of which some must begin their search at the same place. */
void test_full_table(void **) {
    cache *m = new cache;
    closed = 0;
    for (int round = 0; round < 3; round++)
        for (int64_t i = 0; i < PLACES; i++) {
            int known;
            assert_int_equal(ask(m, i, 7 * i, &known), 1000 * i + 7 * i);
            assert_int_equal(known, round > 0);
        }
    assert_int_equal(closed, 0);
    delete m;
}

/* One more takes the place of the one that was asked for the longest time ago, and of no other. */
void test_oldest_goes(void **) {
    cache *m = new cache;
    int known;
    closed = 0;
    for (int64_t i = 0; i < PLACES; i++)
        ask(m, i, 0, &known);
    ask(m, 0, 0, &known); /* so that 1 is the oldest */
    ask(m, PLACES, 0, &known);
    assert_false(known);
    assert_int_equal(closed, 1);
    for (int64_t i = 0; i <= PLACES; i++)
        if (i != 1) {
            ask(m, i, 0, &known);
            assert_true(known);
        }
    ask(m, 1, 0, &known);
    assert_false(known);
    delete m;
}

} // namespace

int main() {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_table), cmocka_unit_test(test_oldest_goes)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
