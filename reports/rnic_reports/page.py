# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What all pages have in common: the templates' environment, style and script, verdicts as glyph and word."""

import base64
import hashlib
import pathlib

import jinja2
import markupsafe

from . import words
from .model import VERDICTS

TEMPLATES = pathlib.Path(__file__).resolve().parents[1] / "templates"
GLYPHS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "error": "!", "not_applicable": "–", "advisory": "△",
          "also_seen": "△"}
WORDS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "error": "error", "not_applicable": "not applicable",
         "advisory": "advisory", "also_seen": "also seen"}


def environment():
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                              undefined=jinja2.StrictUndefined)
    made.filters.update(duration=words.duration, when=words.when, plural=words.plural)
    made.globals.update(GLYPHS=GLYPHS, WORDS=WORDS, VERDICTS=VERDICTS)
    return made


def assets(styles, scripts):
    """Our own style and script go in as they are; nothing of a run is ever part of them."""
    script = _joined(scripts)
    return {"style": _joined(styles), "dark": _joined(["dark.css"]), "script": script,
            "script_digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}


def _joined(names):
    return markupsafe.Markup("").join(markupsafe.Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in names)
