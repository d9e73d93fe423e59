/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of the kernels beside each other: every case of cases.def that has a reference runs forward in float32, or
 * the first dtype that it has, at each level that the processor offers. What two levels make of the same numbers
 * differs by rounding only, and one level makes the same bits twice.
 */
#include "support.h"

#include <mxc/version.h>

#include "base/cpu.h"
#include "operator/driver.h"

static const op_case_list *const lists[] = {
#define CASES(name) &name,
#include "operator/cases.def"
#undef CASES
};
enum { LISTS = sizeof lists / sizeof lists[0], LEVELS = 4 };

static int n_levels;
static const char *levels[LEVELS]; /* that run here, rising */

typedef struct results {
    double *out[CASE_SLOTS];
} results;

static void run_once(const fixture *f, results *r) {
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS] = {0};
    const int n = f->n_in + f->n_aux;
    for (int i = 0; i < n; i++) {
        const int from = mxc_op_input_index(f->op, i), aux = from - f->n_in;
        in[i] = aux < 0 ? array_of(&f->in_shape[from], f->in_type[from], f->in[from])
                        : array_of(&f->aux_shape[aux], f->aux_type[aux], f->aux[aux]);
    }
    assert_ok(mxc_op_invoke(f->op, n, in, f->n_visible, out, NULL, f->sig.is_train));
    for (int i = 0; i < f->n_visible; i++) {
        r->out[i] = values_of(out[i]);
        mxc_ndarray_release(out[i]);
    }
    for (int i = 0; i < n; i++)
        mxc_ndarray_release(in[i]);
}

static void release(const fixture *f, results *r) {
    for (int i = 0; i < f->n_visible; i++)
        free(r->out[i]);
}

static void compare(const op_case *c, mxc_dtype dtype) {
    fixture f;
    results first, again, other;
    for (int l = 0; l < n_levels - 1; l++) {
        assert_ok(mxci_cpu_use(levels[l]));
        check_in_dtype(c, dtype);
    }
    fixture_open(&f, c, dtype);
    assert_ok(mxci_cpu_use(levels[0]));
    run_once(&f, &first);
    for (int l = 1; l < n_levels; l++) {
        assert_ok(mxci_cpu_use(levels[l]));
        run_once(&f, &other);
        run_once(&f, &again);
        for (int i = 0; i < f.n_visible; i++) {
            const int64_t n = mxc_shape_size(&f.out_shape[i]);
            expect_near(&f, levels[l], i, other.out[i], first.out[i], NULL, n, f.out_type[i]);
            if (n > 0)
                assert_memory_equal(other.out[i], again.out[i], (size_t)n * sizeof(double));
        }
        release(&f, &other);
        release(&f, &again);
    }
    release(&f, &first);
    fixture_close(&f);
}

static void every_case_agrees(void **state) {
    const op_case_list *list = *state;
    case_set set;
    for (int i = 0; i < list->n; i++) {
        const op_case *c = &list->cases[i];
        const mxc_op_def *def = mxc_op_find(c->op);
        if (c->error || c->infer || !c->reference || (c->flags & CASE_RANDOM) || (c->can_run && !c->can_run()))
            continue;
        int dtype = MXC_F32;
        for (int k = 0; k < MXC_DTYPE_LIMIT && !case_runs_in(c, def, (mxc_dtype)dtype); k++)
            dtype = mxc_dtype_size((mxc_dtype)k) ? k : dtype;
        for (int k = 0; case_set_at(c, k, &set); k++)
            compare(&set.c, (mxc_dtype)dtype);
    }
}

static void one_level_is_alone(void **state) {
    (void)state;
    skip();
}

/* Which levels there are: those of the library that mxci_cpu_use takes. */
static void find_levels(void) {
    for (int i = 0; mxci_level_names[i]; i++) {
        if (mxci_cpu_use(mxci_level_names[i]) == MXC_OK && n_levels < LEVELS)
            levels[n_levels++] = mxci_level_names[i];
        else
            print_message("left out: %s\n", mxc_last_error());
    }
    if (n_levels == 1)
        print_message("one level only, nothing to compare: %s\n", levels[0]);
}

int main(void) {
    const struct CMUnitTest alone[] = {cmocka_unit_test(one_level_is_alone)};
    struct CMUnitTest tests[LISTS];
    if (case_register_ops() != MXC_OK)
        return 1;
    find_levels();
    if (n_levels == 1)
        return cmocka_run_group_tests(alone, NULL, NULL);
    for (int i = 0; i < LISTS; i++)
        tests[i] = (struct CMUnitTest){lists[i]->name, every_case_agrees, NULL, NULL, (void *)(uintptr_t)lists[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
