"""A model as one page of HTML: `write_report`, which is what `Booster.report` calls."""

from __future__ import annotations

from gossamer.report.write import ReportPage, write_report

__all__ = ["ReportPage", "write_report"]
