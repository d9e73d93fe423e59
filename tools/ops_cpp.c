/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc ops --cpp: writes include/mxc/operators.hpp and a header per family from the descriptors. Each operator becomes a
 * struct of its settings and functions on arrays, into arrays, and on symbols.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mxc/mxc.h>

#include "mxc.h"

enum { COLUMNS = 120, MAX_INPUTS = 32, MAX_PARAMS = 64, NAME = 64 };

/* What is written of one operator. */
typedef struct shape_of_call {
    const mxc_op_def *def;
    const char *name; /* in C++ */
    char inputs[MAX_INPUTS][NAME];
    int n_inputs;           /* arguments, then auxiliary states */
    int n_short;            /* how many it takes by default; n_inputs if that is no fewer, or not known */
    int is_list;            /* takes a list of arrays */
    int has_params;         /* other than the one that counts a list */
    int has_required;       /* so that the settings cannot be left out */
    const char *result;     /* ndarray or results */
    const char *parameters; /* "" or the last parameter, with or without a default */
} shape_of_call;

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Where to break a line of more than room columns: at a blank, in code behind a comma. */
static size_t find_break(const char *line, size_t room, int is_code) {
    size_t end = room;
    while (end > COLUMNS / 4 && !(line[end] == ' ' && (!is_code || line[end - 1] == ',')))
        end--;
    return end > COLUMNS / 4 ? end : is_code ? find_break(line, room, 0) : room;
}

/* Prints one line, broken where it is too long; lines below begin with indent. */
static void put(FILE *out, const char *indent, const char *format, ...) {
    char text[8192], *at = text;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t room = COLUMNS; strlen(at) > room; room = COLUMNS - strlen(indent)) {
        size_t end = find_break(at, room, !strchr(indent, '*'));
        fprintf(out, "%.*s\n%s", (int)end, at, indent);
        at += end + 1;
    }
    fprintf(out, "%s\n", at);
}

/* As a comment, of which nothing ends the comment early. */
static void put_comment(FILE *out, const char *indent, const char *opening, const char *text) {
    char copy[8192], below[16];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *end = strstr(copy, "*/"); end; end = strstr(end, "*/"))
        end[0] = ' ';
    snprintf(below, sizeof below, "%s * ", indent);
    put(out, below, "%s%s %s */", indent, opening, copy);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static int is_counter(const shape_of_call *call, const mxc_param *p) {
    return call->def->variadic && strcmp(call->def->variadic, p->name) == 0;
}

static int is_none(const mxc_param *p) {
    return p->initial && strcmp(p->initial, "None") == 0;
}

/* The C++ type of a setting. */
static const char *type_of(const mxc_param *p) {
    switch (p->type) {
    case MXC_PARAM_BOOL:
        return p->optional ? "std::optional<bool>" : "bool";
    case MXC_PARAM_INT:
        return p->optional ? "std::optional<int64_t>" : "int64_t";
    case MXC_PARAM_FLOAT:
        return p->optional ? "std::optional<double>" : "double";
    case MXC_PARAM_TUPLE:
        return "tuple";
    case MXC_PARAM_FLOATS:
        return "floats";
    case MXC_PARAM_DTYPE:
        return "mxc_dtype";
    default:
        return "text";
    }
}

/* Most bytes of its value as text, where that is made by the call. */
static int text_bytes(const mxc_param *p) {
    switch (p->type) {
    case MXC_PARAM_INT:
    case MXC_PARAM_FLOAT:
        return 33;
    case MXC_PARAM_TUPLE:
        return MXC_TUPLE_MAX * 22 + 3;
    case MXC_PARAM_FLOATS:
        return MXC_FLOATS_MAX * 33 + 3;
    default:
        return 0;
    }
}

/* "MXC_F32" for "float32". */
static const char *dtype_constant(const char *name) {
    static const struct {
        mxc_dtype dtype;
        const char *constant;
    } all[] = {
#define MXC_DTYPE(name, flag, bytes, text) {name, #name},
#include <mxc/dtype.def>
#undef MXC_DTYPE
    };
    mxc_dtype dtype = mxc_dtype_from_name(name);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].dtype == dtype)
            return all[i].constant;
    return "MXC_DTYPE_UNKNOWN";
}

