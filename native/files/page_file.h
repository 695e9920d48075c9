// The bins of a table in a file, page after page.
//
//   page 0   [ rows of group 0 ][ rows of group 1 ] ...
//   page 1   [ rows of group 0 ][ rows of group 1 ] ...
//
// All pages have the same number of rows, except the last. A page is read as a whole into one of a few buffers, and
// checked against its checksum every time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/bin_matrix.h"
#include "core/row_pages.h"

namespace gossamer {

// A page could not be written or read, or is not what was written.
class PageError : public std::runtime_error {
 public:
  PageError(const std::string& what, int error_number = 0) : std::runtime_error(what), error_number_(error_number) {}
  int error_number() const { return error_number_; }  // errno; 0: none

 private:
  int error_number_;
};

// The bytes of a page from row groups, and a number that changes with any of them, or with the page's place.
std::uint64_t page_checksum(std::span<const std::uint8_t> bytes, std::uint64_t page);

// The same of bytes that arrive in parts.
class PageChecksum {
 public:
  static constexpr std::size_t kSums = 8;
  explicit PageChecksum(std::uint64_t page);
  // All parts but the last have a multiple of 64 bytes.
  void add(std::span<const std::uint8_t> part);
  std::uint64_t finish() const;

 private:
  std::uint64_t sums_[kSums];
  std::uint64_t n_bytes_ = 0;
  std::span<const std::uint8_t> rest_;  // of the last part
};

struct PageShape {
  std::int64_t n_rows = 0;
  std::int64_t page_rows = 0;
  std::vector<std::int64_t> row_bytes;  // by group

  PageShape(const BinMatrix& matrix, std::int64_t rows, std::int64_t rows_per_page);
  std::int64_t bytes_per_row() const;
  std::int64_t n_pages() const { return (n_rows + page_rows - 1) / page_rows; }
  RowRange rows_of(std::int64_t page) const { return {page * page_rows, std::min((page + 1) * page_rows, n_rows)}; }
};

// The values that the lanes of a table may have. Histograms have no cell for others.
class LaneValues {
 public:
  // `has_missing` says by feature whether some row is missing.
  LaneValues(const BinMatrix& like, const std::vector<char>& has_missing);
  // Whether all rows of a page have such values.
  bool contain(const RowPage& page) const;

 private:
  struct GroupValues {
    bool two_bytes = false;
    std::size_t n_elements = 0;  // of a row: lanes, and zeros behind them
    std::size_t n_values = 0;    // of the lane that has most
    std::vector<char> allowed;   // by element and value
  };
  template <class Bin>
  static bool contain_rows(const GroupValues& group, const void* bins, std::int64_t n_rows);

  std::vector<GroupValues> groups_;
};

// Bins rows as they arrive, and writes a page whenever it is full.
class PageWriter {
 public:
  // `like` says how features are stored; it must have no sparse columns. `file` is open for writing.
  PageWriter(const BinMatrix& like, std::int64_t n_rows, std::int64_t page_rows, int file);

  // Adds the next rows. False: values of some features do not fit their bundle, and the file is of no use.
  bool add(Team& team, const MatrixView& rows);
  bool add(Team& team, const SparseView& rows);
  // Adds rows that are in bins already, stored as in `like`.
  void add(const BinMatrix& part);
  // Adds these rows of a table on pages, which increase. It is stored as `like`.
  void add(Team& team, const BinMatrix& table, std::span<const RowIdx> rows);
  const std::vector<std::int32_t>& misfits() const { return misfits_; }
  // Writes what is left; returns the checksum of every page.
  std::vector<std::uint64_t> finish();
  // By feature: whether some row is missing. Complete once all rows have been added.
  std::vector<char> has_missing() const;

 private:
  template <class View>
  bool add_rows(Team& team, const View& rows);
  void write_page();

  std::shared_ptr<BinMatrix> page_;
  PageShape shape_;
  int file_;
  std::int64_t n_added_ = 0;
  std::int64_t n_in_page_ = 0;
  std::vector<std::uint64_t> checksums_;
  std::vector<std::int32_t> misfits_;
  Buffer<std::uint8_t> bytes_;
};

// Reads pages, one ahead of the page that is worked on.
class FilePages : public RowPages {
 public:
  // `file` is open for reading; the caller may close it. `name` is for messages.
  FilePages(PageShape shape, LaneValues values, std::vector<std::uint64_t> checksums, int file, std::string name);
  ~FilePages() override;

