/* Inside of the key-value store: what the library's own training loop may do. */
#ifndef MXCI_KVSTORE_KVSTORE_H
#define MXCI_KVSTORE_KVSTORE_H

#include <mxc/kvstore.h>

/* Make an array on cpu(0) itself the stored value, without a copy: it is updated in place, and pulling into it does
 * nothing. MXC_EEXIST, MXC_ENOMEM. */
mxc_status mxci_kvstore_adopt(mxc_kvstore *store, const char *key, mxc_ndarray *array);

#endif