/* "{1, none, 2}" for "(1,None,2)". */
static void list_text(const char *initial, char *out, size_t size) {
    size_t n = 0;
    n += (size_t)snprintf(out, size, "{");
    for (const char *c = initial; *c && n + 8 < size; c++) {
        if (strncmp(c, "None", 4) == 0) {
            n += (size_t)snprintf(out + n, size - n, "none");
            c += 3;
        } else if (*c == ',' && c[1] && c[1] != ')' && c[1] != ']') {
            n += (size_t)snprintf(out + n, size - n, ", ");
        } else if (!strchr("()[], ", *c)) {
            out[n++] = *c;
            out[n] = 0;
        }
    }
    snprintf(out + n, size - n, "}");
}

/* The default as an expression of C++. */
static void default_text(const mxc_param *p, char *out, size_t size) {
    const char *t = p->initial;
    char list[256];
    switch (p->type) {
    case MXC_PARAM_BOOL:
        t = is_none(p) ? "std::nullopt" : strcmp(t, "1") == 0 || tolower((unsigned char)*t) == 't' ? "true" : "false";
        snprintf(out, size, p->optional ? "std::optional<bool>(%s)" : "%s", t);
        break;
    case MXC_PARAM_INT:
        snprintf(out, size, p->optional ? "std::optional<int64_t>(%s)" : "%s", is_none(p) ? "std::nullopt" : t);
        break;
    case MXC_PARAM_FLOAT:
        if (!strcmp(t, "inf"))
            t = "std::numeric_limits<double>::infinity()";
        snprintf(out, size, p->optional ? "std::optional<double>(%s)" : "%s", is_none(p) ? "std::nullopt" : t);
        break;
    case MXC_PARAM_TUPLE:
    case MXC_PARAM_FLOATS:
        list_text(t, list, sizeof list);
        snprintf(out, size, "%s%s", type_of(p), is_none(p) ? "(std::nullopt)" : list);
        break;
    case MXC_PARAM_DTYPE:
        snprintf(out, size, "%s", dtype_constant(t));
        break;
    default:
        snprintf(out, size, is_none(p) ? "text()" : "text(\"%s\")", t);
        break;
    }
}

/* The comment of a setting: its type, range and values as mxc_op_describe prints them, and what it controls. */
static void put_setting_comment(FILE *out, const mxc_param *p) {
    char type[1024], text[4096];
    mxc_param_describe(p, type, sizeof type);
    snprintf(text, sizeof text, "%s. %s", type, p->doc ? p->doc : "");
    put_comment(out, "    ", "/**", text);
}

static void write_settings(FILE *out, const shape_of_call *call) {
    const mxc_param *params = call->def->params;
    char value[512];
    int count = 0, bytes = 0;
    fprintf(out, "struct %s_settings {\n", call->name);
    for (int want_required = 1; want_required >= 0; want_required--)
        for (const mxc_param *p = params; p && p->name; p++) {
            if (is_counter(call, p) || !!p->initial == want_required)
                continue;
            put_setting_comment(out, p);
            if (want_required) {
                fprintf(out, "    required<%s> %s;\n", type_of(p), p->name);
                continue;
            }
            default_text(p, value, sizeof value);
            put(out, "        ", "    %s %s = %s;", type_of(p), p->name, value);
        }
    put(out, "        ", "    static constexpr const char *op = \"%s\";", call->def->name);
    fprintf(out, "    template <class Visitor> void visit(%s) const {\n",
            call->has_params ? "Visitor &&visitor" : "Visitor &&");
    for (const mxc_param *p = params; p && p->name; p++) {
        count++;
        bytes += text_bytes(p);
        if (is_counter(call, p))
            continue;
        if (!p->initial) {
            fprintf(out, "        visitor(\"%s\", %s);\n", p->name, p->name);
            continue;
        }
        default_text(p, value, sizeof value);
        put(out, "            ", "        visitor(\"%s\", %s, %s);", p->name, p->name, value);
    }
    fprintf(out, "    }\n    static constexpr size_t count = %d, text_bytes = %d; /* room for visit */\n};\n", count,
            bytes);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Appends to a text of size bytes. */
static void append(char *text, size_t size, const char *format, ...) {
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, size - n, format, args);
    va_end(args);
}