  std::span<const RowRange> ranges() const override { return ranges_; }
  void for_each(const std::function<void(const RowPage&)>& body) override;

  // Keeps the first pages in memory from their next reading on, as many as fit these bytes. The last caller decides.
  void keep(const void* caller, std::int64_t n_bytes);
  // Forgets them, if this was the last caller of keep(); returns whether it was.
  bool forget(const void* caller);
  // Gives their memory back until they are read again.
  void release();
  std::int64_t kept_bytes() const;  // of the pages that are in memory by now

  std::int64_t n_bytes() const { return shape_.n_rows * shape_.bytes_per_row(); }
  std::int64_t buffer_bytes() const { return kBuffers * shape_.page_rows * shape_.bytes_per_row(); }
  std::int64_t n_passes() const { return n_passes_; }
  // Of all passes so far: how long they took, and how much of that was waiting for pages.
  double seconds() const { return seconds_; }
  double seconds_waited() const { return seconds_waited_; }

 private:
  static constexpr int kBuffers = 2;
  Buffer<std::uint8_t>& buffer_of(std::int64_t page);
  bool is_there(std::int64_t page) const {
    return page < std::ssize(kept_) && is_kept_[static_cast<std::size_t>(page)];
  }
  void load(std::int64_t page);
  void read(std::int64_t page, Buffer<std::uint8_t>& to);
  RowPage page_of(std::int64_t page, const Buffer<std::uint8_t>& bytes) const;

  PageShape shape_;
  LaneValues values_;
  std::vector<std::uint64_t> checksums_;
  int file_;
  std::string name_;
  std::vector<RowRange> ranges_;
  std::vector<char> checked_;  // by page: whether its values were looked at
  Buffer<std::uint8_t> buffers_[kBuffers];
  std::vector<Buffer<std::uint8_t>> kept_;  // of the first pages
  std::vector<char> is_kept_;               // whether they have been read
  const void* keeper_ = nullptr;
  std::atomic<std::int64_t> n_passes_ = 0;  // these may be asked for during a pass
  std::atomic<double> seconds_ = 0.0;
  std::atomic<double> seconds_waited_ = 0.0;
  mutable std::mutex mutex_;  // one pass at a time
};

// Keeps pages of a table in memory as long as it lives; of a table that is not on pages, nothing.
class PageKeeper {
 public:
  explicit PageKeeper(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) {}
  ~PageKeeper();
  PageKeeper(const PageKeeper&) = delete;
  PageKeeper& operator=(const PageKeeper&) = delete;
  void keep(std::int64_t n_bytes);

 private:
  FilePages* pages() const { return dynamic_cast<FilePages*>(matrix_->pages()); }
  std::shared_ptr<BinMatrix> matrix_;
};

// Gives back the memory of all kept pages of this process that are not being read; they are read again when needed.
void release_kept_pages();

// A table in pages. `like` says how features are stored, `has_missing` which of them are missing somewhere.
std::shared_ptr<BinMatrix> make_paged(const BinMatrix& like, const std::vector<char>& has_missing,
                                      std::shared_ptr<FilePages> pages, std::int64_t n_rows);

// Writes the pages of a table again, with more features.
class BesideWriter {
 public:
  // `left` is on pages; `right` says how the other features are stored. Column c of theirs becomes first_column + c.
  BesideWriter(std::shared_ptr<BinMatrix> left, std::shared_ptr<BinMatrix> right, std::int32_t first_column, int file);
  // Reads all pages of `left`, and writes them with the values of the other features, which have the same rows.
  void write(Team& team, const MatrixView& values);
  // How all features are stored; it has no rows.
  std::shared_ptr<BinMatrix> layout() const { return layout_; }
  std::int64_t page_rows() const { return page_rows_; }
  std::vector<std::uint64_t> finish() { return writer_.finish(); }
  std::vector<char> has_missing() const { return writer_.has_missing(); }

 private:
  std::shared_ptr<BinMatrix> left_, right_;
  std::int32_t first_column_;
  std::shared_ptr<BinMatrix> layout_;
  std::int64_t page_rows_;
  PageWriter writer_;
};

// An empty table that stores features as pages can: `like` without sparse columns, and without these features in
// bundles. Any feature outside of a bundle may be missing.
std::shared_ptr<BinMatrix> make_page_layout(const BinMatrix& like, std::span<const std::int32_t> not_bundled);

}  // namespace gossamer
