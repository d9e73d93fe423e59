/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family random as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_RANDOM_HPP
#define MXC_OPERATORS_RANDOM_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Random numbers from the exponential distribution with rate lam */
struct random_exponential_settings {
    /** float, optional, default=1.0. Rate, the inverse of the mean. */
    double lam = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_exponential";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lam", lam, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 4, text_bytes = 388; /* room for visit */
};
inline ndarray random_exponential(const random_exponential_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_exponential(into out, const random_exponential_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_exponential(as_symbol_t, const random_exponential_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the exponential distribution with rate lam, in the shape and dtype of data */
struct random_exponential_like_settings {
    /** float, optional, default=1.0. Rate, the inverse of the mean. */
    double lam = 1.0;
    static constexpr const char *op = "_random_exponential_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lam", lam, 1.0);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray random_exponential_like(const ndarray &data, const random_exponential_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_exponential_like(into out, const ndarray &data,
    const random_exponential_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_exponential_like(const symbol &data, const random_exponential_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random numbers from the gamma distribution with shape alpha and scale beta */
struct random_gamma_settings {
    /** float, optional, default=1.0. Shape of the distribution. */
    double alpha = 1.0;
    /** float, optional, default=1.0. Scale. */
    double beta = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_gamma";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha", alpha, 1.0);
        visitor("beta", beta, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_gamma(const random_gamma_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_gamma(into out, const random_gamma_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_gamma(as_symbol_t, const random_gamma_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the gamma distribution with shape alpha and scale beta, in the shape and dtype of data */
struct random_gamma_like_settings {
    /** float, optional, default=1.0. Shape of the distribution. */
    double alpha = 1.0;
    /** float, optional, default=1.0. Scale. */
    double beta = 1.0;
    static constexpr const char *op = "_random_gamma_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha", alpha, 1.0);
        visitor("beta", beta, 1.0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray random_gamma_like(const ndarray &data, const random_gamma_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_gamma_like(into out, const ndarray &data, const random_gamma_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_gamma_like(const symbol &data, const random_gamma_like_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random numbers from the negative binomial distribution with mean mu and variance mu + alpha mu^2 */
struct random_generalized_negative_binomial_settings {
    /** float, optional, default=1.0. Mean. */
    double mu = 1.0;
    /** float, optional, default=1.0. Dispersion: the variance is mu + alpha mu^2. */
    double alpha = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_generalized_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("mu", mu, 1.0);
        visitor("alpha", alpha, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_generalized_negative_binomial(const random_generalized_negative_binomial_settings &settings = {})
    {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_generalized_negative_binomial(into out,
    const random_generalized_negative_binomial_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_generalized_negative_binomial(as_symbol_t,
    const random_generalized_negative_binomial_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the negative binomial distribution with mean mu and variance mu + alpha mu^2, in the shape and
 * dtype of data */
struct random_generalized_negative_binomial_like_settings {
    /** float, optional, default=1.0. Mean. */
    double mu = 1.0;
    /** float, optional, default=1.0. Dispersion: the variance is mu + alpha mu^2. */
    double alpha = 1.0;
    static constexpr const char *op = "_random_generalized_negative_binomial_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("mu", mu, 1.0);
        visitor("alpha", alpha, 1.0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray random_generalized_negative_binomial_like(const ndarray &data,
    const random_generalized_negative_binomial_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_generalized_negative_binomial_like(into out, const ndarray &data,
    const random_generalized_negative_binomial_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_generalized_negative_binomial_like(const symbol &data,
    const random_generalized_negative_binomial_like_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random numbers from the negative binomial distribution: failures before success number k, with probability p of
 * success */
struct random_negative_binomial_settings {
    /** int, optional, default=1. Number of successes at which counting ends. */
    int64_t k = 1;
    /** float, optional, default=1.0. Probability of success. */
    double p = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("k", k, 1);
        visitor("p", p, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_negative_binomial(const random_negative_binomial_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_negative_binomial(into out, const random_negative_binomial_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_negative_binomial(as_symbol_t, const random_negative_binomial_settings &settings = {},
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the negative binomial distribution of the failures before success number k, with probability p
 * of success, in the shape and dtype of data */
struct random_negative_binomial_like_settings {
    /** int, optional, default=1. Number of successes at which counting ends. */
    int64_t k = 1;
    /** float, optional, default=1.0. Probability of success. */
    double p = 1.0;
    static constexpr const char *op = "_random_negative_binomial_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("k", k, 1);
        visitor("p", p, 1.0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray random_negative_binomial_like(const ndarray &data,
    const random_negative_binomial_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_negative_binomial_like(into out, const ndarray &data,
    const random_negative_binomial_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_negative_binomial_like(const symbol &data,
    const random_negative_binomial_like_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random numbers from the normal distribution with mean loc and standard deviation scale */
struct random_normal_settings {
    /** float, optional, default=0.0. Mean. */
    double loc = 0.0;
    /** float, optional, default=1.0. Standard deviation. */
    double scale = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_normal";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("loc", loc, 0.0);
        visitor("scale", scale, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_normal(const random_normal_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_normal(into out, const random_normal_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_normal(as_symbol_t, const random_normal_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the normal distribution with mean loc and standard deviation scale, in the shape and dtype of
 * data */
struct random_normal_like_settings {
    /** float, optional, default=0.0. Mean. */
    double loc = 0.0;
    /** float, optional, default=1.0. Standard deviation. */
    double scale = 1.0;
    static constexpr const char *op = "_random_normal_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("loc", loc, 0.0);
        visitor("scale", scale, 1.0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray random_normal_like(const ndarray &data, const random_normal_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_normal_like(into out, const ndarray &data, const random_normal_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_normal_like(const symbol &data, const random_normal_like_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Density of the Dirichlet distribution with concentrations alpha (...,K) at vectors of sample (...,K), whose first
 * axes are alpha's */
struct random_pdf_dirichlet_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_dirichlet";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_dirichlet(const ndarray &sample, const ndarray &alpha,
    const random_pdf_dirichlet_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &alpha});
}
inline void random_pdf_dirichlet(into out, const ndarray &sample, const ndarray &alpha,
    const random_pdf_dirichlet_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &alpha});
}
inline symbol random_pdf_dirichlet(const symbol &sample, const symbol &alpha,
    const random_pdf_dirichlet_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "alpha"}, {&sample, &alpha});
}

/** Density at sample of the exponential distribution with rate lam; the shape of lam is the first axes of sample's */
struct random_pdf_exponential_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_exponential";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_exponential(const ndarray &sample, const ndarray &lam,
    const random_pdf_exponential_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &lam});
}
inline void random_pdf_exponential(into out, const ndarray &sample, const ndarray &lam,
    const random_pdf_exponential_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &lam});
}
inline symbol random_pdf_exponential(const symbol &sample, const symbol &lam,
    const random_pdf_exponential_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "lam"}, {&sample, &lam});
}

/** Density at sample of the gamma distribution with shape alpha and rate beta; the shape of alpha and beta is the first
 * axes of sample's */
struct random_pdf_gamma_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_gamma";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_gamma(const ndarray &sample, const ndarray &alpha, const ndarray &beta,
    const random_pdf_gamma_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &alpha, &beta});
}
inline void random_pdf_gamma(into out, const ndarray &sample, const ndarray &alpha, const ndarray &beta,
    const random_pdf_gamma_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &alpha, &beta});
}
inline symbol random_pdf_gamma(const symbol &sample, const symbol &alpha, const symbol &beta,
    const random_pdf_gamma_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "alpha", "beta"}, {&sample, &alpha, &beta});
}

/** Density at sample of the negative binomial distribution with mean mu and variance mu + alpha mu^2; the shape of mu
 * and alpha is the first axes of sample's */
struct random_pdf_generalized_negative_binomial_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_generalized_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_generalized_negative_binomial(const ndarray &sample, const ndarray &mu, const ndarray &alpha,
    const random_pdf_generalized_negative_binomial_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &mu, &alpha});
}
inline void random_pdf_generalized_negative_binomial(into out, const ndarray &sample, const ndarray &mu,
    const ndarray &alpha, const random_pdf_generalized_negative_binomial_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &mu, &alpha});
}
inline symbol random_pdf_generalized_negative_binomial(const symbol &sample, const symbol &mu, const symbol &alpha,
    const random_pdf_generalized_negative_binomial_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "mu", "alpha"}, {&sample, &mu, &alpha});
}

/** Density at sample of the negative binomial distribution: sample failures before success number k, with probability p
 * of success; the shape of k and p is the first axes of sample's */
struct random_pdf_negative_binomial_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_negative_binomial(const ndarray &sample, const ndarray &k, const ndarray &p,
    const random_pdf_negative_binomial_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &k, &p});
}
inline void random_pdf_negative_binomial(into out, const ndarray &sample, const ndarray &k, const ndarray &p,
    const random_pdf_negative_binomial_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &k, &p});
}
inline symbol random_pdf_negative_binomial(const symbol &sample, const symbol &k, const symbol &p,
    const random_pdf_negative_binomial_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "k", "p"}, {&sample, &k, &p});
}

/** Density at sample of the normal distribution with mean mu and standard deviation sigma; the shape of mu and sigma is
 * the first axes of sample's */
struct random_pdf_normal_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_normal";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_normal(const ndarray &sample, const ndarray &mu, const ndarray &sigma,
    const random_pdf_normal_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &mu, &sigma});
}
inline void random_pdf_normal(into out, const ndarray &sample, const ndarray &mu, const ndarray &sigma,
    const random_pdf_normal_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &mu, &sigma});
}
inline symbol random_pdf_normal(const symbol &sample, const symbol &mu, const symbol &sigma,
    const random_pdf_normal_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "mu", "sigma"}, {&sample, &mu, &sigma});
}

/** Density at sample of the Poisson distribution with mean lam; the shape of lam is the first axes of sample's */
struct random_pdf_poisson_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_poisson";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_poisson(const ndarray &sample, const ndarray &lam,
    const random_pdf_poisson_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &lam});
}
inline void random_pdf_poisson(into out, const ndarray &sample, const ndarray &lam,
    const random_pdf_poisson_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &lam});
}
inline symbol random_pdf_poisson(const symbol &sample, const symbol &lam,
    const random_pdf_poisson_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "lam"}, {&sample, &lam});
}