/* "const ndarray &data, const ndarray &weight" */
static void input_parameters(const shape_of_call *call, const char *type, int n, char *out, size_t size) {
    *out = 0;
    for (int i = 0; i < n; i++)
        append(out, size, "%sconst %s &%s", i ? ", " : "", type, call->inputs[i]);
}

/* "&data, &weight" or "\"data\", \"weight\"" */
static void input_list(const shape_of_call *call, const char *format, int n, char *out, size_t size) {
    *out = 0;
    for (int i = 0; i < n; i++) {
        append(out, size, "%s", i ? ", " : "");
        append(out, size, format, call->inputs[i]);
    }
}

/* "settings" of the function, or the name of an operator without settings. */
static const char *what_to_call(const shape_of_call *call, char *out, size_t size) {
    snprintf(out, size, call->has_params ? "settings" : "\"%s\"", call->def->name);
    return out;
}

static const char *comma(const char *a, const char *b) {
    return *a && *b ? ", " : "";
}

/* On n arrays, giving new ones or overwriting some. */
static void write_array_functions(FILE *out, const shape_of_call *call, int n) {
    char inputs[2048], list[1024], what[NAME + 4];
    input_parameters(call, "ndarray", n, inputs, sizeof inputs);
    input_list(call, "&%s", n, list, sizeof list);
    what_to_call(call, what, sizeof what);
    put(out, "    ", "inline %s %s(%s%s%s) {", call->result, call->name, inputs, comma(inputs, call->parameters),
        call->parameters);
    if (n)
        put(out, "        ", "    return detail::invoke<%s>(%s, {%s});\n}", call->result, what, list);
    else
        put(out, "        ", "    return detail::invoke_source<%s>(%s);\n}", call->result, what);
    put(out, "    ", "inline void %s(into out%s%s%s%s) {", call->name, *inputs ? ", " : "", inputs,
        *call->parameters ? ", " : "", call->parameters);
    if (n)
        put(out, "        ", "    detail::invoke_into(out, %s, {%s});\n}", what, list);
    else
        put(out, "        ", "    detail::invoke_source_into(out, %s);\n}", what);
}

/* On n symbols. */
static void write_symbol_function(FILE *out, const shape_of_call *call, int n) {
    char inputs[2048], list[1024], keys[1024], what[NAME + 4];
    input_parameters(call, "symbol", n, inputs, sizeof inputs);
    input_list(call, "&%s", n, list, sizeof list);
    input_list(call, "\"%s\"", n, keys, sizeof keys);
    what_to_call(call, what, sizeof what);
    put(out, "    ", "inline symbol %s(%s%s%s, text name = {}) {", call->name, n ? inputs : "as_symbol_t",
        *call->parameters ? ", " : "", call->parameters);
    if (n)
        put(out, "        ", "    return detail::apply(%s, name, {%s}, {%s});\n}", what, keys, list);
    else
        put(out, "        ", "    return detail::apply_list(%s, name, nullptr, {});\n}", what);
}

/* On lists of arrays or symbols. */
static void write_list_functions(FILE *out, const shape_of_call *call) {
    char counter[NAME + 4] = "nullptr";
    const char *name = call->name, *more = *call->parameters ? ", " : "", *p = call->parameters;
    char what[2 * NAME];
    if (call->def->variadic)
        snprintf(counter, sizeof counter, "\"%s\"", call->def->variadic);
    snprintf(what, sizeof what, call->has_params ? "settings" : "%s_settings()", name);
    put(out, "    ", "inline %s %s(span<const ndarray> data%s%s) {", call->result, name, more, p);
    put(out, "        ", "    return detail::invoke_list<%s>(%s, %s, data);\n}", call->result, what, counter);
    put(out, "    ", "inline void %s(into out, span<const ndarray> data%s%s) {", name, more, p);
    put(out, "        ", "    detail::invoke_list_into(out, %s, %s, data);\n}", what, counter);
    if (call->def->flags & MXC_OP_ARRAY_ONLY)
        return;
    put(out, "    ", "inline symbol %s(span<const symbol> data%s%s, text name = {}) {", name, more, p);
    put(out, "        ", "    return detail::apply_list(%s, name, %s, data);\n}", what, counter);
}

