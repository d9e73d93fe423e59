/*
 * NDArray: a dense array in C order: a shared memory block with an engine variable, and a view of it.
 *
 * Work on arrays is queued on the engine and returns at once; calls that copy to the host wait for what they need.
 * Arrays are reference counted: create, copy and view calls give one reference, mxc_ndarray_release drops it. Memory is
 * taken at first use and returned, through the engine, when the last reference is gone.
 *
 * A view shares memory and variable with its source: a write through one orders with all. Queued work that fails marks
 * the variable (see engine.h); overwriting all of the memory, not just a part through a view, clears the mark.
 *
 * Every call may come from any thread.
 */
#ifndef MXC_NDARRAY_H
#define MXC_NDARRAY_H

#include <mxc/engine.h>
#include <mxc/random.h>
#include <mxc/types.h>

typedef struct mxc_ndarray mxc_ndarray;

/* ---- making, sharing, asking ------------------------------------------------------------------------------- */

/**
 * New array on the default engine; contents undefined until written; memory is taken at first use.
 * @param dims  ndim sizes, all known (>= 0)
 * @return MXC_EINVAL, MXC_ESHAPE (too large), MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_create(int ndim, const int64_t *dims, mxc_dtype dtype,
                                                     mxc_context context, mxc_ndarray **out);
/** New cpu(0) array with a copy of host data (C order, as many elements as dims say). */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_from_data(int ndim, const int64_t *dims, mxc_dtype dtype,
                                                        const void *data, mxc_ndarray **out);
/**
 * Array over the caller's memory (host, at least aligned to the element), without a copy. release(arg) is called, from
 * any thread, once no view and no queued work uses it; may be NULL.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wrap(int ndim, const int64_t *dims, mxc_dtype dtype, void *data,
                                                   void (*release)(void *arg), void *arg, mxc_ndarray **out);
/** Add a reference; returns array. */
MXC_API mxc_ndarray *mxc_ndarray_retain(mxc_ndarray *array);
/** Drop a reference; NULL is fine. Does not block. */
MXC_API void mxc_ndarray_release(mxc_ndarray *array);

/** Shape, borrowed, constant for the array's life. */
MXC_API const mxc_shape *mxc_ndarray_shape(const mxc_ndarray *array);
MXC_API int64_t mxc_ndarray_size(const mxc_ndarray *array); /* elements */
MXC_API size_t mxc_ndarray_bytes(const mxc_ndarray *array);
MXC_API mxc_dtype mxc_ndarray_dtype(const mxc_ndarray *array);
MXC_API mxc_context mxc_ndarray_context(const mxc_ndarray *array);
/** The engine variable, borrowed; shared by all views of one block. */
MXC_API mxc_var *mxc_ndarray_var(const mxc_ndarray *array);
/** Fill in a tensor for the array, taking memory if there is none yet. Does not wait. Status: MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_tensor(mxc_ndarray *array, mxc_tensor *out);

/* ---- views ------------------------------------------------------------------------------------------------- */

/** Rows begin to end-1 of axis 0. Status: MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_slice(mxc_ndarray *array, int64_t begin, int64_t end, mxc_ndarray **out);
/** Row index of axis 0, which is dropped (a 1-d array gives shape (1,)). Status: MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_at(mxc_ndarray *array, int64_t index, mxc_ndarray **out);
/** Another shape over the same elements; one dim may be -1; fewer elements give a view of the first. MXC_ESHAPE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_reshape(mxc_ndarray *array, int ndim, const int64_t *dims,
                                                      mxc_ndarray **out);

/* ---- contents ---------------------------------------------------------------------------------------------- */

/** Copy from host memory of exactly bytes bytes; data may be reused on return. Blocks for earlier work on the array.
 *  Status: MXC_EINVAL (bytes), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_set(mxc_ndarray *array, const void *data, size_t bytes);
/** Copy to host memory of exactly bytes bytes. Blocks until the array's writes are done; returns their failure.
 *  Status: MXC_EINVAL (bytes), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_get(mxc_ndarray *array, void *data, size_t bytes);
/** Queue filling with one value, converted to the dtype. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill(mxc_ndarray *array, double value);
/** Queue filling with numbers of the context's stream, which are reserved by the call: uniform in [low, high), or
 *  normal. Status: MXC_EDTYPE (not a float type), MXC_EINVAL (not finite, high < low, deviation < 0), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill_uniform(mxc_ndarray *array, double low, double high);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_fill_normal(mxc_ndarray *array, double mean, double deviation);
/**
 * Queue to = from, converting dtype and crossing contexts as needed. Same shape; from == to does nothing.
 * Float to integer truncates towards zero and saturates, NaN gives 0; an integer to a narrower one keeps its low bits;
 * anything to bool is != 0. Status: MXC_ESHAPE, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_copy_to(mxc_ndarray *from, mxc_ndarray *to, int priority);
/** New array of that context and dtype with the same contents (queued). */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_copy(mxc_ndarray *array, mxc_context context, mxc_dtype dtype,
                                                   mxc_ndarray **out);

