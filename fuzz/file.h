/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file, for readers that want one. */
#ifndef MXC_FUZZ_FILE_H
#define MXC_FUZZ_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mxc/log.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static inline void fuzz_drop_message(mxc_log_level level, const char *message, void *user) {
    (void)level, (void)message, (void)user;
}

/* Warnings about the file would only slow things down. */
static inline void fuzz_be_silent(void) {
    mxc_set_logger(fuzz_drop_message, NULL);
}

/* Write the bytes to the file of this process; returns its path. Unlink it when done. */
static inline const char *fuzz_file(const uint8_t *data, size_t bytes) {
    static char path[64];
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/tmp/mxc-fuzz-%ld", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    close(fd);
    return path;
}

#endif
