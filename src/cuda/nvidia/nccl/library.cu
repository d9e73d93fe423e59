/* SPDX-License-Identifier: Apache-2.0 */
/* Loading NCCL. */
#include "cuda/nvidia/nccl/library.h"

#include <cstdio>
#include <mutex>

#include <dlfcn.h>

static std::once_flag once;
static mxcu_nccl functions;
static char why[256]; /* it cannot be used; empty: it can */

static bool find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    if (!symbol)
        snprintf(why, sizeof why, "libnccl.so.2 has no %s", name);
    *static_cast<void **>(out) = symbol;
    return symbol;
}

static void load(void) {
    int version = 0;
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(why, sizeof why, "%s", text ? text : "libnccl.so.2 cannot be loaded");
        return;
    }
#define F(name)                                        \
    if (!find(library, "nccl" #name, &functions.name)) \
        return;
    MXCU_NCCL_FUNCTIONS(F)
#undef F
    if (functions.GetVersion(&version) != ncclSuccess || version < 21400)
        snprintf(why, sizeof why, "libnccl.so.2 is of version %d, needed is 21400", version);
}

mxc_status mxcu_nccl_get(const mxcu_nccl **out) {
    std::call_once(once, load);
    *out = why[0] ? nullptr : &functions;
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", why);
}
