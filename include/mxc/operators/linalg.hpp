/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family linalg as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_LINALG_HPP
#define MXC_OPERATORS_LINALG_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Determinants of square matrices A (...,n,n): output0 (...), (1,) for a single matrix */
inline ndarray linalg_det(const ndarray &A) {
    return detail::invoke<ndarray>("_linalg_det", {&A});
}
inline void linalg_det(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_det", {&A});
}
inline symbol linalg_det(const symbol &A, text name = {}) {
    return detail::apply("_linalg_det", name, {"A"}, {&A});
}

/** Diagonals of square matrices A (...,n,n): out (...,n-|offset|) */
struct linalg_extractdiag_settings {
    /** int, optional, default=0. Diagonal: 0 is the main one, positive ones are above it, negative ones below. */
    int64_t offset = 0;
    static constexpr const char *op = "_linalg_extractdiag";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("offset", offset, 0);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_extractdiag(const ndarray &A, const linalg_extractdiag_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_extractdiag(into out, const ndarray &A, const linalg_extractdiag_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_extractdiag(const symbol &A, const linalg_extractdiag_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Triangles of square matrices A (...,n,n): out (...,m(m+1)/2), m = n - |offset|; lower triangles by rows, upper ones
 * by columns */
struct linalg_extracttrian_settings {
    /** int, optional, default=0. Diagonal on which the triangle begins: above the main one if positive, below if
     * negative. */
    int64_t offset = 0;
    /** boolean, optional, default=True. Use the lower triangle; otherwise the upper one. Used where offset is 0. */
    bool lower = true;
    static constexpr const char *op = "_linalg_extracttrian";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("offset", offset, 0);
        visitor("lower", lower, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_extracttrian(const ndarray &A, const linalg_extracttrian_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_extracttrian(into out, const ndarray &A, const linalg_extracttrian_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_extracttrian(const symbol &A, const linalg_extracttrian_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** LQ factorization A = L Q of matrices A (...,m,n), m <= n: output0 = Q (...,m,n) with orthonormal rows, output1 = L
 * (...,m,m), lower triangular. The gradient needs rows that are linearly independent */
inline results linalg_gelqf(const ndarray &A) {
    return detail::invoke<results>("_linalg_gelqf", {&A});
}
inline void linalg_gelqf(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_gelqf", {&A});
}
inline symbol linalg_gelqf(const symbol &A, text name = {}) {
    return detail::apply("_linalg_gelqf", name, {"A"}, {&A});
}

/** out (...,M,N) = alpha op(A) op(B) + beta C for op(A) (...,M,K), op(B) (...,K,N), C (...,M,N) */
struct linalg_gemm_settings {
    /** boolean, optional, default=false. Use the transpose of A as op(A). */
    bool transpose_a = false;
    /** boolean, optional, default=false. Use the transpose of B as op(B). */
    bool transpose_b = false;
    /** float, optional, default=1. Factor of the product. */
    double alpha = 1;
    /** float, optional, default=1. Factor of C. */
    double beta = 1;
    /** int, optional, default=-2. Axis of the matrix rows; the columns are the last axis. Negative values count from
     * the end. */
    int64_t axis = -2;
    static constexpr const char *op = "_linalg_gemm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose_a", transpose_a, false);
        visitor("transpose_b", transpose_b, false);
        visitor("alpha", alpha, 1);
        visitor("beta", beta, 1);
        visitor("axis", axis, -2);
    }
    static constexpr size_t count = 5, text_bytes = 99; /* room for visit */
};
inline ndarray linalg_gemm(const ndarray &A, const ndarray &B, const ndarray &C,
    const linalg_gemm_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A, &B, &C});
}
inline void linalg_gemm(into out, const ndarray &A, const ndarray &B, const ndarray &C,
    const linalg_gemm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A, &B, &C});
}
inline symbol linalg_gemm(const symbol &A, const symbol &B, const symbol &C, const linalg_gemm_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"A", "B", "C"}, {&A, &B, &C});
}

/** out (...,M,N) = alpha op(A) op(B) for op(A) (...,M,K), op(B) (...,K,N) */
struct linalg_gemm2_settings {
    /** boolean, optional, default=false. Use the transpose of A as op(A). */
    bool transpose_a = false;
    /** boolean, optional, default=false. Use the transpose of B as op(B). */
    bool transpose_b = false;
    /** float, optional, default=1. Factor of the product. */
    double alpha = 1;
    /** int, optional, default=-2. Axis of the matrix rows; the columns are the last axis. Negative values count from
     * the end. */
    int64_t axis = -2;
    static constexpr const char *op = "_linalg_gemm2";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose_a", transpose_a, false);
        visitor("transpose_b", transpose_b, false);
        visitor("alpha", alpha, 1);
        visitor("axis", axis, -2);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline ndarray linalg_gemm2(const ndarray &A, const ndarray &B, const linalg_gemm2_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A, &B});
}
inline void linalg_gemm2(into out, const ndarray &A, const ndarray &B, const linalg_gemm2_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A, &B});
}
inline symbol linalg_gemm2(const symbol &A, const symbol &B, const linalg_gemm2_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"A", "B"}, {&A, &B});
}