/** Density at sample of the uniform distribution over [low, high); the shape of low and high is the first axes of
 * sample's */
struct random_pdf_uniform_settings {
    /** boolean, optional, default=false. Compute the logarithm of the density. */
    bool is_log = false;
    static constexpr const char *op = "_random_pdf_uniform";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_log", is_log, false);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray random_pdf_uniform(const ndarray &sample, const ndarray &low, const ndarray &high,
    const random_pdf_uniform_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&sample, &low, &high});
}
inline void random_pdf_uniform(into out, const ndarray &sample, const ndarray &low, const ndarray &high,
    const random_pdf_uniform_settings &settings = {}) {
    detail::invoke_into(out, settings, {&sample, &low, &high});
}
inline symbol random_pdf_uniform(const symbol &sample, const symbol &low, const symbol &high,
    const random_pdf_uniform_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"sample", "low", "high"}, {&sample, &low, &high});
}

/** Random numbers from the Poisson distribution with mean lam */
struct random_poisson_settings {
    /** float, optional, default=1.0. Mean. */
    double lam = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_poisson";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lam", lam, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 4, text_bytes = 388; /* room for visit */
};
inline ndarray random_poisson(const random_poisson_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_poisson(into out, const random_poisson_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_poisson(as_symbol_t, const random_poisson_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the Poisson distribution with mean lam, in the shape and dtype of data */
struct random_poisson_like_settings {
    /** float, optional, default=1.0. Mean. */
    double lam = 1.0;
    static constexpr const char *op = "_random_poisson_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lam", lam, 1.0);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray random_poisson_like(const ndarray &data, const random_poisson_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_poisson_like(into out, const ndarray &data, const random_poisson_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_poisson_like(const symbol &data, const random_poisson_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random whole numbers of [low, high), all equally likely */
struct random_randint_settings {
    /** int, required. Lower bound, inclusive. */
    required<int64_t> low;
    /** int, required. Upper bound, exclusive. */
    required<int64_t> high;
    /** tuple of int or None, optional, default=(). Shape of the array. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array, int32 or int64. None: int32. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_randint";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("low", low);
        visitor("high", high);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_randint(const random_randint_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_randint(into out, const random_randint_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_randint(as_symbol_t, const random_randint_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the uniform distribution over [low, high) */
struct random_uniform_settings {
    /** float, optional, default=0.0. Lower bound, inclusive. */
    double low = 0.0;
    /** float, optional, default=1.0. Upper bound, exclusive before rounding to the dtype. */
    double high = 1.0;
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_random_uniform";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("low", low, 0.0);
        visitor("high", high, 1.0);
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray random_uniform(const random_uniform_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void random_uniform(into out, const random_uniform_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol random_uniform(as_symbol_t, const random_uniform_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** Random numbers from the uniform distribution over [low, high), in the shape and dtype of data */
struct random_uniform_like_settings {
    /** float, optional, default=0.0. Lower bound, inclusive. */
    double low = 0.0;
    /** float, optional, default=1.0. Upper bound, exclusive before rounding to the dtype. */
    double high = 1.0;
    static constexpr const char *op = "_random_uniform_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("low", low, 0.0);
        visitor("high", high, 1.0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray random_uniform_like(const ndarray &data, const random_uniform_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void random_uniform_like(into out, const ndarray &data, const random_uniform_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol random_uniform_like(const symbol &data, const random_uniform_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** For each element of the parameters, random numbers from the exponential distribution with rate lam */
struct sample_exponential_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_exponential";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_exponential(const ndarray &lam, const sample_exponential_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lam});
}
inline void sample_exponential(into out, const ndarray &lam, const sample_exponential_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lam});
}
inline symbol sample_exponential(const symbol &lam, const sample_exponential_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lam"}, {&lam});
}

/** For each element of the parameters, random numbers from the gamma distribution with shape alpha and scale beta */
struct sample_gamma_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_gamma";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_gamma(const ndarray &alpha, const ndarray &beta, const sample_gamma_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&alpha, &beta});
}
inline void sample_gamma(into out, const ndarray &alpha, const ndarray &beta,
    const sample_gamma_settings &settings = {}) {
    detail::invoke_into(out, settings, {&alpha, &beta});
}
inline symbol sample_gamma(const symbol &alpha, const symbol &beta, const sample_gamma_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"alpha", "beta"}, {&alpha, &beta});
}

/** For each element of the parameters, random numbers from the negative binomial distribution with mean mu and variance
 * mu + alpha mu^2 */
struct sample_generalized_negative_binomial_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_generalized_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_generalized_negative_binomial(const ndarray &mu, const ndarray &alpha,
    const sample_generalized_negative_binomial_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&mu, &alpha});
}
inline void sample_generalized_negative_binomial(into out, const ndarray &mu, const ndarray &alpha,
    const sample_generalized_negative_binomial_settings &settings = {}) {
    detail::invoke_into(out, settings, {&mu, &alpha});
}
inline symbol sample_generalized_negative_binomial(const symbol &mu, const symbol &alpha,
    const sample_generalized_negative_binomial_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"mu", "alpha"}, {&mu, &alpha});
}

/** Indices drawn from rows of probabilities: data (...,K), output (...) + shape. With get_prob the outputs are output0
 * and output1, the logarithm of each one's probability, which has a gradient */
struct sample_multinomial_settings {
    /** tuple of int, optional, default=(). Shape of the samples of each row. (): one sample. */
    tuple shape = tuple{};
    /** boolean, optional, default=false. Whether there is a second output, the logarithms of the probabilities of the
     * samples. */
    bool get_prob = false;
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='int32'. Dtype of the indices. */
    mxc_dtype dtype = MXC_I32;
    static constexpr const char *op = "_sample_multinomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("get_prob", get_prob, false);
        visitor("dtype", dtype, MXC_I32);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline results sample_multinomial(const ndarray &data, const sample_multinomial_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void sample_multinomial(into out, const ndarray &data, const sample_multinomial_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol sample_multinomial(const symbol &data, const sample_multinomial_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** For each element of the parameters, random numbers from the negative binomial distribution: failures before success
 * number k, with probability p of success */
struct sample_negative_binomial_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_negative_binomial";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_negative_binomial(const ndarray &k, const ndarray &p,
    const sample_negative_binomial_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&k, &p});
}
inline void sample_negative_binomial(into out, const ndarray &k, const ndarray &p,
    const sample_negative_binomial_settings &settings = {}) {
    detail::invoke_into(out, settings, {&k, &p});
}
inline symbol sample_negative_binomial(const symbol &k, const symbol &p,
    const sample_negative_binomial_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"k", "p"}, {&k, &p});
}

/** For each element of the parameters, random numbers from the normal distribution with mean mu and standard deviation
 * sigma */
struct sample_normal_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_normal";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_normal(const ndarray &mu, const ndarray &sigma, const sample_normal_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&mu, &sigma});
}
inline void sample_normal(into out, const ndarray &mu, const ndarray &sigma,
    const sample_normal_settings &settings = {}) {
    detail::invoke_into(out, settings, {&mu, &sigma});
}
inline symbol sample_normal(const symbol &mu, const symbol &sigma, const sample_normal_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"mu", "sigma"}, {&mu, &sigma});
}

/** For each element of the parameters, random numbers from the Poisson distribution with mean lam */
struct sample_poisson_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_poisson";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_poisson(const ndarray &lam, const sample_poisson_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lam});
}
inline void sample_poisson(into out, const ndarray &lam, const sample_poisson_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lam});
}
inline symbol sample_poisson(const symbol &lam, const sample_poisson_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lam"}, {&lam});
}

