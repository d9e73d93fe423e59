/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MXNet's C interface as its front ends call it: version 1.9.1, and what only 0.9.5 has.
 *
 * Every function returns 0, or -1 where MXGetLastError has the reason. What a function returns in strings and lists
 * belongs to the library and is valid until the thread's next call; handles belong to the caller, who frees them.
 */
#ifndef MXNET_C_API_H
#define MXNET_C_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mxc/export.h>

#define MXNET_API MXC_API

typedef void *AtomicSymbolCreator, *CachedOpHandle, *DataIterCreator, *DataIterHandle, *DLManagedTensorHandle;
typedef void *ExecutorHandle, *FunctionHandle, *KVStoreHandle, *NDArrayHandle, *NDListHandle, *OpHandle;
typedef void *PredictorHandle, *ProfileHandle, *RecordIOHandle, *SymbolHandle;

struct LibFeature {
    const char *name;
    bool enabled;
};

/** Functions of a front end with the context that each is given, as an operator or a function defined there has them.
 */
struct MXCallbackList {
    int num_callbacks;
    void (**callbacks)(void); /* each of a type that follows from its place */
    void **contexts;
};
typedef int (*CustomOpPropCreator)(const char *op_type, const int num_kwargs, const char **keys, const char **values,
                                   struct MXCallbackList *ret);
typedef void (*ExecutorMonitorCallback)(const char *name, NDArrayHandle array, void *user);
typedef void (*CachedOpMonitorCallback)(const char *name, const char *op, NDArrayHandle array);
typedef ExecutorMonitorCallback PredMonitorCallback;
typedef void (*MXKVStoreUpdater)(int key, NDArrayHandle received, NDArrayHandle local, void *user);
typedef void (*MXKVStoreStrUpdater)(const char *key, NDArrayHandle received, NDArrayHandle local, void *user);
typedef void (*MXKVStoreServerController)(int head, const char *body, void *controller);

/* ---- The library ------------------------------------------------------------------------------------------------- */

MXNET_API const char *MXGetLastError(void);
MXNET_API const char *NNGetLastError(void);
MXNET_API int MXRandomSeed(int seed);
MXNET_API int MXNotifyShutdown(void);
MXNET_API int MXInitPSEnv(uint32_t num_vars, const char *const *keys, const char *const *vals);
MXNET_API int MXLoadLib(const char *path, unsigned verbose);
MXNET_API int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size);
MXNET_API int MXRandomSeedContext(int seed, int dev_type, int dev_id);
MXNET_API int MXSetNumOMPThreads(int thread_num);
MXNET_API int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size);
MXNET_API int MXGetGPUCount(int *out);
MXNET_API int MXGetGPUMemoryInformation(int dev, int *free_mem, int *total_mem);
MXNET_API int MXGetGPUMemoryInformation64(int dev, uint64_t *free_mem, uint64_t *total_mem);
MXNET_API int MXGetEnv(const char *name, const char **value);
MXNET_API int MXSetEnv(const char *name, const char *value);
MXNET_API int MXNetFuncListGlobalNames(int *out_size, const char ***out_array);
MXNET_API int MXGetVersion(int *out);
MXNET_API int MXIsNumpyShape(int *curr);
MXNET_API int MXSetIsNumpyShape(int is_np_shape, int *prev);
MXNET_API int MXStorageEmptyCache(int dev_type, int dev_id);

/* ---- Profiling --------------------------------------------------------------------------------------------------- */

MXNET_API int MXSetProfilerConfig(int mode, const char *filename);
MXNET_API int MXSetProfilerState(int state);
MXNET_API int MXDumpProfile(void);
MXNET_API int MXSetProcessProfilerConfig(int num_params, const char *const *keys, const char *const *vals,
                                         KVStoreHandle kvstoreH);
MXNET_API int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreH);
MXNET_API int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreH);
MXNET_API int MXAggregateProfileStatsPrint(const char **out_str, int reset);
MXNET_API int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by, int ascending);
MXNET_API int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreH);
MXNET_API int MXProfilePause(int paused);
MXNET_API int MXProfileCreateDomain(const char *domain, ProfileHandle *out);
MXNET_API int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out);
MXNET_API int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name, ProfileHandle *out);
MXNET_API int MXProfileCreateEvent(const char *event_name, ProfileHandle *out);
MXNET_API int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name, ProfileHandle *out);
MXNET_API int MXProfileDestroyHandle(ProfileHandle frame_handle);
MXNET_API int MXProfileDurationStart(ProfileHandle duration_handle);
MXNET_API int MXProfileDurationStop(ProfileHandle duration_handle);
MXNET_API int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);
MXNET_API int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);
MXNET_API int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name, const char *scope);

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