/** Inverses of square matrices A (...,n,n): out (...,n,n). A singular matrix is an error */
inline ndarray linalg_inverse(const ndarray &A) {
    return detail::invoke<ndarray>("_linalg_inverse", {&A});
}
inline void linalg_inverse(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_inverse", {&A});
}
inline symbol linalg_inverse(const symbol &A, text name = {}) {
    return detail::apply("_linalg_inverse", name, {"A"}, {&A});
}

/** Square matrices out (...,n+|offset|,n+|offset|) with A (...,n) on a diagonal, 0 elsewhere */
struct linalg_makediag_settings {
    /** int, optional, default=0. Diagonal: 0 is the main one, positive ones are above it, negative ones below. */
    int64_t offset = 0;
    static constexpr const char *op = "_linalg_makediag";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("offset", offset, 0);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_makediag(const ndarray &A, const linalg_makediag_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_makediag(into out, const ndarray &A, const linalg_makediag_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_makediag(const symbol &A, const linalg_makediag_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Square matrices out (...,n,n), n = m + |offset|, with A (...,m(m+1)/2) as triangles, 0 elsewhere */
struct linalg_maketrian_settings {
    /** int, optional, default=0. Diagonal on which the triangle begins: above the main one if positive, below if
     * negative. */
    int64_t offset = 0;
    /** boolean, optional, default=True. Use the lower triangle; otherwise the upper one. Used where offset is 0. */
    bool lower = true;
    static constexpr const char *op = "_linalg_maketrian";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("offset", offset, 0);
        visitor("lower", lower, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_maketrian(const ndarray &A, const linalg_maketrian_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_maketrian(into out, const ndarray &A, const linalg_maketrian_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_maketrian(const symbol &A, const linalg_maketrian_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Cholesky factorization of positive definite A (...,N,N): out = L with A = L L', or with lower=false U with A = U' U
 * */
struct linalg_potrf_settings {
    /** boolean, optional, default=true. Use lower triangles; otherwise upper ones. */
    bool lower = true;
    static constexpr const char *op = "_linalg_potrf";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lower", lower, true);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray linalg_potrf(const ndarray &A, const linalg_potrf_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_potrf(into out, const ndarray &A, const linalg_potrf_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_potrf(const symbol &A, const linalg_potrf_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Inverse from a Cholesky factor: out = the inverse of A A' for lower triangular A (...,N,N), or with lower=false of
 * A' A for upper triangular A */
struct linalg_potri_settings {
    /** boolean, optional, default=true. Use lower triangles; otherwise upper ones. */
    bool lower = true;
    static constexpr const char *op = "_linalg_potri";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lower", lower, true);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray linalg_potri(const ndarray &A, const linalg_potri_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_potri(into out, const ndarray &A, const linalg_potri_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_potri(const symbol &A, const linalg_potri_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Determinants of square matrices A (...,n,n) as their sign, output0 (...), and the logarithm of their magnitude,
 * output1 (...); (1,) for a single matrix. The gradient of the sign is 0 */
inline results linalg_slogdet(const ndarray &A) {
    return detail::invoke<results>("_linalg_slogdet", {&A});
}
inline void linalg_slogdet(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_slogdet", {&A});
}
inline symbol linalg_slogdet(const symbol &A, text name = {}) {
    return detail::apply("_linalg_slogdet", name, {"A"}, {&A});
}

/** A (...,N,N): out (...) = the sum of the logarithms of the diagonal */
inline ndarray linalg_sumlogdiag(const ndarray &A) {
    return detail::invoke<ndarray>("_linalg_sumlogdiag", {&A});
}
inline void linalg_sumlogdiag(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_sumlogdiag", {&A});
}
inline symbol linalg_sumlogdiag(const symbol &A, text name = {}) {
    return detail::apply("_linalg_sumlogdiag", name, {"A"}, {&A});
}

/** Eigenvectors, rows of output0 = U (...,n,n), and eigenvalues, output1 = L (...,n), ascending, of symmetric matrices
 * A (...,n,n): A = U^T diag(L) U. The lower triangle of A is read. The gradient needs eigenvalues that differ */
inline results linalg_syevd(const ndarray &A) {
    return detail::invoke<results>("_linalg_syevd", {&A});
}
inline void linalg_syevd(into out, const ndarray &A) {
    detail::invoke_into(out, "_linalg_syevd", {&A});
}
inline symbol linalg_syevd(const symbol &A, text name = {}) {
    return detail::apply("_linalg_syevd", name, {"A"}, {&A});
}

/** A (...,M,K): out (...,M,M) = alpha A A', or with transpose (...,K,K) = alpha A' A */
struct linalg_syrk_settings {
    /** boolean, optional, default=false. Compute A' A instead of A A'. */
    bool transpose = false;
    /** float, optional, default=1. Factor of the product. */
    double alpha = 1;
    static constexpr const char *op = "_linalg_syrk";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose", transpose, false);
        visitor("alpha", alpha, 1);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_syrk(const ndarray &A, const linalg_syrk_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A});
}
inline void linalg_syrk(into out, const ndarray &A, const linalg_syrk_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A});
}
inline symbol linalg_syrk(const symbol &A, const linalg_syrk_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A"}, {&A});
}

/** Product with a triangular matrix A (...,N,N): out = alpha op(A) B, or with rightside alpha B op(A) */
struct linalg_trmm_settings {
    /** boolean, optional, default=false. Use the transpose of A as op(A). */
    bool transpose = false;
    /** boolean, optional, default=false. A is the right factor; otherwise the left one. */
    bool rightside = false;
    /** boolean, optional, default=true. A is lower triangular; otherwise upper triangular. The other triangle is not
     * read. */
    bool lower = true;
    /** float, optional, default=1. Factor of B. */
    double alpha = 1;
    static constexpr const char *op = "_linalg_trmm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose", transpose, false);
        visitor("rightside", rightside, false);
        visitor("lower", lower, true);
        visitor("alpha", alpha, 1);
    }
    static constexpr size_t count = 4, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_trmm(const ndarray &A, const ndarray &B, const linalg_trmm_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A, &B});
}
inline void linalg_trmm(into out, const ndarray &A, const ndarray &B, const linalg_trmm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A, &B});
}
inline symbol linalg_trmm(const symbol &A, const symbol &B, const linalg_trmm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A", "B"}, {&A, &B});
}

/** Solution X of a triangular system, A (...,N,N): op(A) X = alpha B, or with rightside X op(A) = alpha B */
struct linalg_trsm_settings {
    /** boolean, optional, default=false. Use the transpose of A as op(A). */
    bool transpose = false;
    /** boolean, optional, default=false. A is the right factor; otherwise the left one. */
    bool rightside = false;
    /** boolean, optional, default=true. A is lower triangular; otherwise upper triangular. The other triangle is not
     * read. */
    bool lower = true;
    /** float, optional, default=1. Factor of B. */
    double alpha = 1;
    static constexpr const char *op = "_linalg_trsm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose", transpose, false);
        visitor("rightside", rightside, false);
        visitor("lower", lower, true);
        visitor("alpha", alpha, 1);
    }
    static constexpr size_t count = 4, text_bytes = 33; /* room for visit */
};
inline ndarray linalg_trsm(const ndarray &A, const ndarray &B, const linalg_trsm_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&A, &B});
}
inline void linalg_trsm(into out, const ndarray &A, const ndarray &B, const linalg_trsm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&A, &B});
}
inline symbol linalg_trsm(const symbol &A, const symbol &B, const linalg_trsm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"A", "B"}, {&A, &B});
}

