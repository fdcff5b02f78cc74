# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The page of rnic-bench: a bar for each figure, as long as the figure says; what is no document of it is refused in one line."""

import contextlib
import io
import json
import re

import render_bench
from tests.support import FolderTest


def figure(contender, median, **members):
    return {"contender": contender, "median": median, "least": median, "most": median, "of_tcp": None, "of_floor": None,
            "processor_microseconds_per_message": 1.5, "processor_of_tcp": None, **members}


def document(*figures):
    return {"rounds": 7, "processors": 2, "results": [{"scenario": "a.b", "unit": "MB/s", "figures": list(figures)}]}


class BenchPage(FolderTest):
    def rendered(self, content):
        """(exit code, what it complains of, the page)."""
        path = self.folder / "bench.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = render_bench.main([str(path)])
        html = path.with_suffix(".html")
        return code, errors.getvalue(), html.read_text(encoding="utf-8") if html.exists() else ""

    def test_bars_are_as_long_as_the_figures(self):
        code, errors, html = self.rendered(document(figure("tcp", 4000, most=8000), figure("verbs", 2000, of_tcp=0.5)))
        self.assertEqual((code, errors), (0, ""))
        tcp, verbs = map(float, re.findall(r'<rect [^>]*width="([0-9.]+)"', html))
        self.assertAlmostEqual(tcp, 2 * verbs)
        x1, x2 = map(float, re.search(r'x1="([0-9.]+)" x2="([0-9.]+)"', html).groups())
        self.assertAlmostEqual(x2 - x1, tcp)  # from 4000 to 8000
        self.assertIn("0.50 of TCP", html)
        self.assertIn("7 rounds", html)

    def test_text_is_escaped(self):
        self.assertNotIn("<b>", self.rendered(document(figure("<b>", 1)))[2])

    def test_what_is_no_figure_is_refused_in_one_line(self):
        for content in ("{", "[]", document(), document(figure("tcp", "fast")), document(figure("tcp", 2, least=3)), {"rounds": 1}):
            with self.subTest(content=content):
                code, errors, html = self.rendered(content)
                self.assertEqual((code, errors.count("\n"), html), (3, 1, ""))