MXNET_API int MXNDArrayCreateNone(NDArrayHandle *out);
MXNET_API int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                              NDArrayHandle *out);
MXNET_API int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                                int dtype, NDArrayHandle *out);
MXNET_API int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out);
MXNET_API int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf);
MXNET_API int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle const *args, const char *const *keys);
MXNET_API int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr, uint32_t *out_name_size,
                            const char ***out_names);
MXNET_API int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size);
MXNET_API int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size);
MXNET_API int MXNDArrayWaitToRead(NDArrayHandle handle);
MXNET_API int MXNDArrayWaitToWrite(NDArrayHandle handle);
MXNET_API int MXNDArrayWaitAll(void);
MXNET_API int MXNDArrayFree(NDArrayHandle handle);
MXNET_API int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end, NDArrayHandle *out);
MXNET_API int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out);
MXNET_API int MXNDArrayReshape(NDArrayHandle handle, int ndim, const int *dims, NDArrayHandle *out);
MXNET_API int MXNDArrayGetShape(NDArrayHandle handle, uint32_t *out_dim, const uint32_t **out_pdata);
MXNET_API int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata);
MXNET_API int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype);
MXNET_API int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id);
MXNET_API int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                                  NDArrayHandle *out);
MXNET_API int MXNDArrayCreateSparseEx(int storage_type, const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                                      int delay_alloc, int dtype, uint32_t num_aux, int *aux_type, uint32_t *aux_ndims,
                                      const uint32_t *aux_shape, NDArrayHandle *out);
MXNET_API int MXNDArrayCreateSparseEx64(int storage_type, const int64_t *shape, int ndim, int dev_type, int dev_id,
                                        int delay_alloc, int dtype, uint32_t num_aux, int *aux_type, int *aux_ndims,
                                        const int64_t *aux_shape, NDArrayHandle *out);
MXNET_API int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size,
                                      NDArrayHandle **out_arr, uint32_t *out_name_size, const char ***out_names);
MXNET_API int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, NDArrayHandle handle_src, int i);
MXNET_API int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check);
MXNET_API int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end, NDArrayHandle *out);
MXNET_API int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out);
MXNET_API int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type);
MXNET_API int MXNDArrayReshape64(NDArrayHandle handle, int ndim, const int64_t *dims, bool reverse, NDArrayHandle *out);
MXNET_API int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata);
MXNET_API int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata);
MXNET_API int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack);
MXNET_API int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle);
MXNET_API int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle,
                                    NDArrayHandle *out_handle);
MXNET_API int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);
MXNET_API int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int *out_type);
MXNET_API int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int *out_type);
MXNET_API int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle *out);
MXNET_API int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle *out);
MXNET_API int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle *out);
MXNET_API int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out);
MXNET_API int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out);
MXNET_API int MXNDArraySetGradState(NDArrayHandle handle, int state);
MXNET_API int MXNDArrayGetGradState(NDArrayHandle handle, int *out);
MXNET_API int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int *shared_pid, int *shared_id);
MXNET_API int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t *shape, uint32_t ndim,
                                           int dtype, NDArrayHandle *out);
MXNET_API int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int *shape, int ndim, int dtype,
                                             NDArrayHandle *out);
MXNET_API int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out);

/* ---- Operators and functions ------------------------------------------------------------------------------------- */

MXNET_API int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array);
MXNET_API int MXGetFunction(const char *name, FunctionHandle *out);
MXNET_API int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description, uint32_t *num_args,
                            const char ***arg_names, const char ***arg_type_infos, const char ***arg_descriptions,
                            const char **return_type);
MXNET_API int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                             uint32_t *num_mutate_vars, int *type_mask);
MXNET_API int MXFuncInvoke(FunctionHandle fun, NDArrayHandle const *use_vars, const float *scalar_args,
                           NDArrayHandle const *mutate_vars);
