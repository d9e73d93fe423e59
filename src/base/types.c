/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, contexts and shapes: names, sizes, parsing and printing. */
#include <string.h>

#include <mxc/types.h>

#include "base/error.h"
#include "base/size.h"
#include "base/text.h"

/* ---- dtypes ---- */

size_t mxc_dtype_size(mxc_dtype dtype) {
    switch ((int)dtype) {
#define MXC_DTYPE(name, flag, bytes, text) \
    case flag:                             \
        return bytes;
#include <mxc/dtype.def>
#undef MXC_DTYPE
    default:
        return 0;
    }
}

const char *mxc_dtype_name(mxc_dtype dtype) {
    switch ((int)dtype) {
#define MXC_DTYPE(name, flag, bytes, text) \
    case flag:                             \
        return text;
#include <mxc/dtype.def>
#undef MXC_DTYPE
    default:
        return "unknown";
    }
}

mxc_dtype mxc_dtype_from_name(const char *name) {
    if (!name)
        return MXC_DTYPE_UNKNOWN;
#define MXC_DTYPE(dtype, flag, bytes, text) \
    if (strcmp(name, text) == 0)            \
        return dtype;
#include <mxc/dtype.def>
#undef MXC_DTYPE
    return MXC_DTYPE_UNKNOWN;
}

/* ---- contexts ---- */

static const char *const device_names[MXC_DEVICE_LIMIT] = {
    [MXC_CPU] = "cpu",
    [MXC_GPU] = "gpu",
    [MXC_CPU_PINNED] = "cpu_pinned",
};

mxc_context mxc_cpu(int id) {
    return (mxc_context){MXC_CPU, id};
}

mxc_context mxc_gpu(int id) {
    return (mxc_context){MXC_GPU, id};
}

int mxc_context_equal(mxc_context a, mxc_context b) {
    return a.device == b.device && a.id == b.id;
}

/* The id in "(3)"; 0 for an empty text; -1 if malformed or above MXC_MAX_DEVICE_ID. */
static int parse_id(const char *text) {
    int id = 0;
    if (*text == '\0')
        return 0;
    if (*text++ != '(' || *text < '0' || *text > '9')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        id = id * 10 + (*text - '0');
        if (id > MXC_MAX_DEVICE_ID)
            return -1;
    }
    return strcmp(text, ")") == 0 ? id : -1;
}

mxc_status mxc_context_parse(const char *text, mxc_context *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(text));
    size_t n = strcspn(text, "(");
    for (int device = MXC_CPU; device < MXC_DEVICE_LIMIT; device++) {
        const char *name = device_names[device];
        if (n == strlen(name) && memcmp(text, name, n) == 0) {
            int id = parse_id(text + n);
            if (id < 0)
                break;
            *out = (mxc_context){device, id};
            return MXC_OK;
        }
    }
    return MXC_FAIL(MXC_EINVAL, "context \"%.80s\": expected cpu(i), gpu(i) or cpu_pinned(i) with i from 0 to %d", text,
                    MXC_MAX_DEVICE_ID);
}

const char *mxc_context_format(mxc_context context, char *out, size_t size) {
    if (!out)
        return mxci_empty_text(out, size);
    if (context.device >= MXC_CPU && context.device < MXC_DEVICE_LIMIT)
        mxci_format(out, size, "%s(%d)", device_names[context.device], (int)context.id);
    else
        mxci_format(out, size, "device%d(%d)", (int)context.device, (int)context.id);
    return out;
}

const char *mxc_context_format_on(int device_type, int device_id, char *out, size_t size) {
    return mxc_context_format((mxc_context){device_type, device_id}, out, size);
}

/* ---- shapes ---- */

mxc_status mxc_shape_set(mxc_shape *shape, int ndim, const int64_t *dims) {
    MXC_TRY(MXCI_NON_NULL(shape));
    MXC_TRY(MXCI_NON_NULL_IF(ndim > 0, dims));
    shape->ndim = -1;
    if (ndim < -1 || ndim > MXC_MAX_NDIM)
        return MXC_FAIL(MXC_EINVAL, "shape: %d axes, expected 0 to %d, or -1 for unknown", ndim, MXC_MAX_NDIM);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < -1)
            return MXC_FAIL(MXC_EINVAL, "shape: axis %d has size %lld, expected 0 or more, or -1 for unknown", i,
                            (long long)dims[i]);
        shape->dim[i] = dims[i];
    }
    shape->ndim = ndim;
    if (!mxci_shape_fits(shape)) {
        char text[MXC_SHAPE_TEXT];
        mxc_shape_format(shape, text, sizeof text);
        shape->ndim = -1;
        return MXC_FAIL(MXC_EINVAL, "shape: %s is larger than memory can be", text);
    }
    return MXC_OK;
}

int mxc_shape_known(const mxc_shape *shape) {
    if (!shape)
        return 0;
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] < 0)
            return 0;
    return shape->ndim >= 0;
}

int64_t mxc_shape_size(const mxc_shape *shape) {
    if (!shape)
        return -1;
    int64_t count = shape->ndim < 0 ? -1 : mxci_shape_count(shape, 0, shape->ndim);
    return count == INT64_MAX ? -1 : count;
}

int mxc_shape_equal(const mxc_shape *a, const mxc_shape *b) {
    if (!a || !b)
        return a == b;
    if (a->ndim != b->ndim)
        return 0;
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] != b->dim[i])
            return 0;
    return 1;
}

const char *mxc_shape_format(const mxc_shape *shape, char *out, size_t size) {
    if (!shape || !out)
        return mxci_empty_text(out, size);
    mxci_line line = {out, size, 0};
    if (shape->ndim < 0) {
        mxci_line_printf(&line, "?");
        return out;
    }
    mxci_line_printf(&line, "(");
    for (int i = 0; i < shape->ndim; i++) {
        const char *comma = i + 1 < shape->ndim || shape->ndim == 1 ? "," : "";
        if (shape->dim[i] < 0)
            mxci_line_printf(&line, "?%s", comma);
        else
            mxci_line_printf(&line, "%lld%s", (long long)shape->dim[i], comma);
    }
    mxci_line_printf(&line, ")");
    return out;
}
