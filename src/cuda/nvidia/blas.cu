/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by cuBLASLt (runtime/blas.h).
 *
 * For each shape, types, alignment and epilogue, the heuristics of cuBLASLt name up to four kernels, which a plan in a
 * cache per GPU keeps. The first run that overwrites its result and is not being captured measures them, and from then
 * on the fastest is used. Products that cuBLASLt does not support go to cuBLAS. Both libraries store matrices by
 * columns, so that a C-order matrix (m, n) is theirs of (n, m), and C^T = op(B)^T op(A)^T is computed: A and B change
 * places in every call. */
#include "cuda/runtime/blas.h"

#include <mutex>
#include <new>

#include <cublasLt.h>
#include <cublas_v2.h>

#include "cuda/runtime/plan_cache.h"
#include "cuda/nvidia/measure.h"
#include "cuda/nvidia/stream.h"

/* WORKSPACE: bytes per stream, of which NVIDIA recommends 32 MiB for Hopper. ALGORITHMS: kernels per plan. KEY: numbers
 * of a plan's key. SLOTS: plans per GPU. */
enum { WORKSPACE = 32 << 20, ALGORITHMS = 4, KEY = 16, SLOTS = 1024 };

/* How a product is computed. The opaque structs of cuBLASLt are plain memory, so that a plan is copied by assignment
 * and close has nothing to free. */
struct plan {
    cublasLtMatmulDescOpaque_t product = {};
    cublasLtMatrixLayoutOpaque_t a = {}, b = {}, c = {}; /* of g's matrices */
    cublasLtMatmulAlgo_t algorithms[ALGORITHMS] = {};    /* the best first; n of them. 0: not served */
    int n = 0;
    bool measured = false;
    void close() {
    }
};

/* A stream's handle and workspace. A cublasHandle_t is a valid cublasLtHandle_t too. The workspace belongs to one
 * stream, since kernels of two streams would overwrite each other's partial sums. */
struct mxcu_blas {
    cublasHandle_t handle;
    void *workspace;
};

/* The plans of a GPU, for the life of the process. Streams copy plans out of it, so that the lock is not held during a
 * call. */
struct gpu_plans {
    std::mutex lock;
    mxcu_plan_cache<plan, KEY, SLOTS> plans;
};

static gpu_plans *plans_of(int id) {
    static gpu_plans *all[MXC_MAX_DEVICE_ID + 1];
    static std::mutex lock;
    std::lock_guard<std::mutex> held(lock);
    if (!all[id])
        all[id] = new (std::nothrow) gpu_plans;
    return all[id];
}

/* One product: operands, the result's type, and the epilogue with its vector (a bias, or sums; NULL: it has none). */
struct matmul_job {
    const mxci_gemm_args *g;
    cudaDataType_t c_type;
    cublasLtEpilogue_t epilogue;
    void *vector; /* the epilogue's; NULL: it has none */
};

static mxc_status check(cublasStatus_t status, const char *what) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return MXC_OK;
    return MXC_FAIL(status == CUBLAS_STATUS_ALLOC_FAILED ? MXC_ENOMEM : MXC_EDEVICE, "%s: %s", what,
                    cublasGetStatusString(status));
}

/* ---- handles ----------------------------------------------------------------------------------------------------- */

void mxcu_blas_close(mxcu_blas *blas) {
    if (!blas)
        return;
    if (blas->handle)
        (void)cublasDestroy(blas->handle);
    if (blas->workspace)
        mxcu_ignore_error(cudaFree(blas->workspace));
    delete blas;
}

/* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION: sums of 16-bit products stay float32 also across the blocks of a
 * split-K kernel. */