MXNET_API int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle const *use_vars, const float *scalar_args,
                             NDArrayHandle const *mutate_vars, int num_params, const char *const *param_keys,
                             const char *const *param_vals);
MXNET_API int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle const *inputs,
                                 int *num_outputs, NDArrayHandle **outputs, int num_params,
                                 const char *const *param_keys, const char *const *param_vals);
MXNET_API int MXListAllOpNames(uint32_t *out_size, const char ***out_array);
MXNET_API int MXSymbolListAtomicSymbolCreators(uint32_t *out_size, AtomicSymbolCreator **out_array);
MXNET_API int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name);
MXNET_API int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name, const char **description,
                                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                                          const char ***arg_descriptions, const char **key_var_num_args,
                                          const char **return_type);
MXNET_API int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator);
MXNET_API int NNListAllOpNames(uint32_t *out_size, const char ***out_array);
MXNET_API int NNListUniqueOps(uint32_t *out_size, OpHandle **out_array);
MXNET_API int NNGetOpInfo(OpHandle op, const char **name, const char **description, uint32_t *num_doc_args,
                          const char ***arg_names, const char ***arg_type_infos, const char ***arg_descriptions,
                          const char **return_type);
MXNET_API int NNGetOpHandle(const char *op_name, OpHandle *op_out);
MXNET_API int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle const *inputs,
                                   int *num_outputs, NDArrayHandle **outputs, int num_params,
                                   const char *const *param_keys, const char *const *param_vals,
                                   const int **out_stypes);
MXNET_API int MXCustomFunctionRecord(int num_inputs, NDArrayHandle const *inputs, int num_outputs,
                                     NDArrayHandle const *outputs, struct MXCallbackList *callbacks);

/* ---- Gradients and cached operators ------------------------------------------------------------------------------ */

MXNET_API int MXAutogradSetIsTraining(int is_training, int *prev);
MXNET_API int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle const *var_handles, const uint32_t *reqs_array,
                                      NDArrayHandle const *grad_handles);
MXNET_API int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle const *output_handles);
MXNET_API int MXAutogradSetIsRecording(int is_recording, int *prev);
MXNET_API int MXAutogradIsRecording(bool *curr);
MXNET_API int MXAutogradIsTraining(bool *curr);
MXNET_API int MXAutogradBackward(uint32_t num_output, NDArrayHandle const *output_handles,
                                 NDArrayHandle const *ograd_handles, int retain_graph);
MXNET_API int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle const *output_handles,
                                   NDArrayHandle const *ograd_handles, uint32_t num_variables,
                                   NDArrayHandle const *var_handles, int retain_graph, int create_graph, int is_train,
                                   NDArrayHandle **grad_handles, int **grad_stypes);
MXNET_API int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out);
MXNET_API int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out);
MXNET_API int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char *const *keys, const char *const *vals,
                                 CachedOpHandle *out);
MXNET_API int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char *const *keys, const char *const *vals,
                                 CachedOpHandle *out, bool thread_safe);
MXNET_API int MXFreeCachedOp(CachedOpHandle handle);
MXNET_API int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                               NDArrayHandle **outputs);
MXNET_API int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                                 NDArrayHandle **outputs, const int **out_stypes);
MXNET_API int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback, bool monitor_all);

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

MXNET_API int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char *const *keys,
                                         const char *const *vals, SymbolHandle *out);
MXNET_API int MXSymbolCreateVariable(const char *name, SymbolHandle *out);
MXNET_API int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle const *symbols, SymbolHandle *out);
MXNET_API int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out);
MXNET_API int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out);
MXNET_API int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname);
MXNET_API int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json);
MXNET_API int MXSymbolFree(SymbolHandle symbol);
MXNET_API int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out);
MXNET_API int MXSymbolPrint(SymbolHandle symbol, const char **out_str);
MXNET_API int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success);
MXNET_API int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success);
MXNET_API int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value);
MXNET_API int MXSymbolListAttr(SymbolHandle symbol, uint32_t *out_size, const char ***out);
MXNET_API int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t *out_size, const char ***out);
MXNET_API int MXSymbolListArguments(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array);
MXNET_API int MXSymbolListOutputs(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array);
MXNET_API int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out);
MXNET_API int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out);
MXNET_API int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle *out);
MXNET_API int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array);
MXNET_API int MXSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args, const char *const *keys,
                              SymbolHandle const *args);
