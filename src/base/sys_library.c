/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries loaded at run time. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/sys.h"

mxc_status mxci_library_open(const char *path, void **out) {
    *out = NULL;
    if (path[0] != '/') /* the loader would search the current directory, or LD_LIBRARY_PATH */
        return MXC_FAIL(MXC_EINVAL, "\"%s\" is not an absolute path", path);
    if (access(path, F_OK) != 0)
        return MXC_FAIL(MXC_ENOTFOUND, "%s: %s", path, strerror(errno));
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", dlerror());
}

mxc_status mxci_library_symbol(void *library, const char *name, void **out) {
    *out = dlsym(library, name);
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", dlerror());
}

/* The path at the end of a line of /proc/self/maps, if it has one, without the file's name. */
static int copy_directory(const char *line, char *out, size_t size) {
    const char *path = strchr(line, '/'), *slash = strrchr(line, '/');
    size_t length = path ? (size_t)(slash - path) : 0;
    if (!path || length >= size)
        return 0;
    memcpy(out, path, length);
    out[length] = '\0';
    return 1;
}

/* From the kernel's list of mappings: the loader's path may be relative to a directory that was current once, and for a
 * program it is argv[0], which its caller chooses. */
int mxci_library_directory(char *out, size_t size) {
    const uintptr_t here = (uintptr_t)mxci_library_open;
    uintptr_t begin, end;
    char *line = NULL;
    size_t room = 0;
    int found = 0;
    FILE *maps = getauxval(AT_SECURE) ? NULL : fopen("/proc/self/maps", "re");
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 && begin <= here && here < end;
    found = found && copy_directory(line, out, size);
    free(line);
    if (maps)
        fclose(maps);
    return found;
}
