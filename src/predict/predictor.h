/* SPDX-License-Identifier: Apache-2.0 */
/* A predictor: a shared network, and what is its own. */
#ifndef MXCI_PREDICT_PREDICTOR_H
#define MXCI_PREDICT_PREDICTOR_H

#include "predict/network.h"

struct mxc_predictor {
    mxci_network *network;
    mxc_executor *executor;
    mxc_ndarray **inputs; /* NULL: an input that the outputs do not depend on, and whose shape is not known */
};

/* Position of an input. MXC_ENOTFOUND lists the inputs. */
mxc_status mxci_predictor_find_input(const char *caller, const mxc_predictor *predictor, const char *name,
                                     int64_t *out);

#endif