MXNET_API int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char *const *wrt, SymbolHandle *out);
MXNET_API int MXSymbolInferShape(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                 const uint32_t *arg_ind_ptr, const uint32_t *arg_shape_data, uint32_t *in_shape_size,
                                 const uint32_t **in_shape_ndim, const uint32_t ***in_shape_data,
                                 uint32_t *out_shape_size, const uint32_t **out_shape_ndim,
                                 const uint32_t ***out_shape_data, uint32_t *aux_shape_size,
                                 const uint32_t **aux_shape_ndim, const uint32_t ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferShapePartial(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                        const uint32_t *arg_ind_ptr, const uint32_t *arg_shape_data,
                                        uint32_t *in_shape_size, const uint32_t **in_shape_ndim,
                                        const uint32_t ***in_shape_data, uint32_t *out_shape_size,
                                        const uint32_t **out_shape_ndim, const uint32_t ***out_shape_data,
                                        uint32_t *aux_shape_size, const uint32_t **aux_shape_ndim,
                                        const uint32_t ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char *const *keys, const int *arg_type_data,
                                uint32_t *in_type_size, const int **in_type_data, uint32_t *out_type_size,
                                const int **out_type_data, uint32_t *aux_type_size, const int **aux_type_data,
                                int *complete);
MXNET_API int NNSymbolFree(SymbolHandle symbol);
MXNET_API int NNSymbolListInputNames(SymbolHandle symbol, int option, uint32_t *out_size, const char ***out_str_array);
MXNET_API int NNSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args, const char *const *keys,
                              SymbolHandle const *args);
MXNET_API int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle **inputs, int *input_size);
MXNET_API int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle **inputs, int *input_size);
MXNET_API int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle);
MXNET_API int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t *output_count);
MXNET_API int MXSymbolInferShapeEx(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                   const uint32_t *arg_ind_ptr, const int *arg_shape_data, uint32_t *in_shape_size,
                                   const int **in_shape_ndim, const int ***in_shape_data, uint32_t *out_shape_size,
                                   const int **out_shape_ndim, const int ***out_shape_data, uint32_t *aux_shape_size,
                                   const int **aux_shape_ndim, const int ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferShapeEx64(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                     const int64_t *arg_ind_ptr, const int64_t *arg_shape_data, size_t *in_shape_size,
                                     const int **in_shape_ndim, const int64_t ***in_shape_data, size_t *out_shape_size,
                                     const int **out_shape_ndim, const int64_t ***out_shape_data,
                                     size_t *aux_shape_size, const int **aux_shape_ndim,
                                     const int64_t ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferShapePartialEx(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                          const uint32_t *arg_ind_ptr, const int *arg_shape_data,
                                          uint32_t *in_shape_size, const int **in_shape_ndim,
                                          const int ***in_shape_data, uint32_t *out_shape_size,
                                          const int **out_shape_ndim, const int ***out_shape_data,
                                          uint32_t *aux_shape_size, const int **aux_shape_ndim,
                                          const int ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferShapePartialEx64(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                            const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                            size_t *in_shape_size, const int **in_shape_ndim,
                                            const int64_t ***in_shape_data, size_t *out_shape_size,
                                            const int **out_shape_ndim, const int64_t ***out_shape_data,
                                            size_t *aux_shape_size, const int **aux_shape_ndim,
                                            const int64_t ***aux_shape_data, int *complete);
MXNET_API int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char *const *keys,
                                       const int *arg_type_data, uint32_t *in_type_size, const int **in_type_data,
                                       uint32_t *out_type_size, const int **out_type_data, uint32_t *aux_type_size,
                                       const int **aux_type_data, int *complete);
MXNET_API int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle, const int *dev_type,
                               uint32_t num_excluded_sym_names, const char *const *excluded_sym_names,
                               uint32_t num_excluded_op_names, const char *const *excluded_op_names,
                               uint32_t num_offline, const char *const *offline_params, const char *quantized_dtype,
                               const bool calib_quantize, const char *quantize_mode, const char *quantize_granularity,
                               uint32_t *out_num_calib_names, const char ***out_calib_names);
MXNET_API int MXReducePrecisionSymbol(
    SymbolHandle sym_handle, SymbolHandle *ret_sym_handle, uint32_t num_args, const int *arg_type_data,
    uint32_t num_ind_ptr, const int *ind_ptr, const int *target_dtype, int cast_optional_params,
    uint32_t num_target_dtype_op_names, uint32_t num_fp32_op_names, uint32_t num_widest_dtype_op_names,
    uint32_t num_conditional_fp32_op_names, uint32_t num_excluded_symbols, uint32_t num_model_params,
    const char *const *target_dtype_op_names, const char *const *fp32_op_names,
    const char *const *widest_dtype_op_names, const char *const *conditional_fp32_op_names,
    const char *const *excluded_symbols, const char *const *conditional_param_names,
    const char *const *conditional_param_vals, const char *const *model_param_names, const char *const *arg_names);
MXNET_API int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, uint32_t num_layers,
                                               const char *const *layer_names, const float *low_quantiles,
                                               const float *high_quantiles, SymbolHandle *ret_sym_handle);
