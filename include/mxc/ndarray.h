/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NDArray: a dense array in C order. It is a view of a block of memory that has an engine variable.
 *
 * Calls queue work on the engine and return at once; calls that copy to the host wait for the work they need. Arrays
 * are reference counted: calls that create, copy or view give one reference, mxc_ndarray_release drops it. Memory is
 * allocated at first use and freed, through the engine, after the last reference is gone.
 *
 * A view shares memory and variable with its source, so writes through one are ordered with uses of all others. Queued
 * work that fails sets the error state of the variable (see engine.h); overwriting all of the memory, not only a part
 * through a view, clears it.
 *
 * All calls are thread-safe. On a thread that records (mxc/autograd.h), views and copies of arrays of a graph are
 * recorded.
 */
#ifndef MXC_NDARRAY_H
#define MXC_NDARRAY_H

#include <mxc/engine.h>
#include <mxc/random.h>
#include <mxc/types.h>

typedef struct mxc_ndarray mxc_ndarray;

/* ---- creation, references, properties ---------------------------------------------------------------------------- */

/**
 * Create an array on the default engine. Its contents are undefined until written.
 * @param dims  ndim sizes, all known (>= 0)
 * @return MXC_EINVAL, MXC_ESHAPE (too large), MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_create(int ndim, const int64_t *dims, mxc_dtype dtype,
                                                     mxc_context context, mxc_ndarray **out);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_create_on(int ndim, const int64_t *dims, mxc_dtype dtype, int device_type,
                                                        int device_id, mxc_ndarray **out);
/** Create an array on cpu(0) with a copy of host data in C order.
 *  @param[n=text] data  the elements, as many as dims say
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_from_data(int ndim, const int64_t *dims, mxc_dtype dtype,
                                                        const void *data, mxc_ndarray **out);
/**
 * Create an array over host memory of the caller, without a copy. The memory is aligned at least to the element.
 * @param[in,keep,n=text] data  the elements, as many as dims say
 * @param[null,thread=any] release  called once with arg, when no view and no queued work uses the memory any more
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wrap(int ndim, const int64_t *dims, mxc_dtype dtype, void *data,
                                                   void (*release)(void *arg), void *arg, mxc_ndarray **out);
/** Add a reference; returns array.
 *  @return[give] array
 */
MXC_API mxc_ndarray *mxc_ndarray_retain(mxc_ndarray *array);
/** Drop a reference; NULL is fine. Does not block. */
MXC_API void mxc_ndarray_release(mxc_ndarray *array);

/** Shape; borrowed and constant as long as the array exists. */
MXC_API const mxc_shape *mxc_ndarray_shape(const mxc_ndarray *array);
MXC_API int64_t mxc_ndarray_size(const mxc_ndarray *array);        /* number of elements */
MXC_API size_t mxc_ndarray_bytes(const mxc_ndarray *array);        /* size of the elements in bytes */
MXC_API mxc_dtype mxc_ndarray_dtype(const mxc_ndarray *array);     /* type of the elements */
MXC_API mxc_context mxc_ndarray_context(const mxc_ndarray *array); /* where the memory is */
/** The context of an array as two numbers.
 *  @param[out,null] device_type, device_id  members of mxc_context
 */
MXC_API void mxc_ndarray_device(const mxc_ndarray *array, int *device_type, int *device_id);
/** The engine variable, borrowed; shared by all views of one block. */
MXC_API mxc_var *mxc_ndarray_var(const mxc_ndarray *array);
/** Describe the array as a tensor, allocating its memory if necessary. Does not wait. Status: MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_tensor(mxc_ndarray *array, mxc_tensor *out);

/* ---- views ------------------------------------------------------------------------------------------------------- */

