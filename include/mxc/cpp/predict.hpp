/* SPDX-License-Identifier: Apache-2.0 */
/* Predictors, images for them, and quantization. */
#ifndef MXC_CPP_PREDICT_HPP
#define MXC_CPP_PREDICT_HPP

#include <mxc/cpp/train.hpp>

namespace mxc {

/** Options of loading, with their defaults. */
struct predictor_options : mxc_predictor_options {
    predictor_options() noexcept {
        mxc_predictor_options_init(this, sizeof(mxc_predictor_options));
    }
    explicit predictor_options(mxc::context where) noexcept : predictor_options() {
        context = where;
    }
};

/** Options of quantization, with their defaults. */
struct quantize_options : mxc_quantize_options {
    quantize_options() noexcept {
        mxc_quantize_options_init(this, sizeof(mxc_quantize_options));
    }
};

/** Convert a network to 8-bit integers. */
inline model quantize(const symbol &network, const array_list &params, quantize_options options = {}) {
    model out;
    options.symbol = network.get();
    options.params = params.get();
    check(mxc_quantize(&options, out.symbol.out(), out.params.out()));
    return out;
}

/** A saved network, loaded for inference. Inputs and outputs by name or number. */
class predictor : public detail::unique_handle<mxc_predictor, mxc_predictor_destroy> {
  public:
    predictor() noexcept = default;

    /** where: a directory with one model, or prefix of its files; epoch -1: the best or the last. */
    static predictor load(text where, span<const variable_info> inputs, int epoch = -1,
                          const predictor_options &options = {}) {
        descriptions list(inputs);
        predictor out;
        check(mxc_predictor_load(where.c_str(), epoch, list.size(), list.data(), &options, &out.handle_));
        return out;
    }
    static predictor load_files(text symbol_path, text params_path, span<const variable_info> inputs,
                                const predictor_options &options = {}) {
        descriptions list(inputs);
        predictor out;
        check(mxc_predictor_load_files(symbol_path.c_str(), params_path.c_str(), list.size(), list.data(), &options,
                                       &out.handle_));
        return out;
    }
    static predictor load_memory(const char *json, size_t json_bytes, const void *params, size_t params_bytes,
                                 span<const variable_info> inputs, const predictor_options &options = {}) {
        descriptions list(inputs);
        predictor out;
        check(mxc_predictor_load_memory(json, json_bytes, params, params_bytes, list.size(), list.data(), &options,
                                        &out.handle_));
        return out;
    }
    static predictor create(const symbol &network, const array_list &params, span<const variable_info> inputs,
                            const predictor_options &options = {}) {
        descriptions list(inputs);
        predictor out;
        check(mxc_predictor_create(network.get(), params.get(), list.size(), list.data(), &options, &out.handle_));
        return out;
    }
    /** Shares the parameters; for another thread. */
    predictor clone() const {
        predictor out;
        check(mxc_predictor_clone(handle_, &out.handle_));
        return out;
    }

    size_t n_inputs() const noexcept {
        return static_cast<size_t>(std::max<int64_t>(mxc_predictor_n_inputs(handle_), 0));
    }
    const char *input_name(int64_t i) const noexcept {
        return mxc_predictor_input_name(handle_, i);
    }
    ndarray input(int64_t i = 0) const noexcept {
        return ndarray::share(mxc_predictor_input(handle_, i));
    }
    ndarray find_input(text name) const noexcept {
        return ndarray::share(mxc_predictor_find_input(handle_, name.c_str()));
    }
    /** Copy elements of the input's type and number. */
    template <class T> void set_input(int64_t i, span<T> data) {
        expect<T>(mxc_predictor_input(handle_, i));
        check(mxc_predictor_set_input_at(handle_, i, data.data(), data.size() * sizeof(T)));
    }
    template <class T> void set_input(text name, span<T> data) {
        expect<T>(mxc_predictor_find_input(handle_, name.c_str()));
        check(mxc_predictor_set_input(handle_, name.c_str(), data.data(), data.size() * sizeof(T)));
    }
    template <class T> void set_input(int64_t i, const std::vector<T> &data) {
        set_input(i, span<const T>(data));
    }
    template <class T> void set_input(text name, const std::vector<T> &data) {
        set_input(name, span<const T>(data));
    }
    void set_input(int64_t i, const ndarray &array) {
        check(mxc_predictor_set_input_array_at(handle_, i, array.get()));
    }
    void set_input(text name, const ndarray &array) {
        check(mxc_predictor_set_input_array(handle_, name.c_str(), array.get()));
    }
    void reshape(span<const variable_info> inputs) {
        detail::variable_arrays arrays(inputs);
        check(mxc_predictor_reshape(handle_, arrays.size(), arrays.names(), arrays.shapes()));
    }

