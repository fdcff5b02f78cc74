#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Takes a picture of a page for the documents: an element of it, or its top, as a headless Chromium shows it, in few colours.

examples:
  tests/take_pictures.py out/report.html --to ../docs/pictures/report.png --height 760
  tests/take_pictures.py out/report.html --to ../docs/pictures/cause.png --element '#attention .card'
exit: 0 taken, 1 not"""

import argparse
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tests import browser  # noqa: E402


def place_of(shown, selector, margin):
    """Of the element, in the page."""
    place = shown.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null; const r = e.getBoundingClientRect();"
                        "return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}; })()")
    if not place:
        sys.exit(f"take_pictures.py: the page has no element '{selector}'")
    return {"x": place["x"] - margin, "y": place["y"] - margin, "width": place["width"] + 2 * margin, "height": place["height"] + 2 * margin}


def take(arguments, profile):
    shown = browser.Browser(profile)
    try:
        shown.call("Emulation.setDeviceMetricsOverride", width=arguments.width, height=arguments.height, deviceScaleFactor=1, mobile=False)
        shown.call("Emulation.setScrollbarsHidden", hidden=True)
        shown.open(arguments.page.resolve().as_uri() + (f"#{arguments.anchor}" if arguments.anchor else ""))
        for selector in arguments.click:
            shown.click(selector)
        if arguments.element:
            # All of the page in view: nothing moves when the picture is taken.
            shown.call("Emulation.setDeviceMetricsOverride", width=arguments.width, height=shown.value("document.documentElement.scrollHeight"),
                       deviceScaleFactor=1, mobile=False)
            shown.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            clip = place_of(shown, arguments.element, 8)
            clip["height"] = min(clip["height"], arguments.height)
        else:
            clip = {"x": 0, "y": 0, "width": arguments.width, "height": arguments.height}
        picture = shown.call("Page.captureScreenshot", format="png", clip={**clip, "scale": 1})["data"]
    finally:
        shown.close()
    # Few colours: the pictures are part of the sources.
    arguments.to.write_bytes(subprocess.run(["pngquant", "--strip", "--speed", "1", "64", "-"], input=base64.b64decode(picture), capture_output=True,
                                            check=True).stdout)
    print(arguments.to)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, required=True, metavar="FILE.png")
    parser.add_argument("--element", metavar="SELECTOR", help="default: the top of the page")
    parser.add_argument("--click", metavar="SELECTOR", action="append", default=[], help="first; may be repeated")
    parser.add_argument("--anchor", metavar="NAME", help="open the page there")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=1000, help="the most that is shown")
    arguments = parser.parse_args()
    missing = [name for name in ("chromium", "pngquant") if not (shutil.which(name) or name == "chromium" and browser.program())]
    if missing:
        sys.exit(f"take_pictures.py: {', '.join(missing)} not found; install them with: apt-get install chromium pngquant")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        take(arguments, profile)


if __name__ == "__main__":
    main()
