/* SPDX-License-Identifier: Apache-2.0 */
/* docs/reference/api.json against the compiler and the library: sizes, offsets and values are those of this program,
 * and the shared library has every function. That pointers which it calls required are required is tested by
 * test_null.c. */
#include <dlfcn.h>

#include <mxc/dlpack.h>
#include <mxc/mxc.h>
#include <mxc/philox.h>

#include "api/description.h"

typedef struct measured {
    const char *type, *member; /* member NULL: the whole struct */
    size_t at, size;           /* offset of the member, or alignment of the struct */
} measured;

typedef struct value {
    const char *name;
    long long number;
} value;

typedef struct constant {
    const char *name, *text; /* text NULL: a number */
    double number;
} constant;

#define TEXT_OF(x) _Generic((x), char * : (x), default : NULL)
#define NUMBER_OF(x) _Generic((x), char * : 0, default : (x))
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Written by description.awk: what the compiler makes of each name in the description. */
#include "description.inc"

static json_t *described;

/* The number of entries in the members of a list's entries: of enumerators, or of members of structs. */
static size_t count_inner(const char *list_name, const char *inner) {
    const json_t *list = json_object_get(described, list_name);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        n += json_array_size(json_object_get(json_array_get(list, i), inner));
    return n;
}

static size_t number(const json_t *entry, const char *key) {
    const json_t *found = json_object_get(entry, key);
    assert_true(json_is_real(found));
    return (size_t)json_real_value(found);
}

static void structs_have_these_layouts(void **state) {
    const json_t *list = json_object_get(described, "structs");
    (void)state;
    assert_int_equal(LENGTH(structs), json_array_size(list) + count_inner("structs", "members"));
    for (size_t i = 0; i < LENGTH(structs); i++) {
        const json_t *entry = description_find(list, "c_name", structs[i].type);
        assert_non_null(entry);
        if (structs[i].member)
            entry = description_find(json_object_get(entry, "members"), "name", structs[i].member);
        assert_non_null(entry);
        assert_int_equal(number(entry, structs[i].member ? "offset" : "alignment"), structs[i].at);
        assert_int_equal(number(entry, "size"), structs[i].size);
    }
}

static void enumerators_have_these_values(void **state) {
    const json_t *list = json_object_get(described, "enums");
    (void)state;
    assert_int_equal(LENGTH(values), count_inner("enums", "values"));
    for (size_t i = 0; i < LENGTH(values); i++) {
        const json_t *entry = NULL;
        for (size_t k = 0; k < json_array_size(list) && !entry; k++)
            entry = description_find(json_object_get(json_array_get(list, k), "values"), "name", values[i].name);
        assert_non_null(entry);
        assert_true(json_real_value(json_object_get(entry, "value")) == (double)values[i].number);
    }
}

static void constants_have_these_values(void **state) {
    const json_t *list = json_object_get(described, "constants");
    (void)state;
    assert_int_equal(LENGTH(constants), json_array_size(list));
    for (size_t i = 0; i < LENGTH(constants); i++) {
        const json_t *entry = json_object_get(description_find(list, "name", constants[i].name), "value");
        assert_non_null(entry);
        if (constants[i].text)
            assert_string_equal(json_string_value(entry), constants[i].text);
        else
            assert_true(json_real_value(entry) == constants[i].number);
    }
}

/* Also those that release what others return. The sanitizers do not want the library twice in one process. */
static void the_library_has_every_function(void **state) {
    const json_t *list = json_object_get(described, "functions");
    (void)state;
#ifdef MXC_LIBRARY
    void *library = dlopen(MXC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (!dlsym(library, name))
            print_error("%s is not in the library\n", name);
        assert_non_null(dlsym(library, name));
    }
    assert_null(dlsym(library, "mxci_sized_init")); /* what is not public is hidden */
    dlclose(library);
#else
    (void)list;
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_have_these_layouts),
        cmocka_unit_test(enumerators_have_these_values),
        cmocka_unit_test(constants_have_these_values),
        cmocka_unit_test(the_library_has_every_function),
    };
    described = description_load();
    int failed = !described ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(described);
    return failed;
}
