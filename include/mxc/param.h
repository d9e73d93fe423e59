/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter schemas: named, typed, documented settings parsed from strings into a plain struct.
 *
 * Operators, iterators, optimizers and everything else that takes keyword arguments describe them with an array of
 * mxc_param that ends with MXC_PARAM_END. Parsing, checking, printing and documentation come from that one array.
 * All calls are thread-safe.
 */
#ifndef MXC_PARAM_H
#define MXC_PARAM_H

#include <mxc/types.h>

typedef enum mxc_param_type {
    MXC_PARAM_NONE = 0, /* ends a schema */
    MXC_PARAM_BOOL,     /* int32_t; "true" "false" "True" "False" "1" "0" */
    MXC_PARAM_INT,      /* int64_t; "None" gives MXC_PARAM_UNSET where optional */
    MXC_PARAM_FLOAT,    /* double */
    MXC_PARAM_TUPLE,    /* mxc_tuple; "(1,2)" "[1, 2]" "3" "()"; entries may be None where optional */
    MXC_PARAM_FLOATS,   /* mxc_floats; "(0.1,0.2)" "{0.1, 0.2}" "0.5" */
    MXC_PARAM_ENUM,     /* int32_t: index into choices */
    MXC_PARAM_DTYPE,    /* int32_t: mxc_dtype; "None" gives MXC_DTYPE_UNKNOWN where optional */
    MXC_PARAM_STRING    /* char[size] inside the struct, always terminated */
} mxc_param_type;

/** Value of an optional MXC_PARAM_INT or tuple entry given as "None". */
#define MXC_PARAM_UNSET INT64_MIN

#define MXC_TUPLE_MAX 16  /* most entries of a tuple */
#define MXC_FLOATS_MAX 64 /* most entries of a list of floats */
typedef struct mxc_tuple {
    int32_t n; /* -1: None */
    int64_t value[MXC_TUPLE_MAX];
} mxc_tuple;

typedef struct mxc_floats {
    int32_t n;
    double value[MXC_FLOATS_MAX];
} mxc_floats;

/** One parameter. Use designated initialisers; members left out are zero. */
typedef struct mxc_param {
    const char *name;
    mxc_param_type type;
    size_t offset;       /* of the field in the struct; MXC_PARAM_FIELD gives both */
    size_t size;         /* of the field, bytes */
    const char *initial; /* default as text; NULL: required */
    const char *choices; /* MXC_PARAM_ENUM: "valid,full" */
    const char *alias;   /* another accepted name, or NULL */
    int optional;        /* "None" is accepted: bool and enum -1, int MXC_PARAM_UNSET, float NaN, tuple and floats
                            n = -1, dtype MXC_DTYPE_UNKNOWN, string "" */
    int bounded;         /* minimum and maximum hold, for ints, floats and every tuple entry */
    double minimum, maximum;
    const char *doc;
    int non_finite; /* floats that are not bounded: "inf", "-inf" and "nan" are accepted too */
} mxc_param;

/** Offset and size of a member, for designated initialisers. */
#define MXC_PARAM_FIELD(struct_type, member) \
    .offset = offsetof(struct_type, member), .size = sizeof(((struct_type *)0)->member)
#define MXC_PARAM_END \
    { NULL, MXC_PARAM_NONE, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0 }

/* Entries without designated initialisers, which every C and C++ accepts. The parameter has the member's name. */
#define MXC_PARAM_PLACE(struct_type, member, type) \
    "" #member, type, offsetof(struct_type, member), sizeof(((struct_type *)0)->member)
/** Any type but MXC_PARAM_ENUM; initial: default as text, NULL: required. */
#define MXC_PARAM(struct_type, member, type, initial, doc) \
    { MXC_PARAM_PLACE(struct_type, member, type), initial, NULL, NULL, 0, 0, 0, 0, doc, 0 }
/** The same with a minimum and a maximum. */
#define MXC_PARAM_BOUNDED(struct_type, member, type, initial, minimum, maximum, doc) \
    { MXC_PARAM_PLACE(struct_type, member, type), initial, NULL, NULL, 0, 1, minimum, maximum, doc, 0 }
/** One of choices, such as "valid,full"; the member is an int32_t. */
#define MXC_PARAM_CHOICE(struct_type, member, initial, choices, doc) \
    { MXC_PARAM_PLACE(struct_type, member, MXC_PARAM_ENUM), initial, choices, NULL, 0, 0, 0, 0, doc, 0 }

/**
 * Fill a parameter struct from strings, defaults first.
 * @param owner   name for messages, such as "Convolution"
 * @param[null,n=text] schema  ends with MXC_PARAM_END; NULL: takes none
 * @param n       number of keys and values; a key given twice is an error
 * @param keys, values  n strings each
 * @param[out] out  struct that the schema's offsets refer to; not needed where the schema is empty
 * @return MXC_EINVAL; the message has the key, the text found and what is accepted, for an unknown key all keys
 * Does not allocate. Keys that begin and end with "__" are ignored (they are attributes, not parameters).
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_params_parse(const char *owner, const mxc_param *schema, int n,
                                                   const char *const *keys, const char *const *values, void *out);

/** Text of one parameter's value as MXNet writes it ("(2,2)", "True", "max"), truncated to size bytes; returns out. */
MXC_API const char *mxc_param_format(const mxc_param *param, const void *params, char *out, size_t size);

/** Text of a parameter's type for documentation: "int, required", "{'max', 'avg'}, optional, default='max'"; returns
 * out. */
MXC_API const char *mxc_param_describe(const mxc_param *param, char *out, size_t size);

/** Parse the text of a number or a tuple as MXC_PARAM_TUPLE does, without None, for attributes such as __shape__.
 * Status: MXC_EINVAL. */
MXC_API MXC_MUST_CHECK mxc_status mxc_tuple_parse(const char *text, mxc_tuple *out);

#endif
