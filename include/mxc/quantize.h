/*
 * Quantization: a trained network in whole numbers of 8 bits, for inference. Weights take a quarter of the memory.
 *
 * Convolution and FullyConnected become _contrib_quantized_conv and _contrib_quantized_fully_connected; relu, pooling,
 * flattening, sums and concatenation between them stay in 8 bits; everything else stays in float32. A BatchNorm behind
 * a quantized layer moves into its weights. What the layers make is cut to ranges that are found by running the float
 * network over some batches, or, without these, anew in each run.
 */
#ifndef MXC_QUANTIZE_H
#define MXC_QUANTIZE_H

#include <mxc/io.h>
#include <mxc/symbol.h>

/** How the ranges of activations are found. */
typedef enum mxc_calibration {
    MXC_CALIBRATE_NONE = 0,   /* from each batch when it runs: slower, no data needed */
    MXC_CALIBRATE_MINMAX = 1, /* the least and largest number seen */
    MXC_CALIBRATE_ENTROPY = 2 /* cut where the histogram of the numbers loses least (Kullback-Leibler divergence) */
} mxc_calibration;

/** Options of mxc_quantize. Start from MXC_QUANTIZE_OPTIONS_INIT. Everything is borrowed for the call. */
typedef struct mxc_quantize_options {
    size_t size;
    mxc_symbol *symbol;             /* required; float32 */
    const mxc_ndarray_list *params; /* required; "arg:..." and "aux:...", as mxc_model_load gives them */
    mxc_calibration calibration;
    mxc_iter *data;      /* batches to calibrate with, from where it stands to the epoch's end; then it is reset. NULL
                            only without calibration. For entropy it runs twice: the batches must be the same */
    int64_t batches;     /* most of them; 0: all */
    mxc_context context; /* where the float network runs meanwhile */
    int n_excluded;      /* operators' nodes by name that stay in float32 */
    const char *const *excluded;
} mxc_quantize_options;
#define MXC_QUANTIZE_OPTIONS_INIT \
    { sizeof(mxc_quantize_options), NULL, NULL, MXC_CALIBRATE_NONE, NULL, 0, {MXC_CPU, 0}, 0, NULL }

/**
 * Quantize a network.
 * @param symbol  new symbol with the same outputs, float32; its weights are "<weight>_quantize", with their ranges in
 *                "<weight>_quantize_min" and "_max". Caller releases
 * @param params  the parameters that it needs; caller releases
 * @return MXC_EINVAL, MXC_ENOTFOUND (a node to exclude that there is not; a parameter that calibration needs),
 *         MXC_EUNSUPPORTED (a network with gradients), MXC_ENOMEM, and what running the float network gives. Blocks.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_quantize(const mxc_quantize_options *options, mxc_symbol **symbol,
                                               mxc_ndarray_list *params);

#endif
