/* SPDX-License-Identifier: Apache-2.0 */
/* Text files for the iterators that read them: a folder with two, made anew for each test program. */
#ifndef MXC_TESTS_IO_TEXT_FILES_H
#define MXC_TESTS_IO_TEXT_FILES_H

#include <mxc/log.h>

#include "alive.h"
#include "io/named_iter.h"

static test_path folder, data_path, label_path;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(data_path, folder, "data.txt");
    test_join(label_path, folder, "label.txt");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

static void write_data(const char *text) {
    test_write_file(data_path, text, strlen(text));
}

/* The last line of the log. */
static char logged[2048];

static inline void keep_log(mxc_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    snprintf(logged, sizeof logged, "%s", message);
}

#endif