    void forward() {
        check(mxc_predictor_forward(handle_));
    }

    size_t n_outputs() const noexcept {
        return static_cast<size_t>(std::max<int64_t>(mxc_predictor_n_outputs(handle_), 0));
    }
    const char *output_name(int64_t i) const noexcept {
        return mxc_predictor_output_name(handle_, i);
    }
    ndarray output(int64_t i = 0) const noexcept {
        return ndarray::share(mxc_predictor_output(handle_, i));
    }
    ndarray find_output(text name) const noexcept {
        return ndarray::share(mxc_predictor_find_output(handle_, name.c_str()));
    }
    /** Copy to elements of the output's type and number. Waits. */
    template <class T> void get_output(int64_t i, span<T> data) {
        expect<T>(mxc_predictor_output(handle_, i));
        check(mxc_predictor_get_output_at(handle_, i, data.data(), data.size() * sizeof(T)));
    }
    /** Allocates the vector. */
    template <class T = float> std::vector<T> get_output(int64_t i = 0) {
        ndarray array = output(i);
        std::vector<T> out(array ? static_cast<size_t>(array.size()) : 0);
        get_output(i, span<T>(out));
        return out;
    }
    /** Borrowed until the next reshape. */
    mxc_executor *executor() const noexcept {
        return mxc_predictor_executor(handle_);
    }

  private:
    class descriptions {
      public:
        explicit descriptions(span<const variable_info> variables) : list_(variables.size()) {
            for (size_t i = 0; i < variables.size(); i++)
                list_[i] = {variables[i].name.c_str(), variables[i].shape, variables[i].dtype};
        }
        int64_t size() const noexcept {
            return static_cast<int64_t>(list_.size());
        }
        const mxc_data_desc *data() noexcept {
            return list_.data();
        }

      private:
        detail::small_array<mxc_data_desc, 16> list_;
    };
    template <class T> static void expect(const mxc_ndarray *array) {
        if (array && mxc_ndarray_dtype(array) != dtype_v<T>)
            detail::fail(MXC_EDTYPE, "predictor: expected elements of %s, found %s",
                         mxc_dtype_name(mxc_ndarray_dtype(array)), mxc_dtype_name(dtype_v<T>));
    }
};

/* ---- images in, classes out -------------------------------------------------------------------------------------- */

/** From bytes to what a network expects. */
struct image_transform : mxc_image_transform {
    image_transform() noexcept {
        mxc_image_transform_init(this, sizeof(mxc_image_transform));
    }
};
/** Write an image to a row of a batch (N,C,H,W). */
inline void to_array(const image &picture, const ndarray &array, int64_t row = 0,
                     const image_transform &transform = {}) {
    check(mxc_image_to_array(picture.get(), &transform, array.get(), row));
}
/** The classes of the highest scores of a row, best first; values: none, or as many as classes. */
inline void top_classes(const ndarray &scores, int64_t row, span<int64_t> classes, span<float> values = {}) {
    if (!values.empty() && values.size() != classes.size())
        detail::fail(MXC_EINVAL, "top_classes: expected %zu values, found %zu", classes.size(), values.size());
    check(mxc_top_classes(scores.get(), row, static_cast<int64_t>(classes.size()), classes.data(), values.data()));
}
/** Names of classes, one per line of a file. */
inline names load_class_names(text path) {
    names out;
    check(mxc_class_names_load(path.c_str(), out.out()));
    return out;
}

} // namespace mxc

#endif