MXNET_API int MXGenBackendSubgraph(SymbolHandle sym_handle, const char *backend, SymbolHandle *ret_sym_handle);
MXNET_API int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle);
MXNET_API int
MXOptimizeForBackend(SymbolHandle sym_handle, const char *backend_name, int dev_type, SymbolHandle *ret_sym_handle,
                     uint32_t args_len, NDArrayHandle const *in_args_handle, uint32_t aux_len,
                     NDArrayHandle const *in_aux_handle, uint32_t num_options, const char *const *keys,
                     const char *const *vals, uint32_t num_input_shapes, const char *const *input_shape_names,
                     const int64_t *input_shape_data, const uint32_t *input_shape_idx, uint32_t num_input_dtypes,
                     const char *const *input_dtype_names, const int *input_dtypes, uint32_t num_input_stypes,
                     const char *const *input_stype_names, const int *input_stypes, bool skip_infer, int *new_args_cnt,
                     NDArrayHandle **new_args_handle, const char ***new_arg_names_handle, int *new_aux_cnt,
                     NDArrayHandle **new_aux_handle, const char ***new_aux_names_handle);
MXNET_API int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out);

/* ---- Executors --------------------------------------------------------------------------------------------------- */

MXNET_API int MXExecutorFree(ExecutorHandle handle);
MXNET_API int MXExecutorPrint(ExecutorHandle handle, const char **out_str);
MXNET_API int MXExecutorForward(ExecutorHandle handle, int is_train);
MXNET_API int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle const *head_grads);
MXNET_API int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out);
MXNET_API int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                             NDArrayHandle const *in_args, NDArrayHandle const *arg_grad_store,
                             const uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle const *aux_states,
                             ExecutorHandle *out);
MXNET_API int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                              const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids,
                              uint32_t len, NDArrayHandle const *in_args, NDArrayHandle const *arg_grad_store,
                              const uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle const *aux_states,
                              ExecutorHandle *out);
MXNET_API int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                               const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids,
                               uint32_t len, NDArrayHandle const *in_args, NDArrayHandle const *arg_grad_store,
                               const uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle const *aux_states,
                               ExecutorHandle shared_exec, ExecutorHandle *out);
MXNET_API int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                           void *callback_handle);
MXNET_API int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle const *head_grads, int is_train);
MXNET_API int MXExecutorSimpleBind(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys, const char *const *g2c_keys,
    const int *g2c_dev_types, const int *g2c_dev_ids, uint32_t provided_grad_req_list_len,
    const char *const *provided_grad_req_names, const char *const *provided_grad_req_types,
    uint32_t num_provided_arg_shapes, const char *const *provided_arg_shape_names,
    const uint32_t *provided_arg_shape_data, const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char *const *provided_arg_dtype_names, const int *provided_arg_dtypes, uint32_t num_provided_arg_stypes,
    const char *const *provided_arg_stype_names, const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char *const *shared_arg_name_list, int *shared_buffer_len, const char *const *shared_buffer_name_list,
    NDArrayHandle const *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args, NDArrayHandle **in_args,
    NDArrayHandle **arg_grads, uint32_t *num_aux_states, NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle,
    ExecutorHandle *out);
