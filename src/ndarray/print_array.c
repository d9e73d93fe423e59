/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays as text, in the style of numpy:
 *   [[1.  2.5]
 *    [3.  4. ]]
 *   <NDArray (2,2) float32 @cpu(0)>
 * Of arrays of more than 1000 elements a few edge items of each axis are shown.
 */
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/text.h"
#include "math/cast_kernels.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"

enum { SHOW_ALL = 1000, EDGE = 3, MAX_SHOWN = 10000, ITEM_TEXT = 40 };

typedef struct printer {
    const mxc_ndarray *array;
    const char *data;
    int64_t inner[MXC_MAX_NDIM]; /* elements of one item of each axis */
    int64_t edge;                /* items shown at each end of a long axis */
    int width;                   /* of the widest item */
    int measuring;               /* 1: this walk determines width; 0: it writes text */
    mxci_text text;
} printer;

static int is_float(mxc_dtype dtype) {
    return dtype == MXC_F32 || dtype == MXC_F64 || dtype == MXC_F16 || dtype == MXC_BF16;
}

/* One element: integers in full, floats to 6 digits (f64: 8) with at least a point. */
static int item_text(const printer *p, int64_t i, char out[ITEM_TEXT]) {
    mxc_dtype dtype = p->array->dtype;
    const char *element = p->data + (size_t)i * mxc_dtype_size(dtype);
    int64_t whole;
    double value;
    if (dtype == MXC_BOOL)
        return mxci_format(out, ITEM_TEXT, "%s", *element ? "True" : "False");
    if (!is_float(dtype)) {
        mxci_convert(dtype, element, MXC_I64, &whole, 1);
        return mxci_format(out, ITEM_TEXT, "%lld", (long long)whole);
    }
    mxci_convert(dtype, element, MXC_F64, &value, 1);
    if (value != value)
        return mxci_format(out, ITEM_TEXT, "nan");
    mxci_format(out, ITEM_TEXT - 1, "%.*g", dtype == MXC_F64 ? 8 : 6, value);
    if (!strpbrk(out, ".ein")) /* neither point, exponent nor infinity */
        strcat(out, ".");
    return (int)strlen(out);
}

/* How many items an axis shows at each end: fewer the more axes there are; as many as there are for small arrays. */
static int64_t edge_of(const mxc_ndarray *array) {
    for (int64_t edge = mxci_shape_extent(&array->shape) <= SHOW_ALL ? INT64_MAX / 2 : EDGE;; edge--) {
        double shown = 1; /* items or, where an axis has none, their brackets */
        for (int i = 0; i < array->shape.ndim; i++)
            if (array->shape.dim[i] > 0)
                shown *= (double)(array->shape.dim[i] <= 2 * edge ? array->shape.dim[i] : 2 * edge);
        if (shown <= MAX_SHOWN || edge == 1)
            return edge;
    }
}

static void walk_item(printer *p, int64_t element) {
    char item[ITEM_TEXT];
    int width = item_text(p, element, item);
    if (!p->measuring)
        mxci_text_printf(&p->text, "%*s", p->width, item);
    else if (width > p->width)
        p->width = width;
}

/* The separator of two items of an axis: a blank, or a line end for each inner axis, and the indent. */
static void separate(printer *p, int axis) {
    int within = p->array->shape.ndim - 1 - axis;
    if (p->measuring)
        return;
    for (int i = 0; i < within; i++)
        mxci_text_add(&p->text, "\n");
    mxci_text_printf(&p->text, "%*s", within ? axis + 1 : 1, "");
}

/* One item of the axis outside axis, which begins at element. At most MXC_MAX_NDIM deep. */
static void walk(printer *p, int axis, int64_t element) {
    int64_t n;
    if (axis == p->array->shape.ndim) {
        walk_item(p, element);
        return;
    }
    n = p->array->shape.dim[axis];
    if (!p->measuring)
        mxci_text_add(&p->text, "[");
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            separate(p, axis);
        if (i == p->edge && n > 2 * p->edge) {
            if (!p->measuring)
                mxci_text_add(&p->text, "...");
            separate(p, axis);
            i = n - p->edge;
        }
        walk(p, axis + 1, element + i * p->inner[axis]);
    }
    if (!p->measuring)
        mxci_text_add(&p->text, "]");
}

mxc_status mxc_ndarray_print(mxc_ndarray *array, char **out) {
    char shape[MXC_SHAPE_TEXT], context[32];
    printer p = {.array = array, .measuring = 1};
    mxc_ndarray *host = NULL;
    int64_t inner = 1;
    void *data;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    p.edge = edge_of(array);
    MXC_TRY(mxci_array_on_host(array, &host, &data));
    p.data = data;
    for (int i = array->shape.ndim; i-- > 0; inner *= array->shape.dim[i])
        p.inner[i] = inner;
    walk(&p, 0, 0);
    p.measuring = 0;
    walk(&p, 0, 0);
    mxc_ndarray_release(host);
    mxci_text_printf(&p.text, "\n<NDArray %s %s @%s>", mxc_shape_format(&array->shape, shape, sizeof shape),
                     mxc_dtype_name(array->dtype), mxc_context_format(array->chunk->context, context, sizeof context));
    return mxci_text_take(&p.text, out);
}
