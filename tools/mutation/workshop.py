# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A private copy of the tree with a build folder of its own, in which mutants are built and judged."""

import json
import os
import shutil
import signal
import subprocess
import threading

BUILDS = threading.Lock()  # a build uses all cores by itself
HUNG = "hung"
SUITE = "suite/runner/rnic-suite"


class Workshop:
    def __init__(self, root, folder, preset, replaced=None):
        """`replaced`: the contents of files that differ from those of the tree, by name."""
        # The preset's own folder for it, so that a compiler cache recognises the files of other trees.
        self.tree, self.build = folder / "tree", folder / "tree/build" / preset
        self.tree.mkdir(parents=True, exist_ok=True)
        # The report of a mutant is not needed.
        self.bring_up_to_date(root, {**(replaced or {}), "reports/render.py": b""})
        subprocess.run(["cmake", "-S", self.tree, "--preset", preset], check=True, stdout=subprocess.DEVNULL)

    def bring_up_to_date(self, root, replaced):
        """Reuses what an earlier run has left here: only files that differ are written, so that little is rebuilt."""
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True, text=True).stdout
        names = {name for name in listed.split("\0") if name and (root / name).is_file()} | set(replaced)
        here = [path for path in self.tree.rglob("*") if path.is_file() and path.relative_to(self.tree).parts[0] != "build"]
        for path in here:
            if path.relative_to(self.tree).as_posix() not in names:
                path.unlink()
        for name in names:
            copy = self.tree / name
            contents = replaced[name] if name in replaced else (root / name).read_bytes()
            if not copy.exists() or copy.read_bytes() != contents:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(contents)
                if name not in replaced:
                    shutil.copymode(root / name, copy)

    def compile(self, *targets):
        with BUILDS:
            return subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, text=True)

    def program(self, name, *words, timeout, environment=None):
        """The exit code of a program of the build, or HUNG, and its standard output."""
        started = subprocess.Popen([self.build / name, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        try:
            printed, _ = started.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return HUNG, ""
        finally:
            if started.poll() is None:  # with all that it has started
                os.killpg(started.pid, signal.SIGKILL)
                started.communicate()
        return started.returncode, printed

    def run(self, *words, timeout, environment=None):
        """The exit code of a run of cases, or HUNG, and its results; None if it leaves none."""
        out = self.build / "mutant-run"
        shutil.rmtree(out, ignore_errors=True)
        code, _ = self.program(SUITE, "run", *words, "--out", out, timeout=timeout, environment=environment)
        results = out / "results.json"
        return code, json.loads(results.read_text()) if results.exists() else None
