/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of every operator in mxc/operators.hpp have the names and defaults of the registry. */
#include "cpp_support.hpp"

/* Gives each setting the text of its default, whatever its value; counts those that have none. */
template <class Writer> struct default_writer {
    Writer &writer;
    int n_required = 0;
    template <class T> void operator()(const char *, const mxc::required<T> &) {
        n_required++;
    }
    template <class T, class Default> void operator()(const char *key, const T &, const Default &initial) {
        writer(key, static_cast<T>(initial));
    }
};

static const mxc_param *find_param(const mxc_op_def *def, const char *name) {
    for (const mxc_param *p = def->params; p && p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    return nullptr;
}

static int n_params(const mxc_op_def *def) {
    int n = 0;
    for (const mxc_param *p = def->params; p && p->name; p++)
        n += !def->variadic || strcmp(p->name, def->variadic) != 0;
    return n;
}

/* Parses one parameter by itself; returns its value as the library writes it. */
static std::string parse(const mxc_op_def *def, const mxc_param *param, const char *value) {
    mxc_param schema[2] = {*param, MXC_PARAM_END};
    std::vector<char> params(def->param_size);
    char text[4096];
    assert_ok(mxc_params_parse(def->name, schema, 1, &param->name, &value, params.data()));
    return mxc_param_format(param, params.data(), text, sizeof text);
}

static int compared;

template <class Settings> static void compare() {
    const mxc_op_def *def = mxc_op_find(Settings::op);
    assert_non_null(def);
    assert_true(Settings::count >= size_t(n_params(def)));
    /* Settings with required ones are no objects without values. */
    if constexpr (std::is_default_constructible_v<Settings>) {
        mxc::detail::writer_of<Settings> writer;
        default_writer<mxc::detail::writer_of<Settings>> visitor{writer};
        Settings().visit(visitor);
        assert_int_equal(visitor.n_required, 0);
        assert_int_equal(writer.size(), n_params(def));
        for (int i = 0; i < writer.size(); i++) {
            const mxc_param *param = find_param(def, writer.keys()[i]);
            assert_non_null(param);
            if (!*writer.values()[i] && !*param->initial)
                continue; /* an empty text is no value to parse */
            std::string found = parse(def, param, writer.values()[i]), expected = parse(def, param, param->initial);
            if (found != expected) {
                print_error("%s: %s: default %s, expected %s\n", def->name, param->name, found.c_str(),
                            expected.c_str());
                fail();
            }
            compared++;
        }
    }
}

static void defaults_are_those_of_the_registry() {
#define SETTINGS(name) compare<mxc::op::name##_settings>();
#include "settings.inc"
#undef SETTINGS
    assert_true(compared > 300);
}

/* Every operator that users see is a function, but for those of control flow and of the program. */
static void every_operator_has_settings_or_none() {
    int n = 0;
    std::vector<std::string> names = {
#define SETTINGS(name) mxc::op::name##_settings::op,
#include "settings.inc"
#undef SETTINGS
    };
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        const char *family = mxc_op_family(def->name);
        bool is_left_out = (def->flags & MXC_OP_HIDDEN) || !strcmp(family, "control_flow") || !strcmp(family, "custom");
        bool is_there = std::find(names.begin(), names.end(), def->name) != names.end();
        if (is_left_out ? is_there : !is_there && n_params(def) > 0) {
            print_error("%s: %s\n", def->name, is_there ? "is a function" : "has no settings");
            fail();
        }
        n += is_there;
    }
    assert_int_equal(n, names.size());
}

int main() {
    const struct CMUnitTest tests[] = {
        CPP_TEST(defaults_are_those_of_the_registry),
        CPP_TEST(every_operator_has_settings_or_none),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
