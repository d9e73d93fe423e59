/* SPDX-License-Identifier: Apache-2.0 */
/* Names of model files. */
#ifndef MXCI_TRAIN_MODEL_H
#define MXCI_TRAIN_MODEL_H

#include <mxc/ndarray.h>

enum { MXCI_MODEL_PATH = 4096 };

/* prefix followed by format, which may print number. MXC_EINVAL if it does not fit. */
mxc_status mxci_model_path(const char *prefix, const char *format, int number, char *out, size_t size)
    __attribute__((format(printf, 2, 0)));

#endif
