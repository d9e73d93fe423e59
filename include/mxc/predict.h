/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictors: a saved network, loaded for inference. Set the inputs, forward, read the outputs.
 *
 * Calls on one predictor must not overlap, except that several threads may clone it at the same time. Predictors that
 * are clones of each other share the parameters, with what is computed from these alone, and nothing else, so each
 * thread of a server has one of its own.
 */
#ifndef MXC_PREDICT_H
#define MXC_PREDICT_H

#include <mxc/executor.h>
#include <mxc/image.h>
#include <mxc/io.h>
#include <mxc/quantize.h>

typedef struct mxc_predictor mxc_predictor;

/** Options of loading. Initialise them with mxc_predictor_options_init. Everything is borrowed for the call. */
typedef struct mxc_predictor_options {
    /* Set by mxc_predictor_options_init. */
    size_t size;
    /* Device that computes and has the parameters. Default cpu(0). */
    mxc_context context;
    /* What to compute, instead of the network's outputs: names of nodes, such as "relu1", or of their outputs, such as
     * "relu1_output" or "slice0_output1". Nodes that these do not depend on are not run. Default none. */
    int n_outputs;
    const char *const *outputs;
    /* mxc_params_flags: what need not agree between parameters and network. Arguments and states without a parameter
     * are zeros if they may be missing. Default MXC_PARAMS_STRICT. */
    unsigned params_flags;
    /* 1: fold each BatchNorm that follows a Convolution or FullyConnected into float32 parameters, which replace those
     * that were loaded. Default 0: those are kept beside the folded ones, as monitors need; results agree up to
     * rounding. */
    int fold_norms;
    /* MXC_F16 or MXC_BF16: compute in 16 bits, with parameters of 16 bits, as training in mixed precision does; inputs
     * keep their dtypes and outputs are float32. Default MXC_DTYPE_UNKNOWN: the dtypes of inputs and parameters. */
    mxc_dtype dtype;
    /* How to quantize the network to 8 bits; its members symbol and params are ignored. Not with dtype. Default NULL:
     * the network is not quantized. */
    const mxc_quantize_options *quantize;
    /* 1: release parameters of which only results computed once are needed, such as weights that norms are folded into,
     * when the predictor has been made. It then has no such arguments: monitors and steps of a run fail with
     * MXC_ESTATE, and so may other shapes, if they need other results. Default 0: all parameters are kept. */
    int release_params;
} mxc_predictor_options;
/** Set the defaults; size is sizeof(mxc_predictor_options), of which no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_predictor_options_init(mxc_predictor_options *options, size_t size);

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/*
 * Parameters of all loading functions:
 *   n_inputs, inputs  arguments that are no parameters: their names, shapes and dtypes. Axes that are -1, or a shape of
 *                     ndim -1, follow from the others; dtype MXC_DTYPE_UNKNOWN is inferred, or else float32. One name
 *                     may be NULL: the only argument without a parameter. Labels of losses need not be named
 * Every other argument and auxiliary state must have its parameter, "arg:<argument>", "aux:<state>" or the name alone,
 * of its shape and dtype, and no parameter may be left over, unless options->params_flags says otherwise.
 *
 * Status: MXC_ENOTFOUND (missing parameters, an input or output that the network does not have; all are named),
 * MXC_EINVAL (parameters left over, named; options), MXC_EEXIST (a parameter or input twice), MXC_ESHAPE and MXC_EDTYPE
 * (parameter or node, expected, found), MXC_EDEVICE, MXC_ENOMEM, and statuses of reading symbols and parameters. Blocks
 * while it reads and converts.
 */