/* ---- one operator ------------------------------------------------------------------------------------------------ */

/* A value that the parameter accepts, for one that is required. */
static const char *sample_value(const mxc_param *p, char *out, size_t size) {
    switch (p->type) {
    case MXC_PARAM_BOOL:
        return "True";
    case MXC_PARAM_TUPLE:
    case MXC_PARAM_FLOATS:
        return "(1,1)";
    case MXC_PARAM_DTYPE:
        return "float32";
    case MXC_PARAM_ENUM:
        snprintf(out, size, "%.*s", (int)strcspn(p->choices, ","), p->choices);
        return out;
    default:
        return "1";
    }
}

/* How many arguments the operator takes with default settings; -1 if it cannot be made of sample values. */
static int count_default_args(const mxc_op_def *def) {
    const char *keys[MAX_PARAMS], *values[MAX_PARAMS];
    char text[MAX_PARAMS][NAME];
    mxc_op *op = NULL;
    int n = 0, args;
    for (const mxc_param *p = def->params; p && p->name && n < MAX_PARAMS; p++)
        if (!p->initial) {
            keys[n] = p->name;
            values[n] = sample_value(p, text[n], sizeof text[n]);
            n++;
        }
    if (mxc_op_create(def->name, n, keys, values, &op) != MXC_OK)
        return -1;
    args = mxc_op_n_args(op);
    mxc_op_release(op);
    return args;
}

static void add_names(shape_of_call *call, const char *names) {
    while (names && *names && call->n_inputs < MAX_INPUTS) {
        size_t n = strcspn(names, ",");
        snprintf(call->inputs[call->n_inputs++], NAME, "%.*s", (int)n, names);
        names += n + (names[n] == ',');
    }
}

static void describe_call(const mxc_op_def *def, char *parameters, size_t size, shape_of_call *call) {
    int n_args, usual;
    memset(call, 0, sizeof *call);
    call->def = def;
    call->name = def->name + strspn(def->name, "_");
    call->is_list = def->variadic || def->args_per_output || (def->args && strstr(def->args, "..."));
    add_names(call, def->args ? def->args : "data");
    n_args = call->n_inputs;
    add_names(call, def->aux);
    call->n_short = call->n_inputs;
    if (!call->is_list && def->n_args && n_args == call->n_inputs && (usual = count_default_args(def)) >= 0)
        call->n_short = usual;
    for (const mxc_param *p = def->params; p && p->name; p++)
        if (!is_counter(call, p)) {
            call->has_params = 1;
            call->has_required |= !p->initial;
        }
    call->result =
        def->n_outputs || def->n_visible || (def->outputs && strchr(def->outputs, ',')) ? "results" : "ndarray";
    snprintf(parameters, size, call->has_params ? "const %s_settings &settings%s" : "", call->name,
             call->has_required ? "" : " = {}");
    call->parameters = parameters;
}