MXNET_API int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys, const char *const *g2c_keys,
    const int *g2c_dev_types, const int *g2c_dev_ids, uint32_t provided_grad_req_list_len,
    const char *const *provided_grad_req_names, const char *const *provided_grad_req_types,
    uint32_t num_provided_arg_shapes, const char *const *provided_arg_shape_names, const int *provided_arg_shape_data,
    const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char *const *provided_arg_dtype_names, const int *provided_arg_dtypes, uint32_t num_provided_arg_stypes,
    const char *const *provided_arg_stype_names, const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char *const *shared_arg_name_list, int *shared_buffer_len, const char *const *shared_buffer_name_list,
    NDArrayHandle const *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args, NDArrayHandle **in_args,
    NDArrayHandle **arg_grads, uint32_t *num_aux_states, NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle,
    ExecutorHandle *out);
MXNET_API int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys, const char *const *g2c_keys,
    const int *g2c_dev_types, const int *g2c_dev_ids, uint32_t provided_grad_req_list_len,
    const char *const *provided_grad_req_names, const char *const *provided_grad_req_types,
    uint32_t num_provided_arg_shapes, const char *const *provided_arg_shape_names,
    const int64_t *provided_arg_shape_data, const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char *const *provided_arg_dtype_names, const int *provided_arg_dtypes, uint32_t num_provided_arg_stypes,
    const char *const *provided_arg_stype_names, const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char *const *shared_arg_name_list, int *shared_buffer_len, const char *const *shared_buffer_name_list,
    NDArrayHandle const *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args, NDArrayHandle **in_args,
    NDArrayHandle **arg_grads, uint32_t *num_aux_states, NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle,
    ExecutorHandle *out);
MXNET_API int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                                uint32_t num_map_keys, const char *const *map_keys, const int *map_dev_types,
                                const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                                const char *const *provided_arg_shape_names, const uint32_t *provided_arg_shape_data,
                                const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args, NDArrayHandle **in_args,
                                NDArrayHandle **arg_grads, uint32_t *num_aux_states, NDArrayHandle **aux_states,
                                ExecutorHandle shared_exec, ExecutorHandle *out);
MXNET_API int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                                  uint32_t num_map_keys, const char *const *map_keys, const int *map_dev_types,
                                  const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                                  const char *const *provided_arg_shape_names, const int *provided_arg_shape_data,
                                  const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,
                                  NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                                  NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out);
MXNET_API int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out);
MXNET_API int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                             void *callback_handle, bool monitor_all);

/* ---- Iterators and records --------------------------------------------------------------------------------------- */

MXNET_API int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array);
MXNET_API int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char *const *keys,
                                   const char *const *vals, DataIterHandle *out);
MXNET_API int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description,
                                    uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                                    const char ***arg_descriptions);
MXNET_API int MXDataIterFree(DataIterHandle handle);
MXNET_API int MXDataIterNext(DataIterHandle handle, int *out);
MXNET_API int MXDataIterBeforeFirst(DataIterHandle handle);
MXNET_API int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out);
MXNET_API int MXDataIterGetIndex(DataIterHandle handle, const uint64_t **out_index, uint64_t *out_size);
MXNET_API int MXDataIterGetPadNum(DataIterHandle handle, int *pad);
MXNET_API int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out);
MXNET_API int MXRecordIOWriterCreate(const char *uri, RecordIOHandle *out);
MXNET_API int MXRecordIOWriterFree(RecordIOHandle handle);
MXNET_API int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char *buf, size_t size);
MXNET_API int MXRecordIOWriterTell(RecordIOHandle handle, size_t *pos);
MXNET_API int MXRecordIOReaderCreate(const char *uri, RecordIOHandle *out);
MXNET_API int MXRecordIOReaderFree(RecordIOHandle handle);
MXNET_API int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char **buf, size_t *size);
MXNET_API int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos);
MXNET_API int MXRecordIOReaderTell(RecordIOHandle handle, size_t *pos);

/* ---- Key-value stores -------------------------------------------------------------------------------------------- */

