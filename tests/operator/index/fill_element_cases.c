/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of fill_element_0index. */
#include "operator/index/index_reference.h"

static void ref_fill_element(const op_run *r) {
    int64_t k = r->in_shape[0].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_index_position(r, r->in[2][i / k], k) == i % k ? r->in[1][i / k] : r->in[0][i];
}

static const op_case cases[] = {
    INDEXED("fill_element_0index", "",
            "5x4 5 5@0:3i; 7x1 7 7@0:0; 1x7 1 1; 65x3 65 65@0:2i; 129x2 129 129@0:1i; "
            "3x129 3 3; 17x2 17 17@0:1i; 33x5 33 33; 2x2 2 2@0:1i; 64x4 64 64; "
            "5x9@-1:1nf 5@-1:1nf 5; 0x3 0 0; 1x2 1 1@0:1i; 9x6 9 9@0:5i",
            ref_fill_element),
    INDEXED("fill_element_0index", "", "1x1 1 1@0:0", ref_fill_element),
    INDEXED("fill_element_0index", "", "7x3 7 7@0:2i", ref_fill_element),
    INDEXED("fill_element_0index", "", "3x700 3 3@0:699i", ref_fill_element),
    INDEXED("fill_element_0index", "", "9000x3 9000 9000@0:2i", ref_fill_element),
    INDEXED("fill_element_0index", "", "1x9 1 1@3:4i", ref_fill_element),
    INDEXED("fill_element_0index", "", "0x4 0 0", ref_fill_element),
    FAILS("fill_element_0index", "", "5x4 4 5", MXC_ESHAPE, "argument 'mhs': expected shape (5,), found (4,)"),
    FAILS("fill_element_0index", "", "5x0 5 5", MXC_ESHAPE, "argument 'lhs': axis 1 has no elements"),
    INFERS("fill_element_0index", "", "?x3,5,? -> ? => 5x3,5,5 -> 5x3"),
};

MXC_CASES(index_fill_element_cases, cases);