/** For each element of the parameters, random numbers from the uniform distribution over [low, high) */
struct sample_uniform_settings {
    /** tuple of int or None, optional, default=(). Shape of the array, or of the samples for each element of the
     * parameters. */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: float32, or the dtype of the parameters. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_sample_uniform";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray sample_uniform(const ndarray &low, const ndarray &high, const sample_uniform_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&low, &high});
}
inline void sample_uniform(into out, const ndarray &low, const ndarray &high,
    const sample_uniform_settings &settings = {}) {
    detail::invoke_into(out, settings, {&low, &high});
}
inline symbol sample_uniform(const symbol &low, const symbol &high, const sample_uniform_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"low", "high"}, {&low, &high});
}

/** For each row, different classes of 0..range_max-1 drawn with probability log((c + 2) / (c + 1)) / log(range_max +
 * 1): samples (rows,classes), and how many draws each row took, num_tries (rows,) */
struct sample_unique_zipfian_settings {
    /** int, required. Number of classes. */
    required<int64_t> range_max;
    /** tuple of int, required. Number of rows, and of different classes in each. */
    required<tuple> shape;
    static constexpr const char *op = "_sample_unique_zipfian";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("range_max", range_max);
        visitor("shape", shape);
    }
    static constexpr size_t count = 2, text_bytes = 388; /* room for visit */
};
inline results sample_unique_zipfian(const sample_unique_zipfian_settings &settings) {
    return detail::invoke_source<results>(settings);
}
inline void sample_unique_zipfian(into out, const sample_unique_zipfian_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol sample_unique_zipfian(as_symbol_t, const sample_unique_zipfian_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** The elements of data along axis 0 in a random order */
inline ndarray shuffle(const ndarray &data) {
    return detail::invoke<ndarray>("_shuffle", {&data});
}
inline void shuffle(into out, const ndarray &data) {
    detail::invoke_into(out, "_shuffle", {&data});
}
inline symbol shuffle(const symbol &data, text name = {}) {
    return detail::apply("_shuffle", name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
