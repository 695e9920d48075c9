"""Charts as SVG, made of text alone: no other package is needed."""

from __future__ import annotations

from gossamer.report.charts.bars import bar_chart, histogram, sparkline
from gossamer.report.charts.chart import Chart
from gossamer.report.charts.heat_map import heat_map
from gossamer.report.charts.swarm import swarm_chart

__all__ = ["Chart", "bar_chart", "heat_map", "histogram", "sparkline", "swarm_chart"]
