/* SPDX-License-Identifier: Apache-2.0 */
/* Where the axes of images are: (N,C,spatial), or, channels last, (N,spatial,C). */
#ifndef MXCI_OPERATOR_NN_CHANNELS_H
#define MXCI_OPERATOR_NN_CHANNELS_H

static inline int mxci_channel_axis(int channels_last, int ndim) {
    return channels_last ? ndim - 1 : 1;
}
/* Spatial axis i. */
static inline int mxci_spatial_axis(int channels_last, int i) {
    return i + (channels_last ? 1 : 2);
}

#endif
