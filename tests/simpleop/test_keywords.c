/* SPDX-License-Identifier: Apache-2.0 */
/* SimpleOp with keywords of any name: the functions see the pairs as they were given. */
#include "support.h"

#include <math.h>

#include <mxc/simpleop.h>

/* t_poly: out = the sum of value data^key over all keywords: x1="2" x3="-1" is 2 data - data^3. */
static double power_of(const char *key) {
    return key[0] == 'x' ? atof(key + 1) : NAN;
}

static mxc_status check_pairs(int n, const char *const *keys, const char *const *values, void *params) {
    (void)values, (void)params;
    for (int i = 0; i < n; i++)
        if (isnan(power_of(keys[i])))
            return MXC_FAIL(MXC_EINVAL, "t_poly: keyword '%s', expected x and a power", keys[i]);
    return MXC_OK;
}

static mxc_status poly(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    const float *x = in->data;
    float *y = out->data;
    for (int64_t i = 0; i < mxc_shape_size(&in->shape); i++) {
        double sum = req == MXC_REQ_ADD ? y[i] : 0;
        for (int k = 0; k < mxc_op_n_given(env->op); k++) {
            const char *key, *value;
            mxc_op_given(env->op, k, &key, &value);
            sum += atof(value) * pow(x[i], power_of(key));
        }
        y[i] = (float)sum;
    }
    return MXC_OK;
}

static const mxc_simple_def poly_def = {
    .size = sizeof poly_def,
    .name = "t_poly",
    .doc = "a polynomial",
    .arity = 1,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .params_open = check_pairs,
    .gradient_kind = MXC_GRADIENT_ZERO,
    .unary = {[MXC_CPU] = poly},
};

/* t_tagged: as many elements as the keyword text has letters; params_open fills in a struct with what it allocates. */
typedef struct tagged_params {
    char *text;
} tagged_params;

static int open_texts;

static mxc_status open_text(int n, const char *const *keys, const char *const *values, void *params) {
    tagged_params *p = params;
    (void)keys;
    p->text = strdup(n ? values[0] : "none");
    open_texts++;
    return MXC_OK;
}

static void close_text(void *params) {
    free(((tagged_params *)params)->text);
    open_texts--;
}

static mxc_status text_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out) {
    const int64_t length = (int64_t)strlen(((const tagged_params *)env->params)->text);
    (void)n, (void)in;
    return mxc_shape_set(out, 1, &length);
}

static mxc_status text_codes(const mxc_simple_env *env, mxc_req req, const mxc_tensor *out) {
    const char *text = ((const tagged_params *)env->params)->text;
    (void)req;
    for (int64_t i = 0; i < mxc_shape_size(&out->shape); i++)
        ((float *)out->data)[i] = (float)text[i];
    return MXC_OK;
}

static const mxc_simple_def text_def = {
    .size = sizeof text_def,
    .name = "t_tagged",
    .doc = "codes of letters",
    .param_size = sizeof(tagged_params),
    .params_open = open_text,
    .params_close = close_text,
    .shape = text_shape,
    .source = {[MXC_CPU] = text_codes},
};

static void pairs_are_seen(void **state) {
    static const char *const keys[] = {"x1", "x3"}, *const values[] = {"2", "-1"}, *const unknown = "y1";
    const int64_t n = 3;
    const float numbers[] = {0, 1, 3};
    float found[3];
    mxc_ndarray *x, *y;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, numbers, &x));
    assert_ok(mxc_invoke("t_poly", 1, &x, 2, keys, values, 1, &y));
    assert_ok(mxc_ndarray_get(y, found, sizeof found));
    assert_true(found[0] == 0 && found[1] == 1 && found[2] == -21);
    mxc_ndarray_release(y);
    assert_fails(mxc_invoke("t_poly", 1, &x, 1, &unknown, values, 1, &y), MXC_EINVAL, "t_poly: keyword 'y1'");
    mxc_ndarray_release(x);
}

static void structs_are_filled(void **state) {
    static const char *const key = "anything", *const value = "abc";
    float found[3];
    mxc_ndarray *out;
    (void)state;
    assert_ok(mxc_invoke("t_tagged", 0, NULL, 1, &key, &value, 1, &out));
    assert_ok(mxc_ndarray_get(out, found, sizeof found));
    assert_true(found[0] == 'a' && found[1] == 'b' && found[2] == 'c');
    mxc_ndarray_release(out);
    assert_int_equal(open_texts, 0);
}

static int register_all_here(void **state) {
    (void)state;
    return mxc_simpleop_register(&poly_def) != MXC_OK || mxc_simpleop_register(&text_def) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_are_seen), cmocka_unit_test(structs_are_filled)};
    return cmocka_run_group_tests(tests, register_all_here, NULL);
}
