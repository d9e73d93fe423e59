/* SPDX-License-Identifier: Apache-2.0 */
/* Loading NCCL once per process (nvidia/nccl/library.h). */
#include "cuda/nvidia/nccl/library.h"

#include <cstdio>
#include <mutex>

#include <dlfcn.h>

static std::once_flag once;
static mxcu_nccl functions;
static char error_text[256]; /* why it cannot be used; empty: it can */

static bool resolve(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    if (!symbol)
        snprintf(error_text, sizeof error_text, "libnccl.so.2 has no %s", name);
    *static_cast<void **>(out) = symbol;
    return symbol;
}

/* Under std::call_once. The library stays loaded: its threads may run until the process ends. 2.14 (21400) is the first
 * version with the non-blocking mode (ncclCommInitRankConfig). */
static void load(void) {
    int version = 0;
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(error_text, sizeof error_text, "%s", text ? text : "libnccl.so.2 cannot be loaded");
        return;
    }
#define F(name)                                           \
    if (!resolve(library, "nccl" #name, &functions.name)) \
        return;
    MXCU_NCCL_FUNCTIONS(F)
#undef F
    if (functions.GetVersion(&version) != ncclSuccess || version < 21400)
        snprintf(error_text, sizeof error_text, "libnccl.so.2 has version %d, expected 21400 or later", version);
}

mxc_status mxcu_nccl_get(const mxcu_nccl **out) {
    std::call_once(once, load);
    *out = error_text[0] ? nullptr : &functions;
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", error_text);
}