/* Layers: a symbol is made of the data alone, its other arguments become variables. */
static int makes_variables(const shape_of_call *call) {
    static const char *const names[] = {"weight", "gamma", "parameters", "label", "bias"};
    for (int i = 1; i < call->n_inputs; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (strcmp(call->inputs[i], names[j]) == 0 && call->has_params)
                return 1;
    return 0;
}

static void write_op(FILE *out, const mxc_op_def *def) {
    char parameters[2 * NAME + 32];
    shape_of_call call;
    describe_call(def, parameters, sizeof parameters, &call);
    fputc('\n', out);
    put_comment(out, "", "/**", def->doc);
    if (call.has_params || call.is_list || call.n_inputs == 0)
        write_settings(out, &call);
    if (call.is_list) {
        write_list_functions(out, &call);
        return;
    }
    for (int n = call.n_inputs; n >= call.n_short; n--)
        write_array_functions(out, &call, n);
    if (def->flags & MXC_OP_ARRAY_ONLY)
        return;
    for (int n = call.n_inputs; n >= call.n_short && (n > 1 || n == call.n_inputs); n--)
        write_symbol_function(out, &call, n);
    if (makes_variables(&call) || (call.n_short < call.n_inputs && call.n_short == 1))
        write_symbol_function(out, &call, 1);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Families whose operators are no functions of fixed parameters; mxc/cpp/symbol.hpp and invoke() serve them. */
static int is_written(const mxc_op_def *def) {
    const char *family = mxc_op_family(def->name);
    return !(def->flags & MXC_OP_HIDDEN) && strcmp(family, "custom") != 0 && strcmp(family, "control_flow") != 0;
}

static FILE *open_header(const char *directory, const char *name, const char *guard, const char *about) {
    char path[1024];
    FILE *out;
    snprintf(path, sizeof path, "%s/%s.hpp", directory, name);
    out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "mxc: cannot write %s: %s\n", path, strerror(errno));
        return NULL;
    }
    fprintf(out,
            "/* SPDX-License-Identifier: Apache-2.0 */\n/* %s\n * Generated from the descriptors by "
            "scripts/reference.sh; do not edit. */\n// clang-format off\n#ifndef MXC_OPERATORS_%s_HPP\n"
            "#define MXC_OPERATORS_%s_HPP\n",
            about, guard, guard);
    return out;
}

static int close_header(FILE *out) {
    fputs("\n#endif\n", out);
    if (fclose(out) == 0)
        return 0;
    fprintf(stderr, "mxc: cannot write a header: %s\n", strerror(errno));
    return MXC_EXIT_FAILED;
}

static int write_family(const mxc_op_def *const *ops, int n, int *at, const char *directory, FILE *all) {
    const char *family = mxc_op_family(ops[*at]->name);
    char guard[NAME], about[2 * NAME];
    FILE *out;
    snprintf(guard, sizeof guard, "%s", family);
    for (char *c = guard; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    snprintf(about, sizeof about, "Operators of the family %s as functions.", family);
    out = open_header(directory, family, guard, about);
    if (!out)
        return MXC_EXIT_FAILED;
    fputs("\n#include <mxc/cpp/symbol.hpp>\n\nnamespace mxc {\nnamespace op {\n", out);
    for (; *at < n && strcmp(mxc_op_family(ops[*at]->name), family) == 0; ++*at)
        write_op(out, ops[*at]);
    fputs("\n} // namespace op\n} // namespace mxc\n", out);
    fprintf(all, "#include <mxc/operators/%s.hpp>\n", family);
    return close_header(out);
}

int mxc_ops_write_cpp(const mxc_op_def *const *all_ops, int n, const char *directory) {
    const mxc_op_def *ops[4096];
    char families[1024];
    int kept = 0, result = 0;
    FILE *all;
    for (int i = 0; i < n && i < 4096; i++)
        if (is_written(all_ops[i]))
            ops[kept++] = all_ops[i];
    snprintf(families, sizeof families, "%s/operators", directory);
    if ((mkdir(directory, 0777) != 0 && errno != EEXIST) || (mkdir(families, 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "mxc: cannot create %s: %s\n", families, strerror(errno));
        return MXC_EXIT_FAILED;
    }
    all = open_header(directory, "operators", "ALL", "Every operator as a function of namespace mxc::op, by family.");
    if (!all)
        return MXC_EXIT_FAILED;
    fputc('\n', all);
    for (int i = 0; i < kept && result == 0;)
        result = write_family(ops, kept, &i, families, all);
    return close_header(all) ? MXC_EXIT_FAILED : result;
}
