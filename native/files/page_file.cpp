#include "files/page_file.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <exception>
#include <future>
#include <numeric>
#include <system_error>

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

#include "core/index.h"
#include "core/storage.h"
#include "core/timer.h"

namespace gossamer {
namespace {

// The system reads and writes at most 2 GB at once.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
// Bytes are summed while they are still in the processor's cache.
constexpr std::int64_t kSummedBytes = std::int64_t{1} << 18;

#if defined(_WIN32)
std::int64_t read_at(int file, std::uint8_t* to, std::int64_t n, std::int64_t offset) {
  if (_lseeki64(file, offset, SEEK_SET) < 0) return -1;
  return _read(file, to, static_cast<unsigned>(std::min(n, kMostBytes)));
}
std::int64_t write_next(int file, const std::uint8_t* from, std::int64_t n) {
  return _write(file, from, static_cast<unsigned>(std::min(n, kMostBytes)));
}
int open_again(int file) { return _dup(file); }
void close_file(int file) { _close(file); }
#else
std::int64_t read_at(int file, std::uint8_t* to, std::int64_t n, std::int64_t offset) {
  return pread(file, to, at(std::min(n, kMostBytes)), static_cast<off_t>(offset));
}
std::int64_t write_next(int file, const std::uint8_t* from, std::int64_t n) {
  return write(file, from, at(std::min(n, kMostBytes)));
}
int open_again(int file) { return dup(file); }
void close_file(int file) { close(file); }
#endif

std::string reason(int error_number) { return std::strerror(error_number); }

// A task that has begun on another thread. Where no thread can be started, it is done when it is waited for.
template <class Task>
std::future<void> start(const Task& task) {
  try {
    return std::async(std::launch::async, task);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, task);
  }
}

// The features as they are before a matrix places them.
std::vector<Feature> unplaced(const BinMatrix& like) {
  std::vector<Feature> features = like.features();
  for (Feature& feature : features) {
    feature.group = -1;
    feature.entries = -1;
    feature.bundled = feature.shared = feature.has_missing = false;
  }
  return features;
}

// One page as a table of its own.
class OnePage : public RowPages {
 public:
  explicit OnePage(const RowPage& page) : page_(page) {
    page_.number = 0;
    page_.rows = {0, page.rows.end - page.rows.begin};
  }
  std::span<const RowRange> ranges() const override { return {&page_.rows, 1}; }
  void for_each(const std::function<void(const RowPage&)>& body) override { body(page_); }

 private:
  RowPage page_;
};

// Some rows of a page, by their number in it, as a table in memory.
std::unique_ptr<BinMatrix> rows_of_page(Team& team, const BinMatrix& table, const RowPage& page,
                                        std::span<const RowIdx> rows) {
  BinMatrix there(unplaced(table), page.rows.end - page.rows.begin, table.storage(), std::make_shared<OnePage>(page));
  for (std::size_t f = 0; f < there.features().size(); ++f) {
    there.features()[f].has_missing = table.features()[f].has_missing;
  }
  auto found = std::make_unique<BinMatrix>(unplaced(table), std::ssize(rows), table.storage());
  found->fill_from(team, there, rows);
  return found;
}

}  // namespace

// Eight sums of 64-bit words, mixed by one multiplication each: the processor can do one in a cycle. Another word in
// one place always leads to another sum.
namespace {

constexpr std::uint64_t kA = 0x9E3779B185EBCA87ULL;
constexpr std::uint64_t kB = 0xC2B2AE3D27D4EB4FULL;

constexpr std::size_t kStep = PageChecksum::kSums * sizeof(std::uint64_t);

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) { return std::rotl((sum ^ word) * kA, 31); }

}  // namespace

PageChecksum::PageChecksum(std::uint64_t page) {
  for (std::size_t i = 0; i < kSums; ++i) sums_[i] = mix(page + kB, i + 1);
}

void PageChecksum::add(std::span<const std::uint8_t> part) {
  n_bytes_ += part.size();
  const std::uint8_t* p = part.data();
  std::uint64_t sums[kSums];
  std::copy_n(sums_, kSums, sums);
  for (std::size_t left = part.size() / kStep; left > 0; --left, p += kStep) {
    std::uint64_t words[kSums];
    std::memcpy(words, p, kStep);
    for (std::size_t i = 0; i < kSums; ++i) sums[i] = mix(sums[i], words[i]);
  }
  std::copy_n(sums, kSums, sums_);
  rest_ = part.last(part.size() % kStep);
}

