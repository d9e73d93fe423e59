/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family contrib as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_CONTRIB_HPP
#define MXC_OPERATORS_CONTRIB_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Count sketch: out (...,out_dim) with out[...,j] = the sum of s[i] data[...,i] over all i with h[i] = j; data
 * (...,N), h and s (1,N). */
struct contrib_count_sketch_settings {
    /** int, required. Size of the last axis of out, the length of a sketch. */
    required<int64_t> out_dim;
    /** int, optional, default=32. Accepted for compatibility with MXNet; has no effect, since rows are distributed over
     * threads. */
    int64_t processing_batch_size = 32;
    static constexpr const char *op = "_contrib_count_sketch";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("out_dim", out_dim);
        visitor("processing_batch_size", processing_batch_size, 32);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray contrib_count_sketch(const ndarray &data, const ndarray &h, const ndarray &s,
    const contrib_count_sketch_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &h, &s});
}
inline void contrib_count_sketch(into out, const ndarray &data, const ndarray &h, const ndarray &s,
    const contrib_count_sketch_settings &settings) {
    detail::invoke_into(out, settings, {&data, &h, &s});
}
inline symbol contrib_count_sketch(const symbol &data, const symbol &h, const symbol &s,
    const contrib_count_sketch_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "h", "s"}, {&data, &h, &s});
}

