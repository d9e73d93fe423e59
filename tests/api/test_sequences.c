/* SPDX-License-Identifier: Apache-2.0 */
/* Random sequences of calls on arrays, symbols, executors, iterators and stores: in any order, with shapes, contexts
 * and counts that do not fit, and handles that are NULL. Whatever they return, nothing may crash, hang or leak.
 *
 * LIBMXC_TEST_SEQUENCES: how many (default 1500); LIBMXC_TEST_SEED: the first seed (default 1). A sequence follows
 * from its seed alone, and the first seed of each hundred is printed, from which to begin again. */
#include <mxc/mxc.h>

#include "base/sys.h"
#include "support.h"

enum { ARRAYS = 12, SYMBOLS = 8, OTHERS = 3, CALLS = 120 };

static uint64_t random_state;

static int below(int n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)n);
}

static struct {
    mxc_ndarray *arrays[ARRAYS];
    mxc_symbol *symbols[SYMBOLS];
    mxc_executor *executors[OTHERS];
    mxc_iter *iters[OTHERS];
    mxc_kvstore *stores[OTHERS];
    mxc_optimizer *optimizer;
} have;

/* Seldom NULL, where there is one. */
static mxc_ndarray *any_array(void) {
    mxc_ndarray *array = NULL;
    for (int i = 0; i < 4 && !array; i++)
        array = have.arrays[below(ARRAYS)];
    return array;
}
static mxc_symbol *any_symbol(void) {
    mxc_symbol *symbol = NULL;
    for (int i = 0; i < 4 && !symbol; i++)
        symbol = have.symbols[below(SYMBOLS)];
    return symbol;
}

/* A slot for a new handle, emptied. */
static mxc_ndarray **new_array(void) {
    mxc_ndarray **slot = &have.arrays[below(ARRAYS)];
    mxc_ndarray_release(*slot);
    *slot = NULL;
    return slot;
}
static mxc_symbol **new_symbol(void) {
    mxc_symbol **slot = &have.symbols[below(SYMBOLS)];
    mxc_symbol_release(*slot);
    *slot = NULL;
    return slot;
}

static mxc_shape any_shape(void) {
    static const int64_t sizes[] = {2, 3, 4, 0, -1};
    mxc_shape shape = {0};
    shape.ndim = below(8) == 0 ? below(MXC_MAX_NDIM + 3) - 1 : 2;
    for (int i = 0; i < shape.ndim && i < MXC_MAX_NDIM; i++)
        shape.dim[i] = below(3) ? 2 : sizes[below(5)];
    return shape;
}

static mxc_context any_context(void) {
    static const mxc_context contexts[] = {
        {MXC_CPU, 0}, {MXC_CPU, 0}, {MXC_CPU, 0}, {MXC_CPU, 1}, {MXC_CPU_PINNED, 0}, {MXC_CPU, -1}, {9, 0},
    };
    return contexts[below(7)];
}

static mxc_dtype any_dtype(void) {
    return (mxc_dtype)(below(4) ? MXC_F32 : below(9) - 1);
}

static const char *any_name(void) {
    static const char *const names[] = {"a", "b", "w", "y_weight", "data", "softmax_label", "", "absent"};
    return names[below(8)];
}

static void on_arrays(int choice) {
    float values[64] = {1, 2, 3};
    mxc_shape shape = any_shape();
    char *text;
    void *data;
    switch (choice) {
    case 0:
        MXC_IGNORE(mxc_ndarray_create(shape.ndim, shape.dim, any_dtype(), any_context(), new_array()));
        break;
    case 1:
        if (shape.ndim <= 2) /* as many values as it has elements at most */
            MXC_IGNORE(mxc_ndarray_from_data(shape.ndim, shape.dim, MXC_F32, values, new_array()));
        break;
    case 2:
        MXC_IGNORE(mxc_ndarray_fill(any_array(), below(100)));
        break;
    case 3:
        MXC_IGNORE(mxc_ndarray_copy_to(any_array(), any_array(), below(3)));
        break;
    case 4: {
        mxc_ndarray *made = NULL;
        MXC_IGNORE(mxc_ndarray_slice(any_array(), below(4) - 1, below(5), &made));
        *new_array() = made;
        break;
    }
    case 5: {
        mxc_ndarray *made = NULL;
        MXC_IGNORE(mxc_ndarray_reshape(any_array(), shape.ndim, shape.dim, &made));
        *new_array() = made;
        break;
    }
    case 6:
        MXC_IGNORE(mxc_ndarray_get(any_array(), values, sizeof values[0] * (size_t)below(17)));
        break;
    case 7:
        MXC_IGNORE(mxc_ndarray_set(any_array(), values, sizeof values[0] * (size_t)below(17)));
        break;
    case 8:
        if (mxc_ndarray_print(any_array(), &text) == MXC_OK)
            mxc_free(text);
        break;
    case 9:
        MXC_IGNORE(mxc_ndarray_data(any_array(), &data));
        break;
    case 10:
        new_array();
        break;
    default: {
        static const char *const ops[] = {"relu", "_plus", "sum", "dot", "Flatten", "absent"};
        mxc_ndarray *in[2] = {any_array(), any_array()}, *made[1];
        MXC_IGNORE(mxc_invoke(ops[below(6)], 1 + below(2), in, 0, NULL, NULL, 1, made));
        *new_array() = made[0];
    }
    }
}

