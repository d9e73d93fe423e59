/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: shared libraries that add kinds of devices, or groups of processes. A module is loaded when it is first
 * needed, and stays loaded.
 *
 * libmxc and a module are built together, and their versions must agree. A module does not link libmxc, so that it
 * works with the shared and the static library alike: it receives the functions of libmxc that it calls in mxci_host,
 * and returns its own in mxci_module.
 */
#ifndef MXCI_BASE_MODULE_H
#define MXCI_BASE_MODULE_H

#include "base/device.h"
#include "base/options.h"

struct mxci_communicator_api;  /* base/communicator.h */
struct mxci_process_group_api; /* base/process_group.h */
struct mxci_op_impl;           /* operator/op_impl.h */

/* What a module may call. */
typedef struct mxci_host {
    const char *version; /* MXC_VERSION */
    /* As mxc_fail_at, with the formatted text. */
    mxc_status (*fail)(const char *file, int line, mxc_status code, const char *text);
    int64_t (*option)(mxci_option option); /* mxci_option_get */
} mxci_host;

typedef struct mxci_module {
    const char *version;                          /* MXC_VERSION */
    const mxci_device *devices[MXC_DEVICE_LIMIT]; /* NULL: not of this kind */
    const struct mxci_op_impl *op_impls;          /* of operators on those devices; n_op_impls */
    int n_op_impls;
    const struct mxci_process_group_api *group;       /* NULL: none */
    const struct mxci_communicator_api *communicator; /* NULL: none */
    int prefers_channels_last;                        /* 16-bit convolutions are faster with channels last */
} mxci_module;

/* The one symbol that a module exports, "mxci_module_open". NULL, with the reason given to host->fail, if it cannot
 * serve; host stays valid. Called once. */
typedef const mxci_module *mxci_module_open_fn(const mxci_host *host);

/* The module of a kind of device, loaded at the first call. MXC_EDEVICE, with the reason: the kind has none, or it
 * cannot be loaded (then every later call says so too). Thread-safe. */
mxc_status mxci_module_get(mxc_device kind, const mxci_module **out);

/* Groups of processes, of the MPI module. Else as above. */
mxc_status mxci_module_group(const struct mxci_process_group_api **out);

#endif
