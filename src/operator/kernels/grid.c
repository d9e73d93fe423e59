#include "operator/kernels/grid.h"

#include <math.h>
#include <string.h>

enum { PLACES = 64 }; /* worked on at a time: each is read in all planes */

/* Steps between n elements, and the place of element i of them; where there is one, it is at -1. */
static double steps(int64_t n) {
    return (double)(n > 1 ? n - 1 : 1);
}

static double even(int64_t i, int64_t n) {
    return 2 * (double)i / steps(n) - 1;
}

/* The element before place g of an axis of n elements, from -1 to n - 1, and how far behind it the place lies (0 to 1).
 * 0 if no element is within reach. */
static int reach(double g, int64_t n, int64_t *before, double *behind) {
    double at = (g + 1) * (double)(n - 1) / 2;
    if (!(at > -1 && at < (double)n))
        return 0;
    *before = (int64_t)floor(at);
    *behind = at - floor(at);
    return 1;
}

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/grid.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/grid.inc"