std::uint64_t PageChecksum::finish() const {
  std::uint64_t hash = mix(kB, n_bytes_);
  for (const std::uint64_t sum : sums_) hash = mix(hash, sum);
  for (const std::uint8_t byte : rest_) hash = mix(hash, byte + std::uint64_t{1});
  hash ^= hash >> 33;
  hash *= kB;
  return hash ^ hash >> 29;
}

std::uint64_t page_checksum(std::span<const std::uint8_t> bytes, std::uint64_t page) {
  PageChecksum sum(page);
  sum.add(bytes);
  return sum.finish();
}

PageShape::PageShape(const BinMatrix& matrix, std::int64_t rows, std::int64_t rows_per_page)
    : n_rows(rows), page_rows(std::min(rows_per_page, std::max<std::int64_t>(rows, 1))) {
  if (rows_per_page < 1 || rows < 0) throw std::invalid_argument("a page has at least one row");
  for (const Group& group : matrix.groups()) row_bytes.push_back(group.row_stride * (group.two_bytes ? 2 : 1));
}

std::int64_t PageShape::bytes_per_row() const {
  std::int64_t sum = 0;
  for (const std::int64_t n : row_bytes) sum += n;
  return sum;
}

LaneValues::LaneValues(const BinMatrix& like, const std::vector<char>& has_missing) {
  if (has_missing.size() != like.features().size()) throw std::invalid_argument("the pages have other features");
  for (const Group& group : like.groups()) {
    GroupValues& values = groups_.emplace_back();
    values.two_bytes = group.two_bytes;
    values.n_elements = at(group.row_stride);
    for (const Lane& lane : group.lanes) values.n_values = std::max(values.n_values, at(lane.n_values));
    values.allowed.assign(values.n_elements * values.n_values, 0);
    for (std::size_t i = 0; i < values.n_elements; ++i) {
      char* const allowed = values.allowed.data() + i * values.n_values;
      const std::size_t n = i < group.lanes.size() ? at(group.lanes[i].n_values) : 1;
      std::fill_n(allowed, n, char{1});
      if (i >= group.lanes.size()) continue;
      for (const Digit& digit : group.lanes[i].digits) {
        for (const std::int32_t f : digit.features) {
          const Feature& feature = like.features()[at(f)];
          if (has_missing[at(f)] != 0 || !feature.may_miss) continue;
          for (std::uint32_t v = 0; v < n; ++v) {
            if (feature.bin_of_lane(v) == feature.n_value_bins) allowed[v] = 0;
          }
        }
      }
    }
  }
}

template <class Bin>
bool LaneValues::contain_rows(const GroupValues& group, const void* bins, std::int64_t n_rows) {
  const Bin* row = static_cast<const Bin*>(bins);
  for (std::int64_t i = 0; i < n_rows; ++i, row += group.n_elements) {
    for (std::size_t j = 0; j < group.n_elements; ++j) {
      if (row[j] >= group.n_values || group.allowed[j * group.n_values + row[j]] == 0) return false;
    }
  }
  return true;
}

bool LaneValues::contain(const RowPage& page) const {
  const std::int64_t n = page.rows.end - page.rows.begin;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const GroupValues& group = groups_[g];
    const bool contained = group.two_bytes ? contain_rows<std::uint16_t>(group, page.bins[g], n)
                                           : contain_rows<std::uint8_t>(group, page.bins[g], n);
    if (!contained) return false;
  }
  return true;
}

// ---- writing ----

PageWriter::PageWriter(const BinMatrix& like, std::int64_t n_rows, std::int64_t page_rows, int file)
    : shape_(like, n_rows, page_rows), file_(file) {
  if (!like.storage().loose.empty()) throw std::invalid_argument("pages have no sparse columns");
  page_ = std::make_shared<BinMatrix>(unplaced(like), std::min(n_rows, page_rows), like.storage());
}

template <class View>
bool PageWriter::add_rows(Team& team, const View& rows) {
  BinMatrix part(unplaced(*page_), rows.n_rows, page_->storage());
  part.fill(team, rows, Use::other);
  misfits_.clear();
  for (std::size_t f = 0; f < part.features().size(); ++f) {
    const Feature& feature = part.features()[f];
    if (feature.entries >= 0 || (feature.has_missing && !feature.may_miss)) {
      misfits_.push_back(static_cast<std::int32_t>(f));
    }
  }
  if (!misfits_.empty()) return false;
  add(part);
  return true;
}

