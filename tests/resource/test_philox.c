/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 against the known answers that its authors publish (Random123, kat_vectors). */
#include "support.h"

#include <mxc/philox.h>

typedef struct known_answer {
    mxc_philox counter;
    uint32_t key[2];
    mxc_philox result;
} known_answer;

static const known_answer answers[] = {
    {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {0xffffffff, 0xffffffff},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {0xa4093822, 0x299f31d0},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

static void known_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        mxc_philox found = mxc_philox_block(answers[i].counter, answers[i].key[0], answers[i].key[1]);
        assert_memory_equal(&found, &answers[i].result, sizeof found);
    }
}

static void numbers_are_words_of_blocks(void **state) {
    uint64_t seed = 0x299f31d0a4093822u, stream = 0x0370734413198a2eu, block = 0x85a308d3243f6a88u;
    (void)state;
    assert_memory_equal(mxc_philox_stream(seed, stream, block).word, answers[2].result.word, 16);
    assert_int_equal(mxc_philox_number(0, 0, 3), 0x9b00dbd8);
    assert_int_equal(mxc_philox_number(0, 0, 6), mxc_philox_stream(0, 0, 1).word[2]);
}

static void floats_lie_in_the_half_open_interval(void **state) {
    (void)state;
    assert_true(mxc_philox_float(0) == 0.0f);
    assert_true(mxc_philox_float(0xffffffff) < 1.0f);
    assert_true(mxc_philox_double(0, 0) == 0.0);
    assert_true(mxc_philox_double(0xffffffff, 0xffffffff) < 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(numbers_are_words_of_blocks),
        cmocka_unit_test(floats_lie_in_the_half_open_interval),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
