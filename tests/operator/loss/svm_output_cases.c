/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of SVMOutput. */
#include <math.h>

#include "operator/cases.h"

static void ref_svm(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void grad_svm(const op_run *r) {
    int64_t k = r->in_shape[0].dim[r->in_shape[0].ndim - 1];
    double margin = case_number(r, "margin", 1), factor = case_number(r, "regularization_coefficient", 1);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double sign = (double)(i % k) == r->in[1][i / k] ? 1 : -1, hinge = fmax(0, margin - sign * r->in[0][i]);
        r->in_grad[0][i] = -sign * factor * (case_is(r, "use_linear", "True") ? hinge > 0 : 2 * hinge);
    }
}

#define SVM(given, shapes) \
    { .op = "SVMOutput", .params = given, .in = shapes, .constant = 2, .reference = ref_svm, .gradient = grad_svm }

static const op_case cases[] = {
    SVM("", "4x5@-2:2 4@0:4i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 2x1x3 2x1@0:2i; 17x2 17@0:1i; "
            "33x5 33; 2x3x2x4 2x3x2@0:3i; "
            "1x1x9 1x1; 64x4 64@0:3i"),
    SVM("margin=0.5 regularization_coefficient=0.1", "7x3@-2:2 7@0:2i"),
    SVM("use_linear=True", "4x5@-2:2 4@0:4i"),
    SVM("use_linear=True margin=2 regularization_coefficient=3", "9x4@-3:3 9@0:3i"),
    SVM("", "1x1@-2:2 1@0:0"),
    SVM("", "6x11@-2:2 6@0:10i"),
    SVM("", "2x3x4@-2:2 2x3@0:3i"),
    SVM("", "3x1100@-2:2 3@0:1099i"),
    SVM("", "0x3 0"),
    SVM("", "3x0 3"),
    FAILS("SVMOutput", "", "3 3", MXC_ESHAPE, "expected at least 2 axes"),
    FAILS("SVMOutput", "", "4x5 5", MXC_ESHAPE, "argument 'label': expected shape (4,), found (5,)"),
    INFERS("SVMOutput", "", "?x3,4 -> ? => 4x3,4 -> 4x3"),
};

MXC_CASES(loss_svm_output_cases, cases);
