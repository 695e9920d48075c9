"""`gossamer version`."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

import click

from gossamer.cli.options import debug_option, to_json
from gossamer.cli.version import package_version, version_text

# Packages that matter: those Gossamer needs, and those it can do more with.
_PACKAGES: Final = (
    *("numpy", "scipy", "narwhals", "safetensors", "click"),
    *("pyarrow", "pandas", "polars", "scikit-learn", "matplotlib", "tqdm"),
)


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def command(as_json: bool) -> None:
    """Show the versions to include in a bug report.

    \b
    Example:
      gossamer version
    """
    found = {name: _version_of(name) for name in _PACKAGES}
    if as_json:
        click.echo(to_json({"gossamer": package_version(), "packages": found}))
        return
    click.echo(version_text())
    for name, number in found.items():
        click.echo(f"  {name:<13} {number or 'not installed'}")


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