void PageWriter::add(const BinMatrix& part) {
  if (part.n_rows() > shape_.n_rows - n_added_) throw std::invalid_argument("there are more rows than were announced");
  for (std::int64_t done = 0; done < part.n_rows();) {
    const std::int64_t n = std::min(part.n_rows() - done, page_->n_rows() - n_in_page_);
    page_->put_rows(part, n_in_page_, {done, done + n});
    done += n;
    n_in_page_ += n;
    n_added_ += n;
    if (n_in_page_ == page_->n_rows()) write_page();
  }
}

bool PageWriter::add(Team& team, const MatrixView& rows) { return add_rows(team, rows); }
bool PageWriter::add(Team& team, const SparseView& rows) { return add_rows(team, rows); }

void PageWriter::add(Team& team, const BinMatrix& table, std::span<const RowIdx> rows) {
  if (table.pages() == nullptr) throw std::invalid_argument("the table is not on pages");
  if (PageShape(table, 0, 1).row_bytes != shape_.row_bytes)
    throw std::invalid_argument("the table is stored otherwise");
  if (!std::is_sorted(rows.begin(), rows.end())) throw std::invalid_argument("the rows do not increase");
  if (!rows.empty() && rows.back() >= table.n_rows()) throw std::invalid_argument("there is no such row");
  std::vector<RowIdx> here;
  table.pages()->for_each([&](const RowPage& page) {
    const auto first = std::lower_bound(rows.begin(), rows.end(), page.rows.begin);
    here.assign(first, std::lower_bound(first, rows.end(), page.rows.end));
    for (RowIdx& row : here) row -= static_cast<RowIdx>(page.rows.begin);
    if (!here.empty()) add(*rows_of_page(team, table, page, here));
  });
}

void PageWriter::write_page() {
  if (n_in_page_ == 0) return;
  bytes_.grow_to(page_->n_rows() * shape_.bytes_per_row());
  std::int64_t n = 0;
  for (std::size_t g = 0; g < shape_.row_bytes.size(); ++g) {
    const std::int64_t group_bytes = n_in_page_ * shape_.row_bytes[g];
    std::memcpy(bytes_.data() + n, page_->groups()[g].bins(), at(group_bytes));
    // Rows are padded to a power of two: what is written must not be left to chance.
    const Group& group = page_->groups()[g];
    const std::int64_t used = group.n_lanes * (group.two_bytes ? 2 : 1);
    for (std::int64_t row = 0; used < shape_.row_bytes[g] && row < n_in_page_; ++row) {
      std::memset(bytes_.data() + n + row * shape_.row_bytes[g] + used, 0, at(shape_.row_bytes[g] - used));
    }
    n += group_bytes;
  }
  checksums_.push_back(page_checksum({bytes_.data(), at(n)}, checksums_.size()));
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t written = write_next(file_, bytes_.data() + done, n - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw PageError("a page could not be written: " + reason(errno), errno);
    done += written;
  }
  n_in_page_ = 0;
}

std::vector<std::uint64_t> PageWriter::finish() {
  if (n_added_ != shape_.n_rows) throw std::invalid_argument("there are fewer rows than were announced");
  write_page();
  return checksums_;
}

std::vector<char> PageWriter::has_missing() const {
  std::vector<char> flags;
  for (const Feature& feature : page_->features()) flags.push_back(feature.has_missing);
  return flags;
}

// ---- writing again ----

namespace {

std::shared_ptr<BinMatrix> empty_beside(const BinMatrix& left, const BinMatrix& right, std::int32_t first_column) {
  Team alone(1);
  const auto none = std::span<const std::int32_t>();
  return put_beside(alone, *make_page_layout(left, none), *make_page_layout(right, none), first_column);
}

std::int64_t longest_page(const BinMatrix& matrix) {
  if (matrix.pages() == nullptr) throw std::invalid_argument("the table is not on pages");
  std::int64_t most = 1;
  for (const RowRange& rows : matrix.pages()->ranges()) most = std::max(most, rows.end - rows.begin);
  return most;
}

}  // namespace

BesideWriter::BesideWriter(std::shared_ptr<BinMatrix> left, std::shared_ptr<BinMatrix> right, std::int32_t first_column,
                           int file)
    : left_(std::move(left)),
      right_(make_page_layout(*right, {})),
      first_column_(first_column),
      layout_(empty_beside(*left_, *right_, first_column)),
      page_rows_(longest_page(*left_)),
      writer_(*layout_, left_->n_rows(), page_rows_, file) {
  // Values that do not fit a bundle would need another layout.
  if (!right_->storage().bundles.empty()) throw std::invalid_argument("the other features share no digits");
}

