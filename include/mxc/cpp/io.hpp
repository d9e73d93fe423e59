/* SPDX-License-Identifier: Apache-2.0 */
/* Data iterators, those of the program too, record files, and images. */
#ifndef MXC_CPP_IO_HPP
#define MXC_CPP_IO_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {

/* ---- iterators --------------------------------------------------------------------------------------------------- */

/** A batch; valid until the next call on its iterator. */
class batch {
  public:
    batch() noexcept = default;
    explicit operator bool() const noexcept {
        return batch_.n_data > 0;
    }
    int n_data() const noexcept {
        return batch_.n_data;
    }
    int n_label() const noexcept {
        return batch_.n_label;
    }
    /** Arrays; an object without one past the end. */
    ndarray data(int i = 0) const noexcept {
        return ndarray::share(i >= 0 && i < batch_.n_data ? batch_.data[i] : nullptr);
    }
    ndarray label(int i = 0) const noexcept {
        return ndarray::share(i >= 0 && i < batch_.n_label ? batch_.label[i] : nullptr);
    }
    /** Number of rows at the end that only fill up the batch. */
    int64_t pad() const noexcept {
        return batch_.pad;
    }
    /** Number of the sample in each row, or none. */
    span<const uint64_t> index() const noexcept {
        return span<const uint64_t>(batch_.index, static_cast<size_t>(batch_.n_index));
    }
    int64_t n_bad() const noexcept {
        return batch_.n_bad;
    }
    int64_t bucket() const noexcept {
        return batch_.bucket;
    }
    mxc_batch *get() noexcept {
        return &batch_;
    }

  private:
    mxc_batch batch_ = {};
};

/** An iterator of the program: derive from it, and give it to iterator::from. next fills in out, of which everything is
 *  zero, and leaves it so at the end of an epoch; arrays stay valid until the next call. What a method throws ends the
 *  call of the library that came to it. */
class batch_source {
  public:
    virtual ~batch_source() = default;
    virtual void next(mxc_batch &out) = 0;
    /** To the start of the next epoch. */
    virtual void reset() = 0;
};

struct array_iter_options : mxc_array_iter_options {
    explicit array_iter_options(int64_t size_of_batch = 1, bool shuffled = false) noexcept {
        mxc_array_iter_options_init(this, sizeof(mxc_array_iter_options));
        batch_size = size_of_batch;
        shuffle = shuffled;
    }
};
struct bucket_iter_options : mxc_bucket_iter_options {
    bucket_iter_options() noexcept {
        mxc_bucket_iter_options_init(this, sizeof(mxc_bucket_iter_options));
    }
};

/** A data iterator. A loop over it is one epoch, and resets it at its end: for (const batch &b : train) ... */
class iterator : public detail::unique_handle<mxc_iter, mxc_iter_destroy> {
  public:
    iterator() noexcept = default;
    /** By name, such as "MNISTIter"; docs/reference/iterators.md. */
    explicit iterator(text name, span<const keyword> parameters = {}) {
        detail::keyword_arrays arrays(parameters);
        check(mxc_iter_create(name.c_str(), arrays.size(), arrays.keys(), arrays.values(), &handle_));
    }
    static iterator adopt(mxc_iter *handle) noexcept {
        iterator out;
        out.handle_ = handle;
        return out;
    }
    /** Rows of arrays in memory. names: of data, then of labels; none: "data" and "softmax_label". */
    static iterator from(span<const ndarray> data, span<const ndarray> label = {},
                         const array_iter_options &options = array_iter_options(), span<const text> names = {}) {
        detail::text_array keys(names);
        iterator out;
        if (!names.empty() && names.size() != data.size() + label.size())
            detail::fail(MXC_EINVAL, "iterator: expected %zu names, found %zu", data.size() + label.size(),
                         names.size());
        check(mxc_iter_from_arrays(&options, detail::to_int(data.size()), detail::handles(data),
                                   detail::to_int(label.size()), detail::handles(label),
                                   names.empty() ? nullptr : keys.data(), &out.handle_));
        return out;
    }
    /** Batches that the program makes; the first is taken at once, for the shapes. */
    static iterator from(std::unique_ptr<batch_source> source) {
        static const mxc_iter_methods methods = source_methods();
        iterator out;
        check(mxc_iter_from_methods(&methods, source.get(), &out.handle_));
        source.release();
        return out;
    }
    /** Sentence i is tokens[offsets[i]] to tokens[offsets[i + 1] - 1]. */
    static iterator from_sentences(span<const int64_t> offsets, span<const int32_t> tokens,
                                   const bucket_iter_options &options) {
        iterator out;
        if (offsets.empty() || offsets[offsets.size() - 1] != static_cast<int64_t>(tokens.size()))
            detail::fail(MXC_EINVAL, "from_sentences: the last offset must be the number of tokens, %zu",
                         tokens.size());
        check(mxc_iter_from_sentences(&options, static_cast<int64_t>(offsets.size()) - 1, offsets.data(), tokens.data(),
                                      &out.handle_));
        return out;
    }
    /** Prepares batches ahead on a thread, on a context. Takes the other iterator. */
    static iterator prefetch(iterator &&inner, int depth, mxc::context context = cpu()) {
        iterator out;
        check(mxc_iter_prefetch_to(inner.get(), depth, context, &out.handle_));
        inner.release();
        return out;
    }
    /** Epochs of a given number of batches. Takes the other iterator. */
    static iterator resize(iterator &&inner, int64_t batches, bool restart) {
        iterator out;
        check(mxc_iter_resize(inner.get(), batches, restart, &out.handle_));
        inner.release();
        return out;
    }

