/* SPDX-License-Identifier: Apache-2.0 */
/* This process and others. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

int64_t mxci_process_id(void) {
    return getpid();
}

/* By /proc, which needs no rights over the other process. Where /proc is not mounted, every process counts as alive. */
int mxci_process_is_alive(int64_t id) {
    char path[40];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%lld", (long long)id);
    return stat(path, &file) == 0 || errno != ENOENT || stat("/proc/self", &file) != 0;
}

void mxci_at_exit(void (*handler)(void)) {
    (void)atexit(handler);
}

int64_t mxci_host_id(void) {
    char name[256] = "";
    struct stat space;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    if (gethostname(name, sizeof name - 1) != 0)
        name[0] = '\0';
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    if (stat("/proc/self/ns/pid", &space) == 0) /* containers of one host cannot see each other's processes */
        hash = (hash ^ (uint64_t)space.st_ino) * 1099511628211u;
    return (int64_t)hash;
}
