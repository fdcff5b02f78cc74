#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Takes the pictures of docs/wireshark.md: Wireshark itself, with the plugin and its profile, on a display that nobody sees.

Needs wireshark, Xvfb, xdotool and ImageMagick. A picture is taken when the window has looked the same three times in a row.

example: take_pictures.py --module build/release/dissectors/wireshark/plugins/4.0/epan/rnic_iwarp.so --out docs/pictures
exit: 0 taken, 1 not
"""

import argparse
import dataclasses
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import plugin

CORPUS = plugin.HERE.parent.parent / "corpus"
WIDTH, HEIGHT = 1280, 1040
PROTOCOL_LINE = 628  # where the packet details have our protocol, after the frame, Ethernet, IP and TCP
PATIENCE = 120  # seconds until something has to be there
LAYOUT = """
gui.layout_content_1: PLIST
gui.layout_content_2: PDETAILS
gui.layout_content_3: NONE
gui.update.enabled: FALSE
gui.ask_unsaved: FALSE
gui.geometry.save.position: FALSE
gui.geometry.save.size: FALSE
gui.geometry.save.maximized: FALSE
"""
# What Wireshark remembers of the windows of a profile: widths of the columns, heights of the panes.
RECENT = """
column.width: %m, 45, %t, 85, %s, 95, %d, 95, %Cus:rnic_iwarp.connection:0:R, 30, %Cus:rnic_iwarp.role:0:R, 70, %p, 60, %Cus:iwarp_ddp.msn:0:R, 50, %Cus:rnic_iwarp.response_time:0:R, 95, %Cus:rnic_iwarp.violation.rule:0:R, 250, %i, 400
gui.geometry_main_upper_pane: 215
gui.geometry_main_lower_pane: 700
"""


@dataclasses.dataclass
class Picture:
    name: str
    capture: str  # in the corpus
    frame: int
    words: tuple = ()
    keys: tuple = ("shift+Right",)  # all of our protocol


LOWER = ("shift+Right", "Next")  # and a page further down
PICTURES = [
    Picture("wireshark-reads", "siw/rping-6.1-to-6.12", 10, keys=LOWER),
    Picture("wireshark-crc", "samples/wrong_crc", 8),
    Picture("wireshark-marker", "samples/wrong_marker", 8),
    Picture("wireshark-startup", "samples/faults_of_startup", 33),
    Picture("wireshark-terminate", "samples/kept", 16, keys=(*LOWER, "Next")),
    Picture("wireshark-response-times", "siw/rping-6.1-to-6.12", 13, words=("-z", "rnic_iwarp,srt"), keys=()),
]


def found(words):
    """What a program finds, which waits until it does."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.split()
    except subprocess.TimeoutExpired:
        raise SystemExit(f"take_pictures.py: nothing comes of {' '.join(words)} within {PATIENCE} s") from None


class Display:
    def __init__(self):
        ours, theirs = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp"],
                                       pass_fds=[theirs], stderr=subprocess.DEVNULL)
        os.close(theirs)
        with os.fdopen(ours) as told:
            number = told.readline().strip()  # written when the display is there
        if not number:
            raise SystemExit("take_pictures.py: Xvfb does not start")
        os.environ["DISPLAY"] = f":{number}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


def still(folder):
    """The screen, when it has been the same three times in a row: no event tells that a window is drawn."""
    file, seen, until = folder / "screen.png", [], time.monotonic() + PATIENCE
    while len(seen) < 3 or len(set(seen[-3:])) > 1:
        if time.monotonic() > until:
            raise SystemExit(f"take_pictures.py: no picture that stays the same within {PATIENCE} s")
        subprocess.run(["import", "-window", "root", str(file)], check=True)
        seen.append(hashlib.sha256(subprocess.run(["convert", str(file), "rgb:-"], capture_output=True, check=True).stdout).digest())
    return file


def take(picture, folder, out):
    file = folder / f"{pathlib.Path(picture.capture).name}.pcap"
    file.write_bytes(gzip.decompress((CORPUS / f"{picture.capture}.pcap.gz").read_bytes()))
    file.chmod(0o644)
    environment = dict(os.environ, HOME=str(folder / "home"), WIRESHARK_PLUGIN_DIR=str(folder / "plugins"), LC_ALL="C.UTF-8",
                       XDG_RUNTIME_DIR=str(folder / "home"), QT_QPA_PLATFORM="xcb")
    environment.pop("XDG_CONFIG_HOME", None)
    program = subprocess.Popen([*plugin.plain_user(), "wireshark", "-C", "iWARP", "-r", str(file), "-g", str(picture.frame), *picture.words],
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        (window, *_) = found(["xdotool", "search", "--sync", "--onlyvisible", "--name", file.name])
        subprocess.run(["xdotool", "windowsize", "--sync", window, str(WIDTH), str(HEIGHT), "windowmove", window, "0", "0"], check=True)
        still(folder)
        if picture.keys:
            subprocess.run(["xdotool", "windowfocus", "--sync", window, "mousemove", "200", str(PROTOCOL_LINE), "click", "1"], check=True)
        for key in picture.keys:
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], check=True)
            still(folder)
        subprocess.run(["xdotool", "mousemove", "1270", "1030"], check=True)
        # Few colours: the pictures are part of the sources.
        subprocess.run(["convert", str(still(folder)), "-strip", "-colors", "64", f"PNG8:{out / picture.name}.png"], check=True)
        print(out / f"{picture.name}.png", flush=True)
    finally:
        program.terminate()
        program.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[-2:]))
    parser.add_argument("--module", required=True, help="rnic_iwarp.so")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the pictures")
    parser.add_argument("names", nargs="*", help="only these pictures")
    arguments = parser.parse_args()
    arguments.root = ""
    plugin.PROGRAMS = arguments
    missing = [word for word in ("wireshark", "Xvfb", "xdotool", "import", "convert") if shutil.which(word) is None]
    if missing:
        raise SystemExit(f"take_pictures.py: {', '.join(missing)} not found; install them with: "
                         "apt-get install wireshark xvfb xdotool imagemagick")
    with tempfile.TemporaryDirectory() as folder, Display():
        plugin.SCRATCH = pathlib.Path(folder)
        plugin.prepare()
        profile = plugin.SCRATCH / "home/.config/wireshark/profiles/iWARP"
        with open(profile / "preferences", "a", encoding="utf-8") as preferences:
            preferences.write(LAYOUT)
        (profile / "recent").write_text(RECENT)
        (profile / "recent").chmod(0o666)
        for picture in PICTURES:
            if not arguments.names or picture.name in arguments.names:
                take(picture, plugin.SCRATCH, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
