// Binned tables in files.
#include <nanobind/stl/optional.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bindings/casters.h"
#include "bindings/sparse.h"
#include "files/page_file.h"
#include "files/row_file.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

struct PyPageWriter {
  std::shared_ptr<BinMatrix> like;
  PageWriter writer;
  std::mutex mutex;

  PyPageWriter(std::shared_ptr<BinMatrix> layout, std::int64_t n_rows, std::int64_t page_rows, int file)
      : like(std::move(layout)), writer(*like, n_rows, page_rows, file) {}

  template <class View>
  bool add(const View& view, int n_threads) {
    for (const Feature& f : like->features()) {
      if (f.column < 0 || f.column >= view.n_columns) throw std::invalid_argument("the rows have too few columns");
    }
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    TeamLease team(n_threads);
    return writer.add(*team, view);
  }

  void add_rows_of(const BinMatrix& table, const In<RowIdx>& rows, int n_threads) {
    if (table.features().size() != like->features().size()) throw std::invalid_argument("the table has other features");
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    TeamLease team(n_threads);
    writer.add(*team, table, {rows.data(), rows.size()});
  }

  std::vector<std::uint64_t> finish() {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    return writer.finish();
  }
};

void write_beside(BesideWriter& self, const Matrix& values, int n_threads) {
  const MatrixView view = view_of(values);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  self.write(*team, view);
}

std::vector<std::int8_t> to_flags(const std::vector<char>& flags) { return {flags.begin(), flags.end()}; }

std::shared_ptr<BinMatrix> open_pages(const BinMatrix& like, std::int64_t n_rows, std::int64_t page_rows,
                                      const In<std::uint64_t>& checksums, const In<std::int8_t>& has_missing, int file,
                                      const char* name) {  // as std::string, nanobind ends the process without memory
  const std::vector<char> flags(has_missing.data(), has_missing.data() + has_missing.size());
  auto pages = std::make_shared<FilePages>(PageShape(like, n_rows, page_rows), LaneValues(like, flags),
                                           to_vector(checksums), file, name);
  return make_paged(like, flags, std::move(pages), n_rows);
}

std::optional<nb::dict> on_disk(const BinMatrix& self) {
  const auto* const pages = dynamic_cast<const FilePages*>(self.pages());
  if (pages == nullptr) return std::nullopt;
  nb::dict d;
  d["bytes"] = pages->n_bytes();
  d["pages"] = pages->ranges().size();
  d["buffer_bytes"] = pages->buffer_bytes();
  d["kept_bytes"] = pages->kept_bytes();
  d["passes"] = pages->n_passes();
  d["seconds"] = pages->seconds();
  d["seconds_waited"] = pages->seconds_waited();
  return d;
}

}  // namespace

void bind_pages(nb::module_& m) {
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const PageError& e) {
          if (e.error_number() == 0) {
            PyErr_SetString(PyExc_OSError, e.what());
            return;
          }
          const nb::object arguments = nb::make_tuple(e.error_number(), e.what());
          PyErr_SetObject(PyExc_OSError, arguments.ptr());
        }
      },
      nullptr);
  nb::class_<PyPageWriter>(m, "PageWriter", "Bins a table that arrives in pieces of rows, and writes it to a file.")
      .def(nb::init<std::shared_ptr<BinMatrix>, std::int64_t, std::int64_t, int>(), "like"_a, "n_rows"_a, "page_rows"_a,
           "file"_a)
      .def(
          "add",
          [](PyPageWriter& self, const PySparse& rows, int n_threads) {
            check_canonical(rows);
            return self.add(rows.view, n_threads);
          },
          "rows"_a, "n_threads"_a, "The next rows. False: features do not fit their bundles, see misfits().")
      .def(
          "add",
          [](PyPageWriter& self, const Matrix& rows, int n_threads) { return self.add(view_of(rows), n_threads); },
          "rows"_a.noconvert(), "n_threads"_a)
      .def("add_rows_of", &PyPageWriter::add_rows_of, "table"_a, "rows"_a.noconvert(), "n_threads"_a,
           "Rows of a table on pages, which increase. It is stored as `like`.")
      .def("misfits", [](const PyPageWriter& self) { return to_numpy(std::vector(self.writer.misfits())); })
      .def("has_missing", [](const PyPageWriter& self) { return to_numpy(to_flags(self.writer.has_missing())); })
      .def("finish", [](PyPageWriter& self) { return to_numpy(self.finish()); }, "The checksum of every page.");
  nb::class_<BesideWriter>(m, "BesideWriter", "Writes the pages of a table again, with more features.")
      .def(nb::init<std::shared_ptr<BinMatrix>, std::shared_ptr<BinMatrix>, std::int32_t, int>(), "left"_a, "right"_a,
           "first_column"_a, "file"_a,
           "`left` is on pages, `right` says how the other features are stored. Column c of the\n"
           "latter becomes first_column + c.")
      .def("write", &write_beside, "values"_a.noconvert(), "n_threads"_a, "The other features' values in all rows.")
      .def(
          "finish", [](BesideWriter& self) { return to_numpy(self.finish()); }, "The checksum of every page.")
      .def("has_missing", [](const BesideWriter& self) { return to_numpy(to_flags(self.has_missing())); })
      .def_prop_ro("layout", &BesideWriter::layout, "An empty table that stores all features as the pages do.")
      .def_prop_ro("page_rows", &BesideWriter::page_rows);
  nb::class_<RowFile>(m, "RowFile", nb::is_weak_referenceable(),
                      "An array by row in a file; little of it is in memory at a time.")
      .def(nb::init<int, std::int64_t>(), "file"_a, "n_bytes"_a, "`file` may be closed then.")
      .def(
          "array",
          [](nb::handle_t<RowFile> self) {
            const std::span<std::uint8_t> bytes = nb::cast<RowFile&>(self).bytes();
            return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(bytes.data(), {bytes.size()}, self);
          },
          "The bytes, which may be changed.")
      .def("check", &RowFile::check, "Raises OSError where the disk lost a part of the array.");
  m.def("release_row_files", &release_row_files, "Gives back the resident memory of all row files, not their bytes.");
  m.def(
      "page_layout",
      [](const BinMatrix& like, const In<std::int32_t>& not_bundled) {
        return make_page_layout(like, {not_bundled.data(), not_bundled.size()});
      },
      "like"_a, "not_bundled"_a.noconvert(), "An empty table that stores features as pages can.");
  m.def("open_pages", &open_pages, "like"_a, "n_rows"_a, "page_rows"_a, "checksums"_a.noconvert(),
        "has_missing"_a.noconvert(), "file"_a, "name"_a, "A table whose bins are in a file, which may be closed then.");
  nb::class_<PageKeeper>(m, "PageKeeper", "Keeps pages of a table in memory as long as it lives.")
      .def(nb::init<std::shared_ptr<BinMatrix>>(), "matrix"_a)
      .def("keep", &PageKeeper::keep, "n_bytes"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Keeps the first pages from their next reading on, as many as fit these bytes.");
  m.def("release_kept_pages", &release_kept_pages,
        "Gives back the memory of all kept pages; they are read again when needed.");
  m.def("on_disk", &on_disk, "matrix"_a, "Figures about the pages of a table; None: its bins are in memory.");
}

}  // namespace gossamer::bindings
