/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How soon a program that uses libmxc has done something: from the start of the process to the end of its first
 * operator, a sum of two arrays; and how large the shared library is.
 *
 * The program runs itself many times, as a process that adds and writes to a pipe when its main began and when the sum
 * was there. The library is libmxc.so in the parent directory of this program, or the one named; strip(1) gets a copy.
 */
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxc/mxc.h>

#include "measure.h"

enum { STARTS = 101, QUICK_STARTS = 5 };

typedef struct moments {
    int64_t in_main, done;
} moments;

static moments add_once(void) {
    static const int64_t dims[] = {1000};
    static float ones[1000];
    mxc_ndarray *in[2], *out = NULL;
    moments m = {mxci_now_ns(), 0};
    for (int i = 0; i < 1000; i++)
        ones[i] = 1;
    measure_check(mxc_ndarray_from_data(1, dims, MXC_F32, ones, &in[0]));
    measure_check(mxc_ndarray_from_data(1, dims, MXC_F32, ones, &in[1]));
    measure_check(mxc_invoke("elemwise_add", 2, in, 0, NULL, NULL, 1, &out));
    measure_check(mxc_ndarray_wait_to_read(out));
    m.done = mxci_now_ns();
    return m;
}

/* Microseconds from here to main, and from there to the sum. */
static void start_once(const char *program, double *to_main, double *to_sum) {
    int ends[2], status;
    moments m;
    pid_t child;
    int64_t begin;
    if (pipe(ends) != 0)
        measure_fail("no pipe");
    begin = mxci_now_ns();
    child = vfork();
    if (child == 0) {
        dup2(ends[1], 1);
        execl(program, program, "--once", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (read(ends[0], &m, sizeof m) != sizeof m || waitpid(child, &status, 0) != child || status != 0)
        measure_fail("the program could not run itself");
    close(ends[0]);
    *to_main = 1e-3 * (double)(m.in_main - begin);
    *to_sum = 1e-3 * (double)(m.done - m.in_main);
}

static void print_row(const char *what, double *times, int n) {
    double low = measure_quantile(times, n, 0.1), high = measure_quantile(times, n, 0.9);
    printf("%-44s %10.0f %10.0f %10.0f\n", what, low, measure_quantile(times, n, 0.5), high);
}

static void print_starts(const char *program, int n) {
    double to_main[STARTS], to_sum[STARTS], whole[STARTS];
    for (int i = 0; i < n; i++) {
        start_once(program, &to_main[i], &to_sum[i]);
        whole[i] = to_main[i] + to_sum[i];
    }
    printf("%-44s %10s %10s %10s\n", "microseconds", "p10", "median", "p90");
    print_row("start of the process to main", to_main, n);
    print_row("main to the end of the first operator", to_sum, n);
    print_row("both", whole, n);
}

static double kib_of(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0)
        measure_fail("there is no such library; name it");
    return (double)st.st_size / 1024;
}

static void print_size(const char *library) {
    char copy[] = "/tmp/libmxc-stripped-XXXXXX", command[1200];
    int file = mkstemp(copy);
    if (file < 0)
        measure_fail("no temporary file");
    close(file);
    snprintf(command, sizeof command, "strip -o '%s' '%s'", copy, library);
    if (system(command) != 0)
        measure_fail("strip failed");
    printf("%-44s %21.0f\n", "shared library, KiB", kib_of(library));
    printf("%-44s %21.0f\n", "the same stripped, KiB", kib_of(copy));
    unlink(copy);
}

int main(int argc, char **argv) {
    char program[512], library[600];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc == 2 && strcmp(argv[1], "--once") == 0) {
        moments m = add_once();
        return write(1, &m, sizeof m) != sizeof m;
    }
    if (argc > 2 + quick || (argc > 1 + quick && argv[1 + quick][0] == '-') || length < 0)
        measure_fail("usage: bench_start [--quick] [LIBRARY.so]");
    program[length] = '\0';
    snprintf(library, sizeof library, "%.*s/../libmxc.so", (int)(strrchr(program, '/') - program), program);
    print_starts(program, quick ? QUICK_STARTS : STARTS);
    print_size(argc > 1 + quick ? argv[1 + quick] : library);
    return 0;
}