/** Block until pending writes (to_write: and reads) of the array are done; return their failure. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wait_to_read(mxc_ndarray *array);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_wait_to_write(mxc_ndarray *array);
/** Host pointer of a CPU array after waiting for its writes; the caller orders its own use. Status: MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_data(mxc_ndarray *array, void **out);

/** Text like numpy's, with shape, dtype and context; of large arrays a few edge items of each axis. Caller frees with
 *  mxc_free. Waits. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_print(mxc_ndarray *array, char **out);
/** Free a string or array of handles given by the library. NULL is fine. */
MXC_API void mxc_free(void *block);

/* ---- files and exchange ------------------------------------------------------------------------------------ */

/** Arrays with optional names; names is NULL for an unnamed list. Free with mxc_ndarray_list_release. */
typedef struct mxc_ndarray_list {
    int64_t n;
    mxc_ndarray **arrays; /* NULL entries where the file held "none" */
    char **names;
} mxc_ndarray_list;

/** Drop all references and memory, and clear the struct. */
MXC_API void mxc_ndarray_list_release(mxc_ndarray_list *list);
/** The array of that name, borrowed; NULL if absent. */
MXC_API mxc_ndarray *mxc_ndarray_list_find(const mxc_ndarray_list *list, const char *name);

/**
 * Write MXNet's .params list file (records V2; V3 for arrays without axes, which V2 cannot tell from "none"). The file
 * is replaced in one step (where path is a symbolic link, the file that it names). Waits for the arrays.
 * @param arrays  n arrays; NULL entries are written as "none"
 * @param names   n names, or NULL: UTF-8, all different, at most 65535 bytes each
 * @return MXC_EIO, MXC_ENOMEM, MXC_EINVAL (names), MXC_EEXIST (a name twice), or an array's failure
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save(const char *path, int64_t n, mxc_ndarray *const *arrays,
                                                   const char *const *names);
/**
 * Read a .params list file of any version (V0 to V3; row_sparse and csr become dense) into cpu(0) arrays.
 * Status: MXC_ENOTFOUND, MXC_EIO, MXC_EFORMAT (with file, offset and expectation), MXC_EUNSUPPORTED (a type or a number
 * of axes that this library lacks), MXC_ENOMEM. Memory stays within the file's size plus 1 MiB, plus about 0.4 KiB of
 * handle an array; sparse arrays expand to at most 64 bytes in all for each byte of the file (but 16 MiB always, and
 * 1 GiB at most).
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load(const char *path, mxc_ndarray_list *out);
/** The same from memory; name appears in messages. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_buffer(const char *name, const void *data, size_t bytes,
                                                          mxc_ndarray_list *out);

/** numpy's .npy: version 1.0 written; 1.0 to 3.0 read, C or Fortran order, little endian; bf16 is raw "V2". Waits for
 *  the array. Status: as for mxc_ndarray_save and _load; MXC_EUNSUPPORTED for numpy types that are no dtype here. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save_npy(const char *path, mxc_ndarray *array);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_npy(const char *path, mxc_ndarray **out);
/**
 * numpy's .npz: a zip of .npy members; written stored, read stored or deflated. Without names: "arr_0" and so on.
 * Deflated members expand to at most 20 times the file's size, or 1 GiB if that is more. Archives of 4 GiB or more
 * (zip64) are not supported. Status: as for the .npy calls; MXC_EEXIST (names twice).
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_save_npz(const char *path, int64_t n, mxc_ndarray *const *arrays,
                                                       const char *const *names);
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_load_npz(const char *path, mxc_ndarray_list *out);

/** DLPack, version 0.8 or later layout of struct DLManagedTensor (dlpack.h of the DMLC project), declared there. */
struct DLManagedTensor;
/** Export: shares memory and keeps a reference until the consumer calls the deleter. Waits for pending writes. */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_to_dlpack(mxc_ndarray *array, struct DLManagedTensor **out);
/**
 * Import: shares memory where it is dense in C order, else copies; calls the deleter when done with it. On failure
 * the tensor stays the caller's. Status: MXC_EINVAL, MXC_EDTYPE, MXC_EDEVICE.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_ndarray_from_dlpack(struct DLManagedTensor *tensor, mxc_ndarray **out);

#endif