/** Matrix products of a batch: out (B,M,N) = lhs (B,M,K) rhs (B,K,N) */
struct batch_dot_settings {
    /** boolean, optional, default=false. Transpose lhs first. */
    bool transpose_a = false;
    /** boolean, optional, default=false. Transpose rhs first. */
    bool transpose_b = false;
    /** {None, 'default'}, optional, default=None. Storage type of out. Only default, which None means, is supported. */
    text forward_stype = text();
    static constexpr const char *op = "batch_dot";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose_a", transpose_a, false);
        visitor("transpose_b", transpose_b, false);
        visitor("forward_stype", forward_stype, text());
    }
    static constexpr size_t count = 3, text_bytes = 0; /* room for visit */
};
inline ndarray batch_dot(const ndarray &lhs, const ndarray &rhs, const batch_dot_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void batch_dot(into out, const ndarray &lhs, const ndarray &rhs, const batch_dot_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol batch_dot(const symbol &lhs, const symbol &rhs, const batch_dot_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = the diagonals k of the matrices that axis1 and axis2 of data span, as last axis; of data (n), a square matrix
 * with data on diagonal k */
struct diag_settings {
    /** int, optional, default=0. Diagonal: 0 is the main one, positive ones are above it, negative ones below. */
    int64_t k = 0;
    /** int, optional, default=0. Axis of the matrices' rows. Negative values count from the end. Not used for data of
     * one axis. */
    int64_t axis1 = 0;
    /** int, optional, default=1. Axis of the matrices' columns. Negative values count from the end. Not used for data
     * of one axis. */
    int64_t axis2 = 1;
    static constexpr const char *op = "diag";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("k", k, 0);
        visitor("axis1", axis1, 0);
        visitor("axis2", axis2, 1);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray diag(const ndarray &data, const diag_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void diag(into out, const ndarray &data, const diag_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol diag(const symbol &data, const diag_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = matrix product: the sum over the last axis of lhs and the first axis of rhs; of two vectors shape (1,) */
struct dot_settings {
    /** boolean, optional, default=false. Transpose lhs first. */
    bool transpose_a = false;
    /** boolean, optional, default=false. Transpose rhs first. */
    bool transpose_b = false;
    /** {None, 'default'}, optional, default=None. Storage type of out. Only default, which None means, is supported. */
    text forward_stype = text();
    static constexpr const char *op = "dot";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transpose_a", transpose_a, false);
        visitor("transpose_b", transpose_b, false);
        visitor("forward_stype", forward_stype, text());
    }
    static constexpr size_t count = 3, text_bytes = 0; /* room for visit */
};
inline ndarray dot(const ndarray &lhs, const ndarray &rhs, const dot_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void dot(into out, const ndarray &lhs, const ndarray &rhs, const dot_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol dot(const symbol &lhs, const symbol &rhs, const dot_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** Khatri-Rao product, column by column the Kronecker product, of matrices (r_i,c): out (r_0 r_1 ...,c) */
struct khatri_rao_settings {
    static constexpr const char *op = "khatri_rao";
    template <class Visitor> void visit(Visitor &&) const {
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray khatri_rao(span<const ndarray> data) {
    return detail::invoke_list<ndarray>(khatri_rao_settings(), "num_args", data);
}
inline void khatri_rao(into out, span<const ndarray> data) {
    detail::invoke_list_into(out, khatri_rao_settings(), "num_args", data);
}
inline symbol khatri_rao(span<const symbol> data, text name = {}) {
    return detail::apply_list(khatri_rao_settings(), name, "num_args", data);
}

} // namespace op
} // namespace mxc

#endif
