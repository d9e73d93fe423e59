/* SPDX-License-Identifier: Apache-2.0 */
/* The multiply-adds that the processor can do, as bench/compare reads them: bench_peak [THREADS] prints GFLOP/s. */
#include "measure.h"

typedef struct peak {
    int threads;
    double flops; /* per second */
} peak;

static mxc_status measure_in(const mxc_run *run, void *arg) {
    peak *p = arg;
    measure_case c = {.call = measure_peak, .arg = &p->threads};
    measure_in_turn(run, 1, &c, 0);
    p->flops = measure_peak_flops(p->threads) / c.seconds;
    return MXC_OK;
}

int main(int argc, char **argv) {
    peak p = {.threads = argc == 2 ? atoi(argv[1]) : 2};
    if (argc > 2 || p.threads < 1) {
        fprintf(stderr, "usage: %s [THREADS]\n", argv[0]);
        return 2;
    }
    measure_inside(p.threads, measure_in, &p);
    printf("%.1f\n", 1e-9 * p.flops);
    return 0;
}
