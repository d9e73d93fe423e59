/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_mpi.h"

peer *peer_open(void) {
    return NULL;
}

void peer_allreduce(peer *p, const float *in, float *out, size_t n) {
    (void)p, (void)in, (void)out, (void)n;
}

void peer_iallreduce(peer *p, const float *in, float *out, size_t n) {
    (void)p, (void)in, (void)out, (void)n;
}

void peer_close(peer *p) {
    (void)p;
}
