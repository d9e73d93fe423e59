/* Shared libraries loaded at run time. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"

mxc_status mxci_library_open(const char *path, void **out) {
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", dlerror());
}

mxc_status mxci_library_symbol(void *library, const char *name, void **out) {
    *out = dlsym(library, name);
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", dlerror());
}

int mxci_library_beside(const char *file, char *out, size_t size) {
    Dl_info here;
    const char *slash;
    if (!dladdr((void *)(uintptr_t)mxci_library_open, &here) || !here.dli_fname)
        return 0;
    slash = strrchr(here.dli_fname, '/');
    return slash &&
           (size_t)mxci_format(out, size, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, file) < size;
}
