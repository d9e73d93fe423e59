/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of mxc/mxc.hpp share: cmocka, which is C, and exceptions. */
#ifndef MXC_TESTS_CPP_SUPPORT_HPP
#define MXC_TESTS_CPP_SUPPORT_HPP

#include <mxc/mxc.hpp>

extern "C" {
#include "support.h"
}

/* Also of objects that convert to bool explicitly. */
#undef assert_true
#undef assert_false
#define assert_true(condition) _assert_true(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define assert_false(condition) _assert_true(!static_cast<bool>(condition), "!" #condition, __FILE__, __LINE__)

/* A test that fails on an exception that leaves it. */
template <void (*Test)()> void cpp_test(void **) {
    try {
        Test();
        return;
    } catch (const mxc::error &e) {
        print_error("%s: %s (%s)\n", e.status_name(), e.what(), e.place());
    } catch (const std::exception &e) {
        print_error("%s\n", e.what());
    }
    fail();
}
#define CPP_TEST(test) \
    { #test, cpp_test < test>, nullptr, nullptr, nullptr }

/* The function must throw mxc::error with this status and a message that contains text. */
template <class Function> void assert_throws(mxc_status status, const char *text, Function &&function) {
    try {
        function();
    } catch (const mxc::error &e) {
        if (e.status() == status && strstr(e.what(), text))
            return;
        print_error("found %s: %s\nexpected %s: %s\n", e.status_name(), e.what(), mxc_status_name(status), text);
        fail();
    }
    print_error("no exception; expected %s: %s\n", mxc_status_name(status), text);
    fail();
}

template <class T> void assert_elements(const mxc::ndarray &array, std::initializer_list<T> expected) {
    std::vector<T> found = array.to_vector<T>();
    assert_int_equal(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); i++)
        if (!(found[i] == expected.begin()[i])) {
            print_error("element %zu: found %g, expected %g\n", i, double(found[i]), double(expected.begin()[i]));
            fail();
        }
}

#endif