void BesideWriter::write(Team& team, const MatrixView& values) {
  if (values.n_rows != left_->n_rows()) throw std::invalid_argument("the tables differ in rows");
  for (const Feature& f : right_->features()) {
    if (f.column < 0 || f.column >= values.n_columns) throw std::invalid_argument("the rows have too few columns");
  }
  std::vector<RowIdx> rows;
  left_->pages()->for_each([&](const RowPage& page) {
    const std::int64_t n = page.rows.end - page.rows.begin;
    rows.resize(at(n));
    std::iota(rows.begin(), rows.end(), RowIdx{0});
    const auto left = rows_of_page(team, *left_, page, rows);
    MatrixView part = values;
    part.n_rows = n;
    visit(values, [&](const auto& view) { part.data = view.data + page.rows.begin * view.row_stride; });
    BinMatrix right(unplaced(*right_), n, right_->storage());
    right.fill(team, part, Use::other);
    writer_.add(*put_beside(team, *left, right, first_column_));
  });
}

// ---- reading ----

FilePages::FilePages(PageShape shape, LaneValues values, std::vector<std::uint64_t> checksums, int file,
                     std::string name)
    : shape_(std::move(shape)), values_(std::move(values)), checksums_(std::move(checksums)), name_(std::move(name)) {
  if (std::ssize(checksums_) != shape_.n_pages()) throw std::invalid_argument("a page has no checksum");
  for (std::int64_t page = 0; page < shape_.n_pages(); ++page) ranges_.push_back(shape_.rows_of(page));
  checked_.assign(ranges_.size(), 0);
  file_ = open_again(file);  // last: what throws leaves no open file
  if (file_ < 0) throw PageError(name_ + " could not be opened again: " + reason(errno), errno);
}

FilePages::~FilePages() { close_file(file_); }

void FilePages::keep(const void* caller, std::int64_t n_bytes) {
  const std::lock_guard lock(mutex_);
  const std::int64_t page_bytes = std::max<std::int64_t>(shape_.page_rows * shape_.bytes_per_row(), 1);
  const std::int64_t n = std::clamp<std::int64_t>(n_bytes / page_bytes, 0, shape_.n_pages());
  is_kept_.resize(at(n), 0);
  kept_.resize(at(n));
  keeper_ = caller;
}

bool FilePages::forget(const void* caller) {
  const std::lock_guard lock(mutex_);
  if (keeper_ != caller) return false;
  kept_.clear();
  is_kept_.clear();
  keeper_ = nullptr;
  return true;
}

void FilePages::release() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (auto& buffer : kept_) buffer = Buffer<std::uint8_t>();
  std::fill(is_kept_.begin(), is_kept_.end(), char{0});
}

std::int64_t FilePages::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& buffer : kept_) sum += buffer.size();
  return sum;
}

Buffer<std::uint8_t>& FilePages::buffer_of(std::int64_t page) {
  return page < std::ssize(kept_) ? kept_[at(page)] : buffers_[page % kBuffers];
}

void FilePages::load(std::int64_t page) {
  Buffer<std::uint8_t>& buffer = buffer_of(page);
  const RowRange rows = shape_.rows_of(page);
  const bool is_kept = page < std::ssize(kept_);
  buffer.grow_to((is_kept ? rows.end - rows.begin : std::min(shape_.n_rows, shape_.page_rows)) *
                 shape_.bytes_per_row());
  read(page, buffer);
  if (is_kept) is_kept_[at(page)] = 1;
}