/** Discrete Fourier transform of each row: data (...,D), out (...,2D), pairs of real and imaginary part */
struct contrib_fft_settings {
    /** int, optional, default=128. Accepted for compatibility with MXNet; has no effect, since rows are distributed
     * over threads. */
    int64_t compute_size = 128;
    static constexpr const char *op = "_contrib_fft";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("compute_size", compute_size, 128);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_fft(const ndarray &data, const contrib_fft_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_fft(into out, const ndarray &data, const contrib_fft_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_fft(const symbol &data, const contrib_fft_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Log-likelihoods of Hawkes processes: output (N) for N samples of K processes with background intensities lda (N,K),
 * branching ratios alpha (K) and decays beta (K), and out_state (N,K), the memory at the end; state (N,K) is the memory
 * at the start, lags (N,T) the times between events, marks (N,T) their processes, valid_length (N) the numbers of
 * events and max_time (N) the times observed */
inline results contrib_hawkesll(const ndarray &lda, const ndarray &alpha, const ndarray &beta, const ndarray &state,
    const ndarray &lags, const ndarray &marks, const ndarray &valid_length, const ndarray &max_time) {
    return detail::invoke<results>("_contrib_hawkesll", {&lda, &alpha, &beta, &state, &lags, &marks, &valid_length,
        &max_time});
}
inline void contrib_hawkesll(into out, const ndarray &lda, const ndarray &alpha, const ndarray &beta,
    const ndarray &state, const ndarray &lags, const ndarray &marks, const ndarray &valid_length,
    const ndarray &max_time) {
    detail::invoke_into(out, "_contrib_hawkesll", {&lda, &alpha, &beta, &state, &lags, &marks, &valid_length,
        &max_time});
}
inline symbol contrib_hawkesll(const symbol &lda, const symbol &alpha, const symbol &beta, const symbol &state,
    const symbol &lags, const symbol &marks, const symbol &valid_length, const symbol &max_time, text name = {}) {
    return detail::apply("_contrib_hawkesll", name, {"lda", "alpha", "beta", "state", "lags", "marks", "valid_length",
        "max_time"}, {&lda, &alpha, &beta, &state, &lags, &marks, &valid_length, &max_time});
}

/** Real part of the inverse discrete Fourier transform of each row, times D (not normalized): data (...,2D), pairs of
 * real and imaginary part, out (...,D) */
struct contrib_ifft_settings {
    /** int, optional, default=128. Accepted for compatibility with MXNet; has no effect, since rows are distributed
     * over threads. */
    int64_t compute_size = 128;
    static constexpr const char *op = "_contrib_ifft";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("compute_size", compute_size, 128);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_ifft(const ndarray &data, const contrib_ifft_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_ifft(into out, const ndarray &data, const contrib_ifft_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_ifft(const symbol &data, const contrib_ifft_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Scores of attention between two sequences: out (B*heads,Lq,Lk) = Q K^T / sqrt(D) for each sample and head; queries
 * (Lq,B,heads*D), keys_values (Lk,B,heads*2*D) with K and V of each head side by side */
struct contrib_interleaved_matmul_encdec_qk_settings {
    /** int, required. Number of heads. */
    required<int64_t> heads;
    static constexpr const char *op = "_contrib_interleaved_matmul_encdec_qk";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("heads", heads);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_interleaved_matmul_encdec_qk(const ndarray &queries, const ndarray &keys_values,
    const contrib_interleaved_matmul_encdec_qk_settings &settings) {
    return detail::invoke<ndarray>(settings, {&queries, &keys_values});
}
inline void contrib_interleaved_matmul_encdec_qk(into out, const ndarray &queries, const ndarray &keys_values,
    const contrib_interleaved_matmul_encdec_qk_settings &settings) {
    detail::invoke_into(out, settings, {&queries, &keys_values});
}
inline symbol contrib_interleaved_matmul_encdec_qk(const symbol &queries, const symbol &keys_values,
    const contrib_interleaved_matmul_encdec_qk_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"queries", "keys_values"}, {&queries, &keys_values});
}

/** Weighted values of attention between two sequences: out (Lq,B,heads*D) = attention V for each sample and head;
 * keys_values (Lk,B,heads*2*D) with K and V of each head side by side, attention (B*heads,Lq,Lk) */
struct contrib_interleaved_matmul_encdec_valatt_settings {
    /** int, required. Number of heads. */
    required<int64_t> heads;
    static constexpr const char *op = "_contrib_interleaved_matmul_encdec_valatt";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("heads", heads);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_interleaved_matmul_encdec_valatt(const ndarray &keys_values, const ndarray &attention,
    const contrib_interleaved_matmul_encdec_valatt_settings &settings) {
    return detail::invoke<ndarray>(settings, {&keys_values, &attention});
}
inline void contrib_interleaved_matmul_encdec_valatt(into out, const ndarray &keys_values, const ndarray &attention,
    const contrib_interleaved_matmul_encdec_valatt_settings &settings) {
    detail::invoke_into(out, settings, {&keys_values, &attention});
}
inline symbol contrib_interleaved_matmul_encdec_valatt(const symbol &keys_values, const symbol &attention,
    const contrib_interleaved_matmul_encdec_valatt_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"keys_values", "attention"}, {&keys_values, &attention});
}

/** Scores of self attention: out (B*heads,L,L) = Q K^T / sqrt(D) for each sample and head; queries_keys_values
 * (L,B,heads*3*D) with Q, K and V of each head side by side */
struct contrib_interleaved_matmul_selfatt_qk_settings {
    /** int, required. Number of heads. */
    required<int64_t> heads;
    static constexpr const char *op = "_contrib_interleaved_matmul_selfatt_qk";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("heads", heads);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_interleaved_matmul_selfatt_qk(const ndarray &queries_keys_values,
    const contrib_interleaved_matmul_selfatt_qk_settings &settings) {
    return detail::invoke<ndarray>(settings, {&queries_keys_values});
}
inline void contrib_interleaved_matmul_selfatt_qk(into out, const ndarray &queries_keys_values,
    const contrib_interleaved_matmul_selfatt_qk_settings &settings) {
    detail::invoke_into(out, settings, {&queries_keys_values});
}
inline symbol contrib_interleaved_matmul_selfatt_qk(const symbol &queries_keys_values,
    const contrib_interleaved_matmul_selfatt_qk_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"queries_keys_values"}, {&queries_keys_values});
}

/** Weighted values of self attention: out (L,B,heads*D) = attention V for each sample and head; queries_keys_values
 * (L,B,heads*3*D) with Q, K and V of each head side by side, attention (B*heads,L,L) */
struct contrib_interleaved_matmul_selfatt_valatt_settings {
    /** int, required. Number of heads. */
    required<int64_t> heads;
    static constexpr const char *op = "_contrib_interleaved_matmul_selfatt_valatt";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("heads", heads);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_interleaved_matmul_selfatt_valatt(const ndarray &queries_keys_values, const ndarray &attention,
    const contrib_interleaved_matmul_selfatt_valatt_settings &settings) {
    return detail::invoke<ndarray>(settings, {&queries_keys_values, &attention});
}
inline void contrib_interleaved_matmul_selfatt_valatt(into out, const ndarray &queries_keys_values,
    const ndarray &attention, const contrib_interleaved_matmul_selfatt_valatt_settings &settings) {
    detail::invoke_into(out, settings, {&queries_keys_values, &attention});
}
inline symbol contrib_interleaved_matmul_selfatt_valatt(const symbol &queries_keys_values, const symbol &attention,
    const contrib_interleaved_matmul_selfatt_valatt_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"queries_keys_values", "attention"}, {&queries_keys_values, &attention});
}

} // namespace op
} // namespace mxc

#endif
