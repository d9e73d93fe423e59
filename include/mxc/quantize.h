/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantization: converts a trained network to 8-bit integers for inference. Weights take a quarter of the memory.
 *
 * Convolution and FullyConnected become _contrib_quantized_conv and _contrib_quantized_fully_connected; relu, pooling,
 * flattening, sums and concatenation between them stay in 8 bits; everything else stays in float32. A BatchNorm after a
 * quantized layer is folded into its weights. The outputs of layers are clipped to ranges that are calibrated by
 * running the float network over some batches, or, without calibration, computed in each run.
 */
#ifndef MXC_QUANTIZE_H
#define MXC_QUANTIZE_H

#include <mxc/io.h>
#include <mxc/symbol.h>

/** How the ranges of activations are determined. */
typedef enum mxc_calibration {
    MXC_CALIBRATE_NONE = 0,   /* in each run, for its batch: slower, but needs no data */
    MXC_CALIBRATE_MINMAX = 1, /* smallest and largest value over the calibration batches */
    MXC_CALIBRATE_ENTROPY = 2 /* the range that minimises the Kullback-Leibler divergence of the quantized histogram */
} mxc_calibration;

/** Options of mxc_quantize. Initialise them with mxc_quantize_options_init or MXC_QUANTIZE_OPTIONS_INIT. Everything
 *  is borrowed for the call. */
typedef struct mxc_quantize_options {
    /* sizeof(mxc_quantize_options) */
    size_t size;
    /* The float32 network. Required. */
    mxc_symbol *symbol;
    /* Its parameters "arg:..." and "aux:...", as mxc_model_load returns them. Required. */
    const mxc_ndarray_list *params;
    /* How ranges of activations are determined. Default MXC_CALIBRATE_NONE. */
    mxc_calibration calibration;
    /* Calibration batches, from the current position to the end of the epoch; the iterator is reset afterwards. Entropy
     * reads them twice, and they must be the same. Required with calibration. */
    mxc_iter *data;
    /* Largest number of calibration batches. Default 0: all. */
    int64_t batches;
    /* Device that the float network runs on for calibration. Default cpu(0). */
    mxc_context context;
    /* Names of nodes that stay in float32. Default none. */
    int n_excluded;
    const char *const *excluded;
} mxc_quantize_options;
#define MXC_QUANTIZE_OPTIONS_INIT \
    { sizeof(mxc_quantize_options), NULL, NULL, MXC_CALIBRATE_NONE, NULL, 0, {MXC_CPU, 0}, 0, NULL }
/** Set the defaults, as MXC_QUANTIZE_OPTIONS_INIT does; size is sizeof(mxc_quantize_options), of which no more is
 *  written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_quantize_options_init(mxc_quantize_options *options, size_t size);

/**
 * Quantize a network.
 * @param symbol  new symbol with the same float32 outputs; its weights are "<weight>_quantize", with their ranges in
 *                "<weight>_quantize_min" and "_max". The caller releases it
 * @param[out] params  parameters of the new symbol; the caller releases them
 * @return MXC_EINVAL, MXC_ENOTFOUND (an excluded node that does not exist; a parameter that calibration needs),
 *         MXC_EUNSUPPORTED (a network with gradients), MXC_ENOMEM, and statuses of running the float network
 * Blocks.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_quantize(const mxc_quantize_options *options, mxc_symbol **symbol,
                                               mxc_ndarray_list *params);

#endif
