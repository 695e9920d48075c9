"""`gossamer config=train.conf`: LightGBM's command line."""

from __future__ import annotations

import click

from gossamer.cli.lightgbm_tasks import run


@click.command("config", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def command(arguments: tuple[str, ...]) -> None:
    """Do what LightGBM's command line would do with these arguments."""
    run(arguments)
