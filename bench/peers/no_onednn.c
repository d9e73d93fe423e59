/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "onednn.h"

void peer_prepare(char **argv) {
    (void)argv;
}

peer *peer_open(int pass, int batch, int channels, int side, int filters, int kernel, int groups, int threads) {
    (void)pass, (void)batch, (void)channels, (void)side, (void)filters, (void)kernel, (void)groups, (void)threads;
    return NULL;
}

void peer_run(peer *p) {
    (void)p;
}

void peer_close(peer *p) {
    (void)p;
}