static mxc_status create_handles(mxcu_blas *blas, cudaStream_t stream) {
    MXC_TRY(check(cublasCreate(&blas->handle), "cublasCreate"));
    MXC_TRY(check(cublasSetStream(blas->handle, stream), "cublasSetStream"));
    MXC_TRY(check(cublasSetMathMode(blas->handle, (cublasMath_t)(CUBLAS_DEFAULT_MATH |
                                                                 CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
                  "cublasSetMathMode"));
    MXC_TRY(mxcu_check(cudaMalloc(&blas->workspace, WORKSPACE), "cudaMalloc"));
    return check(cublasSetWorkspace(blas->handle, blas->workspace, WORKSPACE), "cublasSetWorkspace");
}

/* The stream's handles, created in its first product; the GPU becomes the thread's current device. No lock: one thread
 * at a time queues on a stream. */
static mxc_status blas_of(const mxc_op_call *call, mxcu_blas **out, cudaStream_t *stream) {
    mxcu_stream *s = static_cast<mxcu_stream *>(call->run->stream);
    mxc_status status;
    MXC_TRY(mxcu_enter(call, stream));
    *out = s->blas;
    if (s->blas)
        return MXC_OK;
    *out = new (std::nothrow) mxcu_blas();
    if (!*out)
        return MXC_FAIL(MXC_ENOMEM, "GPU: no memory for matrix products");
    status = create_handles(*out, *stream);
    if (status == MXC_OK)
        s->blas = *out;
    else
        mxcu_blas_close(*out);
    return status;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static cudaDataType_t type_of(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F64:
        return CUDA_R_64F;
    case MXC_F16:
        return CUDA_R_16F;
    case MXC_BF16:
        return CUDA_R_16BF;
    default:
        return CUDA_R_32F;
    }
}

/* float32 is computed in float32 unless MXC_GPU_TF32 is 2, which allows tensor cores with 10 bits of mantissa. */
static cublasComputeType_t compute_of(mxc_dtype dtype) {
    if (dtype == MXC_F64)
        return CUBLAS_COMPUTE_64F;
    return dtype == MXC_F32 && mxcu_option(MXCI_OPT_MXC_GPU_TF32) > 1 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                      : CUBLAS_COMPUTE_32F;
}

/* alpha or beta in the type that products of the dtype are computed in: double for float64, else float. Both libraries
 * read it through a void pointer during the call. */
struct factor {
    double wide;
    float narrow;
    bool is_wide;

    factor(const mxci_gemm_args *g, double value) : wide(value), narrow((float)value), is_wide(g->dtype == MXC_F64) {
    }
    const void *get() const {
        return is_wide ? (const void *)&wide : &narrow;
    }
};

/* ---- cuBLASLt ---------------------------------------------------------------------------------------------------- */

static bool succeeded(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS;
}

/* The largest power of two, at most 16, that divides all addresses. Kernels load at most 16 bytes at a time, and the
 * heuristics exclude those that need more alignment than this. */
static uint32_t alignment_of(const matmul_job &j) {
    const uintptr_t any = (uintptr_t)j.g->a | (uintptr_t)j.g->b | (uintptr_t)j.g->c | (uintptr_t)j.vector | 16;
    return (uint32_t)(any & -any);
}

/* A C-order matrix (rows, columns) is a column-major one of (columns, rows). row: elements from row to row; stride:
 * from product to product of the batch. */
static bool describe_matrix(cublasLtMatrixLayoutOpaque_t *to, const mxci_gemm_args *g, cudaDataType_t type,
                            int64_t rows, int64_t columns, int64_t row, int64_t stride) {
    const int32_t batch = (int32_t)g->batch;
    return succeeded(cublasLtMatrixLayoutInit(to, type, (uint64_t)columns, (uint64_t)rows, row)) &&
           succeeded(cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch)) &&
           succeeded(cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                      sizeof stride));
}

static bool describe_matrices(plan *p, const matmul_job &j) {
    const mxci_gemm_args *g = j.g;
    const cudaDataType_t type = type_of(g->dtype);
    const int64_t a_rows = g->transpose_a ? g->k : g->m, b_rows = g->transpose_b ? g->n : g->k;
    return describe_matrix(&p->a, g, type, a_rows, g->m + g->k - a_rows, g->lda, g->a_stride) &&
           describe_matrix(&p->b, g, type, b_rows, g->n + g->k - b_rows, g->ldb, g->b_stride) &&
           describe_matrix(&p->c, g, j.c_type, g->m, g->n, g->ldc, g->c_stride);
}

/* A plan is shared by all products of its key, but the vector is this call's. */
static bool set_vector(plan *p, const matmul_job &j) {
    return !j.vector || succeeded(cublasLtMatmulDescSetAttribute(&p->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                                 &j.vector, sizeof j.vector));
}