/**
 * Load a saved model.
 * @param where  directory with one model, or prefix of its files, as for mxc_model_find
 * @param epoch  number in the name of the .params file; -1: the best parameters, or else those of the last epoch
 * @param[null] options  NULL: all defaults
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_load(const char *where, int epoch, int64_t n_inputs,
                                                     const mxc_data_desc *inputs, const mxc_predictor_options *options,
                                                     mxc_predictor **out);
/** Load from a -symbol.json file and a .params file of any names.
 *  @param[null] options  NULL: all defaults
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_load_files(const char *symbol_path, const char *params_path,
                                                           int64_t n_inputs, const mxc_data_desc *inputs,
                                                           const mxc_predictor_options *options, mxc_predictor **out);
/** Load from the contents of both files, which may be freed afterwards.
 *  @param[null] options  NULL: all defaults
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_load_memory(const char *json, size_t json_bytes, const void *params,
                                                            size_t params_bytes, int64_t n_inputs,
                                                            const mxc_data_desc *inputs,
                                                            const mxc_predictor_options *options, mxc_predictor **out);
/** Make a predictor of a symbol and its parameters, such as mxc_fit's. Arrays that have the right dtype and context are
 *  not copied, and must not be changed as long as the predictor or a clone exists: what is computed from parameters
 *  alone is computed once.
 *  @param[null] options  NULL: all defaults
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_create(mxc_symbol *symbol, const mxc_ndarray_list *params,
                                                       int64_t n_inputs, const mxc_data_desc *inputs,
                                                       const mxc_predictor_options *options, mxc_predictor **out);
/**
 * Another predictor with the same parameters, which are shared, the input shapes that predictor has now, and inputs of
 * zeros. It has auxiliary states of its own, with the values that were loaded. The two may run at the same time, and
 * either may be destroyed first.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_clone(const mxc_predictor *predictor, mxc_predictor **out);
/** Wait for queued runs, then free. NULL is fine. */
MXC_API void mxc_predictor_destroy(mxc_predictor *predictor);

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Inputs are counted from 0 in the order in which they were given when loading. They are zeros until set. */

/** Number of inputs. */
MXC_API int64_t mxc_predictor_n_inputs(const mxc_predictor *predictor);
/** Name, borrowed; NULL past the end. */
MXC_API const char *mxc_predictor_input_name(const mxc_predictor *predictor, int64_t index);
/** Array, borrowed until the next reshape; NULL past the end or if there is no input of this name. */
MXC_API mxc_ndarray *mxc_predictor_input(const mxc_predictor *predictor, int64_t index);
MXC_API mxc_ndarray *mxc_predictor_find_input(const mxc_predictor *predictor, const char *name);
/**
 * Copy an input from host memory, in C order.
 * @param bytes  size of the input's array; MXC_EINVAL says what was expected otherwise
 * @return MXC_ENOTFOUND lists the inputs; MXC_EINVAL, MXC_ENOMEM
 * Blocks until earlier runs have read the input.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_set_input(mxc_predictor *predictor, const char *name, const void *data,
                                                          size_t bytes);
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_set_input_at(mxc_predictor *predictor, int64_t index, const void *data,
                                                             size_t bytes);
/** Queue copying an array of the input's shape, of any dtype and on any context, to an input. MXC_ENOTFOUND,
 *  MXC_ESHAPE, MXC_ENOMEM. Does not block. */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_set_input_array(mxc_predictor *predictor, const char *name,
                                                                mxc_ndarray *array);
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_set_input_array_at(mxc_predictor *predictor, int64_t index,
                                                                   mxc_ndarray *array);
/**
 * Change the shapes of inputs, such as the batch size. The parameters are shared and their shapes must stay; memory is
 * used again. Inputs that are not named change as the others require, or else keep their shapes. Inputs whose shape
 * stays keep their values, others are zeros. On failure the predictor is as before.
 * @return MXC_ENOTFOUND (no such input), MXC_ESHAPE (a node or parameter that the shapes do not fit), MXC_ENOMEM
 * Blocks until queued runs are done.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_reshape(mxc_predictor *predictor, int64_t n, const char *const *names,
                                                        const mxc_shape *shapes);

/* ---- running and outputs ----------------------------------------------------------------------------------------- */

/** Queue a run. Does not block. Errors are reported by reading an output. */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_forward(mxc_predictor *predictor);

/** Number of outputs. */
MXC_API int64_t mxc_predictor_n_outputs(const mxc_predictor *predictor);
/** Name as mxc_symbol_list_outputs gives it, borrowed; NULL past the end. */
MXC_API const char *mxc_predictor_output_name(const mxc_predictor *predictor, int64_t index);
/** Array, borrowed until the next reshape, whose shape and dtype are known before forward; NULL past the end or if
 *  there is no output of this name, which may also be that of the node. The next run overwrites it. */