    /** false at the end of an epoch. */
    bool next(batch &out) {
        check(mxc_iter_next(handle_, out.get()));
        return static_cast<bool>(out);
    }
    void reset_epoch() {
        check(mxc_iter_reset(handle_));
    }
    mxc_iter_state state() const {
        mxc_iter_state out;
        check(mxc_iter_get_state(handle_, &out));
        return out;
    }
    void set_state(const mxc_iter_state &state) {
        check(mxc_iter_set_state(handle_, &state));
    }
    int n_data() const noexcept {
        return mxc_iter_n_data(handle_);
    }
    int n_label() const noexcept {
        return mxc_iter_n_label(handle_);
    }
    /** Data first, then labels; NULL past the end. */
    const mxc_data_desc *desc(int i) const noexcept {
        return mxc_iter_desc(handle_, i);
    }

    /** The batches of an epoch, for range-based loops. */
    class position {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = batch;
        using difference_type = std::ptrdiff_t;
        using pointer = const batch *;
        using reference = const batch &;
        position() noexcept = default;
        explicit position(iterator &from) : from_(&from) {
            ++*this;
        }
        const batch &operator*() const noexcept {
            return batch_;
        }
        const batch *operator->() const noexcept {
            return &batch_;
        }
        position &operator++() {
            if (!from_->next(batch_)) {
                from_->reset_epoch();
                from_ = nullptr;
            }
            return *this;
        }
        void operator++(int) {
            ++*this;
        }
        bool operator==(const position &other) const noexcept {
            return from_ == other.from_;
        }
        bool operator!=(const position &other) const noexcept {
            return from_ != other.from_;
        }

      private:
        iterator *from_ = nullptr;
        mxc::batch batch_;
    };
    position begin() {
        return position(*this);
    }
    position end() noexcept {
        return position();
    }

  private:
    static mxc_iter_methods source_methods() {
        return mxc_make<mxc_iter_methods>([](mxc_iter_methods &methods) {
            methods.next = [](void *self, mxc_batch *out) {
                return guard([&] { static_cast<batch_source *>(self)->next(*out); });
            };
            methods.reset = [](void *self) { return guard([&] { static_cast<batch_source *>(self)->reset(); }); };
            methods.destroy = [](void *self) { delete static_cast<batch_source *>(self); };
        });
    }
};

/* ---- record files ------------------------------------------------------------------------------------------------ */

/** Reads a .rec file. */
class record_reader : public detail::unique_handle<mxc_record_reader, mxc_record_reader_close> {
  public:
    record_reader() noexcept = default;
    explicit record_reader(text path, int part_index = 0, int num_parts = 1, mxc_bad_record bad = MXC_BAD_ERROR) {
        check(mxc_record_reader_open(path.c_str(), part_index, num_parts, bad, &handle_));
    }
    /** false at the end. The bytes are borrowed until the next call. */
    bool next(mxc_record &out) {
        check(mxc_record_reader_next(handle_, &out));
        return out.data != nullptr;
    }
    int64_t tell() const noexcept {
        return mxc_record_reader_tell(handle_);
    }
    void seek(int64_t offset) {
        check(mxc_record_reader_seek(handle_, offset));
    }
    void rewind() noexcept {
        mxc_record_reader_rewind(handle_);
    }
    /** Damaged places that were skipped. */
    int64_t skipped() const noexcept {
        int64_t places = 0;
        mxc_record_reader_skipped(handle_, &places, nullptr);
        return places;
    }
};