/** Rows begin to end-1 of axis 0. Status: MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_slice(mxc_ndarray *array, int64_t begin, int64_t end, mxc_ndarray **out);
/** Row index of axis 0, without that axis (a 1-d array gives shape (1,)). Status: MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_at(mxc_ndarray *array, int64_t index, mxc_ndarray **out);
/** View with another shape; one dim may be -1 (inferred); fewer elements give a view of the first ones. MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_reshape(mxc_ndarray *array, int ndim, const int64_t *dims,
                                                      mxc_ndarray **out);

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/** Copy from host memory; bytes must be the size of the array. data may be reused on return. Blocks until earlier work
 *  on the array is done. Status: MXC_EINVAL (bytes), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_set(mxc_ndarray *array, const void *data, size_t bytes);
/** Copy to host memory; bytes must be the size of the array. Blocks until writes to the array are done, and returns
 *  their error. Status: MXC_EINVAL (bytes), MXC_ENOMEM.
 *  @param[out] data  where the elements go
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_get(mxc_ndarray *array, void *data, size_t bytes);
/** Queue filling the array with one value, converted to its dtype. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill(mxc_ndarray *array, double value);
/** Queue filling the array with random numbers, uniform in [low, high) or normal, from the stream of its context; they
 *  are reserved by the call. Status: MXC_EDTYPE (not a float type), MXC_EINVAL (not finite, high < low, deviation < 0),
 *  MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill_uniform(mxc_ndarray *array, double low, double high);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill_normal(mxc_ndarray *array, double mean, double deviation);
/**
 * Queue a copy to another array of the same shape, with conversion between dtypes and transfer between contexts as
 * needed. from == to does nothing. Conversion from float to integer truncates towards zero and saturates, NaN gives 0;
 * from an integer to a narrower one keeps the low bits; to bool is != 0. Status: MXC_ESHAPE, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_copy_to(mxc_ndarray *from, mxc_ndarray *to, int priority);
/** Create an array with this context and dtype, and queue copying the contents to it. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_copy(mxc_ndarray *array, mxc_context context, mxc_dtype dtype,
                                                   mxc_ndarray **out);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_copy_on(mxc_ndarray *array, int device_type, int device_id,
                                                      mxc_dtype dtype, mxc_ndarray **out);

/** Block until pending writes (to_write: and reads) of the array are done; return their error. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wait_to_read(mxc_ndarray *array);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wait_to_write(mxc_ndarray *array);
/** Pointer to the memory of a CPU array, after waiting for its writes. The caller must order its use of the pointer
 *  with queued work. Status: MXC_EDEVICE.
 *  @param[out,lend] out  valid as long as the array
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_data(mxc_ndarray *array, void **out);

/** Format the array like numpy, with shape, dtype and context; large arrays are abbreviated to the first and last items
 *  of each axis. The caller frees the text with mxc_free. Waits for writes. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_print(mxc_ndarray *array, char **out);
/** Free a string or an array of handles that the library returned. NULL is fine.
 *  @param[in,take] block  what a call returned
 */
MXC_API void mxc_free(void *block);

/* ---- files and exchange ------------------------------------------------------------------------------------------ */

/** Arrays with optional names; names is NULL for an unnamed list. Free with mxc_ndarray_list_release. */
typedef struct mxc_ndarray_list {
    int64_t n;
    mxc_ndarray **arrays; /* NULL entries where the file held "none". @length n */
    char **names;         /* @length n */
} mxc_ndarray_list;

/** Release all arrays, free all memory, and clear the struct.
 *  @param[in,out] list  all zeros afterwards
 */
MXC_API void mxc_ndarray_list_release(mxc_ndarray_list *list);
/** Array of this name, borrowed; NULL if there is none. */
MXC_API mxc_ndarray *mxc_ndarray_list_find(const mxc_ndarray_list *list, const char *name);