MXNET_API int MXKVStoreCreate(const char *type, KVStoreHandle *out);
MXNET_API int MXKVStoreFree(KVStoreHandle handle);
MXNET_API int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals);
MXNET_API int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                            int priority);
MXNET_API int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                            int priority);
MXNET_API int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void *updater_handle);
MXNET_API int MXKVStoreGetType(KVStoreHandle handle, const char **type);
MXNET_API int MXKVStoreGetRank(KVStoreHandle handle, int *ret);
MXNET_API int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret);
MXNET_API int MXKVStoreIsWorkerNode(int *ret);
MXNET_API int MXKVStoreIsServerNode(int *ret);
MXNET_API int MXKVStoreIsSchedulerNode(int *ret);
MXNET_API int MXKVStoreBarrier(KVStoreHandle handle);
MXNET_API int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit);
MXNET_API int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller, void *controller_handle);
MXNET_API int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body);
MXNET_API int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number, int timeout_sec);
MXNET_API int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char *const *keys,
                                              const char *const *vals);
MXNET_API int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals);
MXNET_API int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                              int priority);
MXNET_API int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                                      int priority, bool ignore_sparse);
MXNET_API int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char *const *keys,
                                        NDArrayHandle const *vals, int priority, bool ignore_sparse);
MXNET_API int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                              int priority);
MXNET_API int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                                     NDArrayHandle const *row_ids, int priority);
MXNET_API int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char *const *keys,
                                       NDArrayHandle const *vals, NDArrayHandle const *row_ids, int priority);
MXNET_API int MXKVStoreBroadcast(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum, const int *okeys,
                                 NDArrayHandle const *vals, NDArrayHandle const *outs, int priority);
MXNET_API int MXKVStoreBroadcastEx(KVStoreHandle handle, uint32_t vnum, const char *const *vkeys, uint32_t onum,
                                   const char *const *okeys, NDArrayHandle const *vals, NDArrayHandle const *outs,
                                   int priority);
MXNET_API int MXKVStorePushPull(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum, const int *okeys,
                                NDArrayHandle const *vals, NDArrayHandle const *outs, int priority);
MXNET_API int MXKVStorePushPullEx(KVStoreHandle handle, uint32_t vnum, const char *const *vkeys, uint32_t onum,
                                  const char *const *okeys, NDArrayHandle const *vals, NDArrayHandle const *outs,
                                  int priority);
MXNET_API int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater, MXKVStoreStrUpdater str_updater,
                                    void *updater_handle);

/* ---- Prediction -------------------------------------------------------------------------------------------------- */

MXNET_API int MXPredCreate(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                           int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                           const uint32_t *input_shape_indptr, const uint32_t *input_shape_data, PredictorHandle *out);
MXNET_API int MXPredCreatePartialOut(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                                     int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                                     const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                                     uint32_t num_output_nodes, const char *const *output_keys, PredictorHandle *out);
MXNET_API int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, const uint32_t **shape_data,
                                   uint32_t *shape_ndim);
MXNET_API int MXPredSetInput(PredictorHandle handle, const char *key, const float *data, uint32_t size);
MXNET_API int MXPredForward(PredictorHandle handle);
MXNET_API int MXPredPartialForward(PredictorHandle handle, int step, int *step_left);
MXNET_API int MXPredGetOutput(PredictorHandle handle, uint32_t index, float *data, uint32_t size);
MXNET_API int MXPredFree(PredictorHandle handle);
MXNET_API int MXNDListCreate(const char *nd_file_bytes, int nd_file_size, NDListHandle *out, uint32_t *out_length);
MXNET_API int MXNDListGet(NDListHandle handle, uint32_t index, const char **out_key, const float **out_data,
                          const uint32_t **out_shape, uint32_t *out_ndim);
MXNET_API int MXNDListFree(NDListHandle handle);
MXNET_API int MXPredCreateEx(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                             int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                             const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                             uint32_t num_provided_arg_dtypes, const char *const *provided_arg_dtype_names,
                             const int *provided_arg_dtypes, PredictorHandle *out);
MXNET_API int MXPredCreateMultiThread(const char *symbol_json_str, const void *param_bytes, int param_size,
                                      int dev_type, int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                                      const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                                      int num_threads, PredictorHandle *out);
MXNET_API int MXPredReshape(uint32_t num_input_nodes, const char *const *input_keys, const uint32_t *input_shape_indptr,
                            const uint32_t *input_shape_data, PredictorHandle handle, PredictorHandle *out);
MXNET_API int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int *out_dtype);
MXNET_API int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback, void *callback_handle,
                                       bool monitor_all);

#endif