MXC_API mxc_ndarray *mxc_predictor_output(const mxc_predictor *predictor, int64_t index);
MXC_API mxc_ndarray *mxc_predictor_find_output(const mxc_predictor *predictor, const char *name);
/**
 * Copy an output of the latest run to host memory. Blocks until it is done.
 * @param[out] data  where the numbers go, in C order
 * @param bytes  size of the output's array; MXC_EINVAL says what was expected otherwise
 * @return MXC_ENOTFOUND lists the outputs; MXC_EINVAL, MXC_ENOMEM, or the error of the run
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_get_output(mxc_predictor *predictor, const char *name, void *data,
                                                           size_t bytes);
MXC_API MXC_MUST_CHECK mxc_status mxc_predictor_get_output_at(mxc_predictor *predictor, int64_t index, void *data,
                                                              size_t bytes);
/** The executor, borrowed until the next reshape, for monitors, memory reports and steps of a run. Its parameters and
 *  states are constant: see mxc_bind_options.constant_args. */
MXC_API mxc_executor *mxc_predictor_executor(const mxc_predictor *predictor);

/* ---- images in, classes out -------------------------------------------------------------------------------------- */

/** From bytes to what a network expects: (byte * scale - mean) / std. Initialise it with mxc_image_transform_init,
 * MXC_IMAGE_TRANSFORM_INIT or designated initialisers. */
typedef struct mxc_image_transform {
    /* sizeof(mxc_image_transform) */
    size_t size;
    /* Length that the shorter side is resized to before the centre is cut out. Default 0: the whole image is resized to
     * the height and width of the network's input. */
    int64_t resize;
    /* Interpolation, as for mxc_image_resize. Default 1: linear, as image iterators do. */
    int interpolation;
    /* Factor on the bytes. Default 1/255. */
    double scale;
    /* Mean and standard deviation of each channel, after scaling. Default 0 and 1. */
    double mean[3], std[3];
} mxc_image_transform;
#define MXC_IMAGE_TRANSFORM_INIT                                   \
    {                                                              \
        sizeof(mxc_image_transform), 0, 1, 1 / 255.0, {0, 0, 0}, { \
            1, 1, 1                                                \
        }                                                          \
    }
/** Set the defaults, as MXC_IMAGE_TRANSFORM_INIT does; size is sizeof(mxc_image_transform): no more is written.
 *  @param[out] transform  where the defaults go
 */
MXC_API void mxc_image_transform_init(mxc_image_transform *transform, size_t size);

/**
 * Write an image to a row of a batch, such as mxc_predictor_input(predictor, 0).
 * @param[null] transform  NULL: all defaults
 * @param array      shape (N,C,H,W), any dtype; C is the number of channels of the image
 * @return MXC_EINVAL (a transform that cannot be applied), MXC_ESHAPE (no such row, other channels, resized to less
 *         than what is to be cut out), MXC_ENOMEM
 * Blocks until earlier work has read the array.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_to_array(const mxc_image *image, const mxc_image_transform *transform,
                                                     mxc_ndarray *array, int64_t row);
/**
 * The k classes of the highest scores, best first; of equal scores the first, NaN last.
 * @param scores   shape (N,...), any dtype: one row per sample; of shape (C,): one sample
 * @param k        at least 1
 * @param[out,n=k] classes  k numbers of classes, positions in the row
 * @param[out,null,n=k] values  k scores; may be NULL
 * @return MXC_ESHAPE (no such row, or fewer than k classes), MXC_EINVAL (k below 1), MXC_ENOMEM, or the error of the
 *         run
 * Blocks until scores is computed.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_top_classes(mxc_ndarray *scores, int64_t row, int64_t k, int64_t *classes,
                                                  float *values);
/** Read the names of classes, one per line in the order of their numbers, as mxc im2rec --list writes them. The caller
 *  calls mxc_names_release. MXC_ENOTFOUND, MXC_EIO, MXC_EFORMAT (an empty line, a NUL byte, more than 2^20 lines),
 *  MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_class_names_load(const char *path, mxc_names *out);

#endif
