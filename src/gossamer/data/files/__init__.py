"""Tables in files, read in chunks: Parquet, Arrow, CSV, LibSVM."""

from gossamer.data.files.beside import read_side_files
from gossamer.data.files.find import find_files, names_files
from gossamer.data.files.open import is_binary_dataset, open_files

__all__ = ["find_files", "is_binary_dataset", "names_files", "open_files", "read_side_files"]