/* op of cuBLASLt's first operand is B's, of its second A's. Scale type: float64 for float64, else float32. */
static bool describe_product(plan *p, const matmul_job &j) {
    const cublasOperation_t a = j.g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t b = j.g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtMatmulDesc_t d = &p->product;
    return succeeded(
               cublasLtMatmulDescInit(d, compute_of(j.g->dtype), j.g->dtype == MXC_F64 ? CUDA_R_64F : CUDA_R_32F)) &&
           succeeded(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a)) &&
           succeeded(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b)) &&
           succeeded(
               cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &j.epilogue, sizeof j.epilogue)) &&
           set_vector(p, j);
}

/* Limits the heuristics to the workspace, to the alignment of this call, and to kernels that keep partial sums of
 * split-K in the compute type. */
static bool set_preference(cublasLtMatmulPreferenceOpaque_t *preference, const matmul_job &j) {
    static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    };
    const uint64_t workspace = WORKSPACE;
    const uint32_t alignment = alignment_of(j), exact_sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    bool fine = succeeded(cublasLtMatmulPreferenceInit(preference)) &&
                succeeded(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                               &workspace, sizeof workspace)) &&
                succeeded(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                               &exact_sums, sizeof exact_sums));
    for (cublasLtMatmulPreferenceAttributes_t attribute : aligned)
        fine = fine &&
               succeeded(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof alignment));
    return fine;
}

/* Fill in a new plan. Where cuBLASLt refuses a description or knows no kernel, n stays 0, which is kept as "not
 * served". */
static void query_heuristics(cublasLtHandle_t handle, plan *p, const matmul_job &j) {
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t found[ALGORITHMS];
    const int wanted = mxcu_option(MXCI_OPT_MXC_GPU_TUNE) ? ALGORITHMS : 1;
    int n = 0;
    if (!describe_product(p, j) || !describe_matrices(p, j) || !set_preference(&preference, j) ||
        !succeeded(cublasLtMatmulAlgoGetHeuristic(handle, &p->product, &p->b, &p->a, &p->c, &p->c, &preference, wanted,
                                                  found, &n)))
        return;
    for (int i = 0; i < n; i++)
        if (succeeded(found[i].state))
            p->algorithms[p->n++] = found[i].algo;
}

/* *out = the plan of the GPU's cache, made if it is new there. measured, unless NULL, replaces it, unless another
 * stream has measured the key meanwhile: then that one's choice is taken, so that all streams use one algorithm. False
 * for lack of memory. */
static bool plan_of(int id, const mxcu_blas *blas, const matmul_job &j, const plan *measured, plan *out) {
    const mxci_gemm_args *g = j.g;
    const int64_t key[KEY] = {
        g->dtype, j.c_type, j.epilogue, alignment_of(j), g->transpose_a, g->transpose_b, g->m,        g->n,
        g->k,     g->batch, g->lda,     g->ldb,          g->ldc,         g->a_stride,    g->b_stride, g->c_stride,
    };
    gpu_plans *known_plans = plans_of(id);
    int known;
    if (!known_plans)
        return false;
    std::lock_guard<std::mutex> held(known_plans->lock);
    plan *p = known_plans->plans.find(key, &known);
    if (!known && !measured)
        query_heuristics((cublasLtHandle_t)blas->handle, p, j);
    if (measured && !p->measured)
        *p = *measured;
    *out = *p;
    return true;
}

/* Sizes beyond 32 bits, and empty sums (k = 0, where C = beta C), are left to cuBLAS. */
static bool fits_32_bits(const mxci_gemm_args *g) {
    return g->k > 0 && g->m <= INT32_MAX && g->n <= INT32_MAX && g->k <= INT32_MAX && g->batch <= INT32_MAX;
}

static cublasStatus_t run(const mxcu_blas *blas, cudaStream_t stream, plan *p, int algorithm, const mxci_gemm_args *g) {
    const factor alpha(g, g->alpha), beta(g, g->beta);
    return cublasLtMatmul((cublasLtHandle_t)blas->handle, &p->product, alpha.get(), g->b, &p->b, g->a, &p->a,
                          beta.get(), g->c, &p->c, g->c, &p->c, &p->algorithms[algorithm], blas->workspace, WORKSPACE,
                          stream);
}

/* Leave in the plan only the fastest algorithm that runs; none: n = 0. Overwrites C several times, which is why beta
 * must be 0. */