static void on_symbols(int choice) {
    static const char *const key = "num_hidden", *const value = "2";
    mxc_symbol *made = NULL, *in[2] = {any_symbol(), any_symbol()};
    switch (choice) {
    case 0:
        MXC_IGNORE(mxc_symbol_variable(any_name(), &made));
        break;
    case 1:
        MXC_IGNORE(mxc_symbol_op("FullyConnected", "y", 1, &key, &value, 1, NULL, in, &made));
        break;
    case 2:
        MXC_IGNORE(mxc_symbol_op("elemwise_add", NULL, 0, NULL, NULL, 1 + below(2), NULL, in, &made));
        break;
    case 3:
        MXC_IGNORE(mxc_symbol_op("SoftmaxOutput", "softmax", 0, NULL, NULL, 1, NULL, in, &made));
        break;
    case 4:
        MXC_IGNORE(mxc_symbol_group(below(3), in, &made));
        break;
    case 5:
        MXC_IGNORE(mxc_symbol_internals(in[0], &made));
        break;
    case 6:
        MXC_IGNORE(mxc_symbol_output(in[0], below(3) - 1, &made));
        break;
    case 7:
        MXC_IGNORE(mxc_symbol_copy(in[0], &made));
        break;
    default:
        break;
    }
    *new_symbol() = made;
}

static void on_executors(int choice) {
    int at = below(OTHERS);
    mxc_executor *e = have.executors[at];
    const char *name = any_name();
    mxc_shape shape = any_shape();
    int64_t left;
    switch (choice) {
    case 0: {
        mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape};
        mxc_symbol *symbol = any_symbol();
        mxc_names names = {0};
        if (below(8) && mxc_symbol_list_arguments(symbol, &names) == MXC_OK && names.n > 0)
            name = names.items[0];
        mxc_executor_destroy(e);
        spec.req = (mxc_req)below(5);
        MXC_IGNORE(mxc_executor_simple_bind(symbol, NULL, &spec, &have.executors[at]));
        mxc_names_release(&names);
        break;
    }
    case 1: {
        mxc_ndarray *args[8], *grads[8];
        for (int i = 0; i < 8; i++) {
            args[i] = any_array();
            grads[i] = any_array();
        }
        mxc_symbol *symbol = any_symbol();
        mxc_names names;
        if (mxc_symbol_list_arguments(symbol, &names) != MXC_OK)
            break;
        mxc_executor_destroy(e);
        have.executors[at] = NULL;
        if (names.n <= 8)
            MXC_IGNORE(mxc_executor_bind(symbol, NULL, args, below(2) ? grads : NULL, NULL, NULL, &have.executors[at]));
        mxc_names_release(&names);
        break;
    }
    case 2:
        MXC_IGNORE(mxc_executor_forward(e, below(2)));
        break;
    case 3:
        MXC_IGNORE(mxc_executor_forward(e, 1));
        break;
    case 4: {
        mxc_ndarray *heads[2] = {any_array(), any_array()};
        MXC_IGNORE(mxc_executor_backward(e, below(3), heads));
        break;
    }
    case 5:
        MXC_IGNORE(mxc_executor_backward(e, 0, NULL));
        break;
    case 6:
        MXC_IGNORE(mxc_executor_partial_forward(e, below(2), below(3), &left));
        break;
    case 7: {
        mxc_ndarray *output = mxc_executor_output(e, below(3) - 1);
        *new_array() = output ? mxc_ndarray_retain(output) : NULL;
        break;
    }
    default:
        mxc_executor_destroy(e);
        have.executors[at] = NULL;
    }
}