void FilePages::read(std::int64_t page, Buffer<std::uint8_t>& to) {
  const RowRange rows = shape_.rows_of(page);
  const std::int64_t n = (rows.end - rows.begin) * shape_.bytes_per_row();
  const std::int64_t offset = rows.begin * shape_.bytes_per_row();
  const std::string which = "page " + std::to_string(page) + " of " + name_;
  PageChecksum sum(static_cast<std::uint64_t>(page));
  for (std::int64_t done = 0, summed = 0; done < n;) {
    const std::int64_t end = std::min(n, summed + kSummedBytes);
    const std::int64_t got = read_at(file_, to.data() + done, end - done, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw PageError(which + " could not be read: " + reason(errno), errno);
    if (got == 0) throw PageError(which + " is cut off: the file is shorter than it was");
    done += got;
    if (done < end) continue;
    sum.add({to.data() + summed, at(end - summed)});
    summed = end;
  }
  if (sum.finish() != checksums_[at(page)]) {
    throw PageError(which + " has changed since it was written");
  }
  // A checksum says that a page is as written, not who wrote it: a file may be made to do harm.
  if (checked_[at(page)] == 0 && !values_.contain(page_of(page, to))) {
    throw PageError(which + " has bins that no feature has");
  }
  checked_[at(page)] = 1;
}

RowPage FilePages::page_of(std::int64_t page, const Buffer<std::uint8_t>& bytes) const {
  RowPage found;
  found.number = at(page);
  found.rows = shape_.rows_of(page);
  std::int64_t offset = 0;
  for (const std::int64_t row_bytes : shape_.row_bytes) {
    found.bins.push_back(bytes.data() + offset);
    offset += (found.rows.end - found.rows.begin) * row_bytes;
  }
  return found;
}

void FilePages::for_each(const std::function<void(const RowPage&)>& body) {
  const std::lock_guard lock(mutex_);
  const std::int64_t n_pages = shape_.n_pages();
  n_passes_ += 1;
  if (n_pages == 0) return;
  // A future waits for its thread when it is destroyed, so that no thread outlives an exception.
  std::future<void> next;
  const Timer timer(seconds_);
  if (!is_there(0)) {
    const Timer waiting(seconds_waited_);
    load(0);
  }
  for (std::int64_t page = 0; page < n_pages; ++page) {
    const bool reads = page + 1 < n_pages && !is_there(page + 1);
    if (reads) next = start([this, page] { load(page + 1); });
    body(page_of(page, buffer_of(page)));
    const Timer waiting(seconds_waited_);
    if (reads) next.get();
  }
}

// ---- pages that stay in memory ----

namespace {

struct Keepers {
  std::mutex mutex;
  std::vector<FilePages*> pages;
};

Keepers& keepers() {
  static auto* const all = new Keepers;
  return *all;
}

}  // namespace

void PageKeeper::keep(std::int64_t n_bytes) {
  FilePages* const own = pages();
  if (own == nullptr) return;
  own->keep(this, n_bytes);
  Keepers& all = keepers();
  const std::lock_guard lock(all.mutex);
  if (std::find(all.pages.begin(), all.pages.end(), own) == all.pages.end()) all.pages.push_back(own);
}

PageKeeper::~PageKeeper() {
  FilePages* const own = pages();
  if (own == nullptr || !own->forget(this)) return;
  Keepers& all = keepers();
  const std::lock_guard lock(all.mutex);
  std::erase(all.pages, own);
}

void release_kept_pages() {
  Keepers& all = keepers();
  const std::lock_guard lock(all.mutex);
  for (FilePages* const pages : all.pages) pages->release();
}

// ---- tables ----

std::shared_ptr<BinMatrix> make_paged(const BinMatrix& like, const std::vector<char>& has_missing,
                                      std::shared_ptr<FilePages> pages, std::int64_t n_rows) {
  std::vector<Feature> features = unplaced(like);
  if (has_missing.size() != features.size()) throw std::invalid_argument("the pages have other features");
  for (std::size_t f = 0; f < features.size(); ++f) {
    features[f].has_missing = has_missing[f] != 0;
    if (features[f].has_missing && !features[f].may_miss) throw std::invalid_argument("a feature has no missing bin");
  }
  return std::make_shared<BinMatrix>(std::move(features), n_rows, like.storage(), std::move(pages));
}

std::shared_ptr<BinMatrix> make_page_layout(const BinMatrix& like, std::span<const std::int32_t> not_bundled) {
  std::vector<Feature> features = unplaced(like);
  Storage storage = like.storage();
  storage.loose.clear();
  for (auto& bundle : storage.bundles) {
    std::erase_if(bundle, [&](std::int32_t f) {
      return std::find(not_bundled.begin(), not_bundled.end(), f) != not_bundled.end();
    });
  }
  std::erase_if(storage.bundles, [](const auto& bundle) { return bundle.empty(); });
  std::vector<char> in_bundle(features.size(), 0);
  for (const auto& bundle : storage.bundles) {
    for (const std::int32_t f : bundle) in_bundle[at(f)] = 1;
  }
  for (std::size_t f = 0; f < features.size(); ++f) features[f].may_miss |= !in_bundle[f];
  return std::make_shared<BinMatrix>(std::move(features), 0, std::move(storage));
}

}  // namespace gossamer
