/* SPDX-License-Identifier: Apache-2.0 */
/* A program with an operator of its own against the installed library, in C++11 or later: parameters and descriptor
 * without designated initialisers, and an element-wise function for every float dtype.
 * Prints 1 + 0.5 (1 3). */
#include <cstdio>

#include <mxc/kernel.hpp>
#include <mxc/mxc.h>

namespace {

struct line_params {
    double slope;
    int64_t times;
    int32_t sign;
};

const mxc_param schema[] = {
    MXC_PARAM(line_params, slope, MXC_PARAM_FLOAT, "0.5", "Factor."),
    MXC_PARAM_BOUNDED(line_params, times, MXC_PARAM_INT, "1", 1, 4, "How often it is applied."),
    MXC_PARAM_CHOICE(line_params, sign, "plus", "plus,minus", "Sign of the slope."),
    MXC_PARAM_END,
};

struct line {
    const line_params *p;
    template <class T> T operator()(T x) const {
        for (int64_t i = 0; i < p->times; i++)
            x = 1 + static_cast<T>(p->sign ? -p->slope : p->slope) * x;
        return x;
    }
};

mxc_status forward(const mxc_op_call *call) {
    const line f = {static_cast<const line_params *>(call->params)};
    return mxc::map(call->run, f, call->req[0], &call->out[0], &call->in[0]);
}

template <class T> mxc_status size_of(size_t *out) {
    *out = sizeof(T);
    return MXC_OK;
}

mxc_status element_size(mxc_dtype dtype, size_t *out) {
    MXC_TYPES_NUMBER(dtype, size_of, out)
}

const mxc_inplace inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

const mxc_op_def line_def = mxc_make<mxc_op_def>([](mxc_op_def &def) {
    def.name = "line";
    def.doc = "1 + slope data";
    def.flags = MXC_OP_ZERO_GRADIENT;
    def.params = schema;
    def.param_size = sizeof(line_params);
    def.dtypes = MXC_DTYPES_FLOAT;
    def.inplace_forward = inplace;
    def.forward[MXC_CPU] = forward;
});

} // namespace

int main() {
    const int64_t n = 2;
    const double values[] = {1, 3};
    mxc_ndarray *in, *out;
    double found[2];
    size_t size;
    if (mxc_op_register(&line_def) || mxc_ndarray_from_data(1, &n, MXC_F64, values, &in) ||
        mxc_invoke("line", 1, &in, 0, NULL, NULL, 1, &out) || mxc_ndarray_get(out, found, sizeof found) ||
        element_size(MXC_BF16, &size)) {
        std::fprintf(stderr, "%s\n", mxc_last_error());
        return 1;
    }
    std::printf("%g %g\n", found[0], found[1]);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
    return found[0] != 1.5 || found[1] != 2.5 || size != 2;
}
