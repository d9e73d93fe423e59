/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass of a convolution by oneDNN, in the layouts that it likes best (its blocked ones), for bench_conv. Where it
 * is not found, bench/peers/no_onednn.c stands in its place and peer_open returns NULL.
 */
#ifndef MXC_BENCH_PEERS_ONEDNN_H
#define MXC_BENCH_PEERS_ONEDNN_H

typedef struct peer peer;

/* First in main: OpenMP's threads wait busily after their work and would take the processors from what is measured
 * beside them; it reads the setting against that only at the program's start, so the program starts again with it. */
void peer_prepare(char **argv);

enum { PEER_FORWARD, PEER_DATA, PEER_WEIGHTS };

/* data (batch, channels, side, side) to (batch, filters, side, side): stride 1, padding kernel / 2. groups is 1 or
 * channels. Filled with small numbers. NULL: there is no oneDNN, or it refuses. */
peer *peer_open(int pass, int batch, int channels, int side, int filters, int kernel, int groups, int threads);
/* Run the pass and wait for it. */
void peer_run(peer *p);
void peer_close(peer *p);

#endif
