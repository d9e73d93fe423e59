/* SPDX-License-Identifier: Apache-2.0 */
/* Selection between two rows, by element size. */
#include "operator/tensor/where_kernels.h"

#include "math/loop.h"

#define CHOOSE(name, T)                                                                            \
    static void name(int64_t n, const uint8_t *which, const void *yes, const void *no, void *to) { \
        MXCI_VECTOR_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T a = ((const T *)yes)[i], b = ((const T *)no)[i];                               \
            ((T *)to)[i] = which[i] ? a : b;                                                       \
        }                                                                                          \
    }
CHOOSE(choose_1, uint8_t)
CHOOSE(choose_2, uint16_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)

void mxci_choose(size_t element, int64_t n, const uint8_t *which, const void *yes, const void *no, void *to) {
    switch (element) {
    case 1:
        choose_1(n, which, yes, no, to);
        break;
    case 2:
        choose_2(n, which, yes, no, to);
        break;
    case 4:
        choose_4(n, which, yes, no, to);
        break;
    default:
        choose_8(n, which, yes, no, to);
    }
}
