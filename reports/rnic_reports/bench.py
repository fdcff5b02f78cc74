# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The figures of rnic-bench, and the page of them."""

import dataclasses
import json

from . import page
from .node import Node, Unreadable

# Of a plot, in units of its view box.
ROW, BAR, WIDTH, NAMES, FIGURES = 26, 16, 1000, 120, 400


@dataclasses.dataclass(frozen=True)
class Figure:
    contender: str
    median: float
    least: float
    most: float
    of_tcp: float | None
    of_floor: float | None
    processor: float  # microseconds of both ends, per message


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    unit: str
    figures: list

    @property
    def height(self):
        return ROW * len(self.figures)

    def x(self, value):
        """Where a value lies: the largest of the scenario is the right end of the bars."""
        largest = max(figure.most for figure in self.figures)
        return NAMES + (WIDTH - NAMES - FIGURES) * (value / largest if largest > 0 else 0)


@dataclasses.dataclass(frozen=True)
class Bench:
    rounds: int
    processors: int
    scenarios: list


def load(path):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of JSON or of UTF-8
        raise Unreadable(f"{path}: is no JSON of rnic-bench: {error}") from None
    top = Node(document, str(path))
    return Bench(top.whole("rounds"), top.whole("processors"), [_scenario(node) for node in top.nodes("results")])


def _scenario(node):
    figures = [_figure(one) for one in node.nodes("figures")]
    if not figures:
        raise Unreadable(f"{node.line('scenario')}: has no figures")
    return Scenario(node.line("scenario"), node.line("unit"), figures)


def _figure(node):
    least, median, most = node.number("least"), node.number("median"), node.number("most")
    if not 0 <= least <= median <= most:
        raise Unreadable(f"{node.line('contender')}: least, median and most are not in order")
    return Figure(node.line("contender"), median, least, most, node.number_or_none("of_tcp"), node.number_or_none("of_floor"),
                  node.number("processor_microseconds_per_message"))


def render(bench):
    environment = page.environment()
    environment.filters["figure"] = _in_words
    return environment.get_template("bench.html.j2").render(
        bench=bench, ROW=ROW, BAR=BAR, WIDTH=WIDTH, NAMES=NAMES, FIGURES=FIGURES, **page.assets(["report.css", "bench.css"], []))


def _in_words(value):
    """Four digits are more than a measurement gives."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