static void measure(const mxcu_blas *blas, cudaStream_t stream, plan *p, const mxci_gemm_args *g) {
    const int found = mxcu_fastest(stream, p->n, [&](int i) { return succeeded(run(blas, stream, p, i, g)); });
    p->algorithms[0] = p->algorithms[found < 0 ? 0 : found];
    p->n = found >= 0;
    p->measured = true;
}

/* Compute by cuBLASLt if it serves the product. Nothing is measured during capture (the host may not wait) or where C
 * is added to. */
static mxc_status multiply_lt(const mxc_op_call *call, mxcu_blas *blas, cudaStream_t stream, const matmul_job &j,
                              int *served) {
    const int id = static_cast<const mxcu_stream *>(call->run->stream)->id;
    plan p;
    *served = fits_32_bits(j.g) && plan_of(id, blas, j, nullptr, &p) && p.n && set_vector(&p, j);
    if (*served && p.n > 1 && !p.measured && j.g->beta == 0 && !mxcu_is_capturing(call)) {
        measure(blas, stream, &p, j.g);
        *served = plan_of(id, blas, j, &p, &p) && p.n && set_vector(&p, j);
    }
    return *served ? check(run(blas, stream, &p, 0, j.g), "cublasLtMatmul") : MXC_OK;
}

/* ---- cuBLAS ------------------------------------------------------------------------------------------------------ */

/* cuBLAS refuses leading dimensions of 0, which matrices without elements have. */
static int64_t at_least_1(int64_t n) {
    return n > 0 ? n : 1;
}

static mxc_status multiply_cublas(mxcu_blas *blas, const matmul_job &j) {
    const mxci_gemm_args *g = j.g;
    const cudaDataType_t type = type_of(g->dtype);
    const factor alpha(g, g->alpha), beta(g, g->beta);
    return check(cublasGemmStridedBatchedEx_64(blas->handle, g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                               g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, g->n, g->m, g->k,
                                               alpha.get(), g->b, type, at_least_1(g->ldb), g->b_stride, g->a, type,
                                               at_least_1(g->lda), g->a_stride, beta.get(), g->c, j.c_type, g->ldc,
                                               g->c_stride, g->batch, compute_of(g->dtype), CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
}

/* By cuBLASLt, else by cuBLAS. Products without elements queue nothing. */
static mxc_status multiply(const mxc_op_call *call, const mxci_gemm_args *g, cudaDataType_t c_type) {
    const matmul_job j = {g, c_type, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
    mxcu_blas *blas;
    cudaStream_t stream;
    int served;
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return MXC_OK;
    MXC_TRY(blas_of(call, &blas, &stream));
    MXC_TRY(multiply_lt(call, blas, stream, j, &served));
    return served ? MXC_OK : multiply_cublas(blas, j);
}

mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g) {
    return multiply(call, g, type_of(g->dtype));
}

mxc_status mxcu_gemm_wide(const mxc_op_call *call, const mxci_gemm_args *g) {
    return multiply(call, g, g->dtype == MXC_F64 ? CUDA_R_64F : CUDA_R_32F);
}

/* By cuBLASLt or not at all: cuBLAS has no epilogues. */
static mxc_status multiply_epilogue(const mxc_op_call *call, const mxci_gemm_args *g, cublasLtEpilogue_t epilogue,
                                    void *vector, int *served) {
    const matmul_job j = {g, type_of(g->dtype), epilogue, vector};
    mxcu_blas *blas;
    cudaStream_t stream;
    *served = 0;
    if (g->m == 0 || g->n == 0 || g->batch != 1)
        return MXC_OK;
    MXC_TRY(blas_of(call, &blas, &stream));
    return multiply_lt(call, blas, stream, j, served);
}

mxc_status mxcu_gemm_bias_relu(const mxc_op_call *call, const mxci_gemm_args *g, int relu, int *served) {
    static const cublasLtEpilogue_t epilogues[2][2] = {
        {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS},
        {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS},
    };
    return multiply_epilogue(call, g, epilogues[relu][g->bias != nullptr], const_cast<void *>(g->bias), served);
}

/* BGRADB: sums over the second operand's k, which is our A since the operands change places. */
mxc_status mxcu_gemm_bias_gradient(const mxc_op_call *call, const mxci_gemm_args *g, void *sums, int *served) {
    return multiply_epilogue(call, g, CUBLASLT_EPILOGUE_BGRADB, sums, served);
}
