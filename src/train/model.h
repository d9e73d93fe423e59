/* Names of model files, and of the arrays in them. */
#ifndef MXCI_TRAIN_MODEL_H
#define MXCI_TRAIN_MODEL_H

#include <mxc/ndarray.h>

enum { MXCI_MODEL_PATH = 4096 };

/* prefix followed by format, which may print number. MXC_EINVAL if it does not fit. */
mxc_status mxci_model_path(const char *prefix, const char *format, int number, char *out, size_t size)
    __attribute__((format(printf, 2, 0)));

/* Copy the array called prefix ("arg:" or "aux:") and name of the list to `to`. owner, a path or a call, begins the
 * messages. MXC_ENOTFOUND, MXC_ESHAPE, MXC_ENOMEM. */
mxc_status mxci_model_restore(const char *owner, const mxc_ndarray_list *list, const char *prefix, const char *name,
                              mxc_ndarray *to);

#endif
