// An array by row in a file, for trainings whose scores and gradients do not fit in memory.
//
// The file is mapped. What threads touch becomes resident memory of the process; after every few tasks of a team all
// of it is given back, so that the resident part stays small whatever the size of the file. The bytes are then in the
// file, or in the system's cache of it.
//
// Pages of bins are read into buffers instead (see page_file.h). Here the file has no name, and all its space is
// reserved before it is used. Where the system cannot read a part of it back all the same, the array becomes zeros and
// check() throws: a failing disk does not end the process.
#pragma once

#include <cstdint>
#include <span>

namespace gossamer {

class RowFile {
 public:
  // `file` is open for reading and writing, and may be closed then. It gets n_bytes of zeros.
  RowFile(int file, std::int64_t n_bytes);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  std::span<std::uint8_t> bytes() const { return bytes_; }

  // Throws PageError where the array is no longer what was written to it, now and in every later call.
  void check() const;

 private:
  struct Watched;

  std::span<std::uint8_t> bytes_;
  int file_ = -1;
  Watched* watched_ = nullptr;
};

// Gives back the resident memory of all row files. Their contents stay.
void release_row_files() noexcept;

}  // namespace gossamer
