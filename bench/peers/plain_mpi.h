/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over processes by plain MPI, in the group that a distributed store has started, for bench_dist. Where no MPI was
 * found, bench/peers/no_mpi.c stands in its place and peer_open returns NULL.
 */
#ifndef MXC_BENCH_PEERS_PLAIN_MPI_H
#define MXC_BENCH_PEERS_PLAIN_MPI_H

#include <stddef.h>

typedef struct peer peer;

/* All processes call it, after a store has started MPI. NULL: it is not started. */
peer *peer_open(void);
/* out = the sum of all processes' in, of n elements. */
void peer_allreduce(peer *p, const float *in, float *out, size_t n);  /* MPI_Allreduce */
void peer_iallreduce(peer *p, const float *in, float *out, size_t n); /* MPI_Iallreduce, MPI_Test until it is done */
void peer_close(peer *p);                                             /* all processes; NULL is fine */

#endif