/** Writes a .rec file, which exists after close; one that is destroyed before leaves the old file. */
class record_writer : public detail::unique_handle<mxc_record_writer, mxc_record_writer_abandon> {
  public:
    record_writer() noexcept = default;
    explicit record_writer(text path, text index = {}) {
        check(mxc_record_writer_open(path.c_str(), index.c_str(), &handle_));
    }
    void write(uint64_t key, const void *data, size_t bytes) {
        check(mxc_record_writer_write(handle_, key, data, bytes));
    }
    void close() {
        check(mxc_record_writer_close(release()));
    }
};

/** Keys and offsets of the records of a file. */
class record_index {
  public:
    record_index() noexcept = default;
    record_index(record_index &&other) noexcept : index_(std::exchange(other.index_, mxc_record_index())) {
    }
    record_index &operator=(record_index &&other) noexcept {
        std::swap(index_, other.index_);
        return *this;
    }
    ~record_index() {
        mxc_record_index_free(&index_);
    }
    static record_index load(text path) {
        record_index out;
        check(mxc_record_index_load(path.c_str(), &out.index_));
        return out;
    }
    static record_index make(text record_path, bool by_id) {
        record_index out;
        check(mxc_record_index_make(record_path.c_str(), by_id, &out.index_));
        return out;
    }
    span<const uint64_t> keys() const noexcept {
        return span<const uint64_t>(index_.keys, static_cast<size_t>(index_.n));
    }
    span<const int64_t> offsets() const noexcept {
        return span<const int64_t>(index_.offsets, static_cast<size_t>(index_.n));
    }

  private:
    mxc_record_index index_ = {};
};

/** Copies the intact records of a damaged file; returns their number. */
inline int64_t repair_records(text from, text to, text index = {}) {
    int64_t n;
    check(mxc_record_repair(from.c_str(), to.c_str(), index.c_str(), &n));
    return n;
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/** Pixels (height, width, channels) of one byte. */
class image {
  public:
    image() noexcept = default;
    image(image &&other) noexcept : image_(std::exchange(other.image_, mxc_image())) {
    }
    image &operator=(image &&other) noexcept {
        std::swap(image_, other.image_);
        return *this;
    }
    ~image() {
        mxc_image_free(&image_);
    }
    /** channels: 1 or 3, 0: those of the file. */
    static image load(text path, int channels = 0, int64_t max_pixels = 0) {
        image out;
        check(mxc_image_load(path.c_str(), channels, max_pixels, &out.image_));
        return out;
    }
    static image decode(text name, const void *bytes, size_t n, int channels = 0, int64_t max_pixels = 0) {
        image out;
        check(mxc_image_decode(name.c_str(), bytes, n, channels, max_pixels, &out.image_));
        return out;
    }
    image resize(int64_t height, int64_t width, int interpolation = 1) const {
        image out;
        check(mxc_image_resize(&image_, height, width, interpolation, &out.image_));
        return out;
    }
    int64_t height() const noexcept {
        return image_.height;
    }
    int64_t width() const noexcept {
        return image_.width;
    }
    int64_t channels() const noexcept {
        return image_.channels;
    }
    span<uint8_t> pixels() const noexcept {
        return span<uint8_t>(image_.pixels, static_cast<size_t>(image_.height * image_.width * image_.channels));
    }
    /** The contents of a file. Allocates the vector. */
    std::vector<uint8_t> to_jpeg(int quality = 90) const {
        void *bytes = nullptr;
        size_t n = 0;
        check(mxc_image_encode_jpeg(&image_, quality, &bytes, &n));
        return take_bytes(bytes, n);
    }
    std::vector<uint8_t> to_png() const {
        void *bytes = nullptr;
        size_t n = 0;
        check(mxc_image_encode_png(&image_, &bytes, &n));
        return take_bytes(bytes, n);
    }
    const mxc_image *get() const noexcept {
        return &image_;
    }

  private:
    static std::vector<uint8_t> take_bytes(void *bytes, size_t n) {
        std::unique_ptr<void, void (*)(void *)> owner(bytes, mxc_free);
        return std::vector<uint8_t>(static_cast<uint8_t *>(bytes), static_cast<uint8_t *>(bytes) + n);
    }
    mxc_image image_ = {};
};

} // namespace mxc

#endif
