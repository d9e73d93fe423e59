/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of MXNet's interface use: assertions on its calls, and shorthands for arrays and symbols. */
#ifndef MXC_TESTS_COMPAT_FRONT_H
#define MXC_TESTS_COMPAT_FRONT_H

#include "compat/c_api.h"
#include "support.h"

#define assert_mx(call) front_check((call), NULL, #call, __FILE__, __LINE__)
/* The call fails with a message that contains text. */
#define assert_mx_fails(call, text) front_check((call), (text), #call, __FILE__, __LINE__)

static inline void front_check(int result, const char *text, const char *call, const char *file, int line) {
    if (!text && result != 0) {
        print_error("%s: %s\n", call, MXGetLastError());
        _fail(file, line);
    }
    if (text && (result == 0 || !strstr(MXGetLastError(), text))) {
        print_error("%s: returned %d, message \"%s\" lacks \"%s\"\n", call, result, MXGetLastError(), text);
        _fail(file, line);
    }
}

/* A new float32 array (rows,columns) on cpu(0). */
static inline NDArrayHandle front_array(uint32_t rows, uint32_t columns, const float *values) {
    const uint32_t shape[2] = {rows, columns};
    NDArrayHandle array;
    assert_mx(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, &array));
    assert_mx(MXNDArraySyncCopyFromCPU(array, values, (size_t)rows * columns));
    return array;
}

static inline NDArrayHandle front_filled(uint32_t rows, uint32_t columns, float value) {
    float values[64];
    for (uint32_t i = 0; i < rows * columns; i++)
        values[i] = value;
    return front_array(rows, columns, values);
}

/* The element at an index, in C order. */
static inline float front_at(NDArrayHandle array, size_t index) {
    float values[64];
    const uint32_t *shape;
    uint32_t ndim;
    size_t n = 1;
    assert_mx(MXNDArrayGetShape(array, &ndim, &shape));
    for (uint32_t i = 0; i < ndim; i++)
        n *= shape[i];
    assert_true(index < n && n <= 64);
    assert_mx(MXNDArraySyncCopyToCPU(array, values, n));
    return values[index];
}

static inline SymbolHandle front_variable(const char *name) {
    SymbolHandle symbol;
    assert_mx(MXSymbolCreateVariable(name, &symbol));
    return symbol;
}

/* An operator with one parameter (or none: key NULL) applied to n inputs, which stay the caller's. */
static inline SymbolHandle front_op(const char *op, const char *name, const char *key, const char *value, uint32_t n,
                                    const SymbolHandle *in) {
    OpHandle creator;
    SymbolHandle symbol;
    assert_mx(NNGetOpHandle(op, &creator));
    assert_mx(MXSymbolCreateAtomicSymbol(creator, key ? 1 : 0, &key, &value, &symbol));
    assert_mx(NNSymbolCompose(symbol, name, n, NULL, in));
    return symbol;
}

/* data -> FullyConnected "fc" of 2 -> SoftmaxOutput "softmax". */
static inline SymbolHandle front_classifier(void) {
    SymbolHandle data = front_variable("data");
    SymbolHandle fc = front_op("FullyConnected", "fc", "num_hidden", "2", 1, &data);
    SymbolHandle net = front_op("SoftmaxOutput", "softmax", NULL, NULL, 1, &fc);
    MXSymbolFree(data);
    MXSymbolFree(fc);
    return net;
}

/* 1 if one of n strings is text. */
static inline int front_has(uint32_t n, const char *const *strings, const char *text) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(strings[i], text) == 0)
            return 1;
    return 0;
}

#endif