/**
 * Write a .params file in MXNet's format (records V2; V3 for arrays without axes, which V2 cannot distinguish from
 * "none"). The file is replaced atomically (if path is a symbolic link, its target). Waits for the arrays.
 * @param arrays  n arrays; entries that are NULL are written as "none"
 * @param[null] names  n names, or NULL: UTF-8, all different, at most 65535 bytes each
 * @return MXC_EIO, MXC_ENOMEM, MXC_EINVAL (names), MXC_EEXIST (duplicate name), or the error of an array
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save(const char *path, int64_t n, mxc_ndarray *const *arrays,
                                                   const char *const *names);
/**
 * Read a .params file of any version (V0 to V3; row_sparse and csr become dense) into arrays on cpu(0).
 * Status: MXC_ENOTFOUND, MXC_EIO, MXC_EFORMAT (with file, offset and what was expected), MXC_EUNSUPPORTED (a type or a
 * number of axes that libmxc does not have), MXC_ENOMEM. Memory is limited to the size of the file plus 1 MiB, plus
 * about 0.4 KiB per array for its handle. Sparse arrays expand to at most 64 bytes for each byte of the file, at least
 * 16 MiB and at most 1 GiB.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load(const char *path, mxc_ndarray_list *out);
/** Read a .params file from memory. name is used in messages. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_buffer(const char *name, const void *data, size_t bytes,
                                                          mxc_ndarray_list *out);

/** Write and read numpy's .npy files: writes version 1.0; reads 1.0 to 3.0, C or Fortran order, little endian; bfloat16
 *  is raw "V2". Waits for the array. Status: as for mxc_ndarray_save and _load; MXC_EUNSUPPORTED for other types. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save_npy(const char *path, mxc_ndarray *array);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_npy(const char *path, mxc_ndarray **out);
/**
 * Write and read numpy's .npz files, zip archives of .npy members: writes them uncompressed, reads stored and deflated
 * ones. Default names are "arr_0" and so on. Deflated members expand to at most 20 times the size of the file, or 1 GiB
 * if that is more. Archives of 4 GiB or more (zip64) are not supported. Status: as for the .npy calls; MXC_EEXIST
 * (duplicate name).
 * @param[null] names  n names
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save_npz(const char *path, int64_t n, mxc_ndarray *const *arrays,
                                                       const char *const *names);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_npz(const char *path, mxc_ndarray_list *out);

/** Structs of DLPack, the first in the layout of version 0.8, the second in that of version 1; see mxc/dlpack.h. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
/**
 * Export an array, sharing its memory, and keep a reference until the consumer calls the deleter, which may be on any
 * thread. Waits for writes. The consumer's use of the memory is not ordered with work that is queued later.
 * @param[out,give=->deleter] out  the tensor
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_to_dlpack(mxc_ndarray *array, struct DLManagedTensor **out);
/**
 * The same for consumers of DLPack 1, such as NumPy from version 2.1 on. They take the memory as writable unless
 * read_only is not 0; before they write, mxc_ndarray_wait_to_write waits for queued reads.
 * @param[out,give=->deleter] out  the tensor
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_to_dlpack_versioned(mxc_ndarray *array, int read_only,
                                                                  struct DLManagedTensorVersioned **out);
/**
 * Import a tensor: share its memory if it is dense in C order, otherwise copy it, and call the deleter when it is no
 * longer needed, on any thread. On failure the caller keeps the tensor. Status: MXC_EINVAL, MXC_EDTYPE, MXC_EDEVICE,
 * MXC_EUNSUPPORTED (strides in GPU memory), MXC_ENOMEM.
 * @param[take] tensor  as the producer gave it
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_from_dlpack(struct DLManagedTensor *tensor, mxc_ndarray **out);
/** The same for a tensor of DLPack 1. A read-only one is copied, since arrays can be written, and this call blocks
 * until that is done. Status: MXC_EUNSUPPORTED also for another major version, of which only the deleter may be used.
 * @param[take] tensor  as the producer gave it
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_from_dlpack_versioned(struct DLManagedTensorVersioned *tensor,
                                                                    mxc_ndarray **out);

#endif