static void on_others(int choice) {
    int at = below(OTHERS);
    const char *key = any_name();
    mxc_ndarray *value = any_array(), *own;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_iter_state place = {(uint64_t)below(2), below(4)};
    mxc_batch batch;
    mxc_iter *made = NULL;
    switch (choice) {
    case 0:
        options.batch_size = below(4);
        options.last_batch = (mxc_last_batch)below(5);
        /* Of a copy, since an iterator's arrays must not be written. */
        if (mxc_ndarray_copy(value, mxc_cpu(0), mxc_ndarray_dtype(value), &own) != MXC_OK)
            break;
        MXC_IGNORE(mxc_iter_from_arrays(&options, 1, &own, 0, NULL, NULL, &made));
        mxc_ndarray_release(own);
        mxc_iter_destroy(have.iters[at]);
        have.iters[at] = made;
        break;
    case 1:
        MXC_IGNORE(mxc_iter_next(have.iters[at], &batch));
        break;
    case 2:
        MXC_IGNORE(mxc_iter_reset(have.iters[at]));
        break;
    case 3:
        MXC_IGNORE(mxc_iter_set_state(have.iters[at], &place));
        break;
    case 4:
        if (mxc_iter_prefetch(have.iters[at], below(3), &made) == MXC_OK)
            have.iters[at] = made; /* which has taken over the other */
        break;
    case 5:
        mxc_kvstore_destroy(have.stores[at]);
        MXC_IGNORE(mxc_kvstore_create(below(4) ? "local" : "device", &have.stores[at]));
        break;
    case 6:
        MXC_IGNORE(mxc_kvstore_init(have.stores[at], 1, &key, &value));
        break;
    case 7:
        MXC_IGNORE(mxc_kvstore_push(have.stores[at], 1, &key, &value, 0));
        break;
    case 8:
        MXC_IGNORE(mxc_kvstore_pull(have.stores[at], 1, &key, &value, 0));
        break;
    default:
        MXC_IGNORE(mxc_kvstore_set_optimizer(have.stores[at], below(2) ? have.optimizer : NULL));
    }
}

static void release_all(void) {
    mxc_engine *engine;
    for (int i = 0; i < OTHERS; i++) {
        mxc_executor_destroy(have.executors[i]);
        mxc_iter_destroy(have.iters[i]);
        mxc_kvstore_destroy(have.stores[i]);
    }
    for (int i = 0; i < ARRAYS; i++)
        mxc_ndarray_release(have.arrays[i]);
    for (int i = 0; i < SYMBOLS; i++)
        mxc_symbol_release(have.symbols[i]);
    mxc_optimizer_destroy(have.optimizer);
    memset(&have, 0, sizeof have);
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine)); /* failures of the calls */
}

static void run_sequence(uint64_t seed) {
    random_state = seed;
    assert_ok(mxc_optimizer_create("sgd", 0, NULL, NULL, &have.optimizer));
    for (int i = 0; i < CALLS; i++)
        switch (below(4)) {
        case 0:
            on_arrays(below(12));
            break;
        case 1:
            on_symbols(below(9));
            break;
        case 2:
            on_executors(below(9));
            break;
        default:
            on_others(below(10));
        }
    release_all();
}

static int64_t number_of(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

static void any_sequence_of_calls_returns(void **state) {
    int64_t n = number_of("LIBMXC_TEST_SEQUENCES", TEST_SCALE(1500));
    int64_t first = number_of("LIBMXC_TEST_SEED", 1), before = 0;
    (void)state;
    for (int round = 0; round < 2; round++) { /* the second leaves as much behind as the first */
        for (int64_t i = 0; i < n; i++) {
            if (i % 100 == 0)
                print_message("seed %lld\n", (long long)(first + i));
            fflush(stdout);
            run_sequence((uint64_t)(first + i));
        }
        assert_ok(mxc_storage_trim(mxc_cpu(0), 0));
        if (round == 1)
            assert_true(mxci_alloc_live() <= before);
        before = mxci_alloc_live();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_sequence_of_calls_returns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
