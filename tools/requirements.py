"""Print the requirements of the package and of the given extras, one per line."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with scikit-build-core

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    print(requirement)
for extra in sys.argv[1:]:
    for requirement in project["optional-dependencies"][extra]:
        print(requirement)
