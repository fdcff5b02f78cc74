#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Keeps the commands of README.md, CONTRIBUTING.md and docs/*.md true.

Every command is in a block marked `sh`, or between backquotes in the text. The options of each command of ours must be in its
--help, `--select` and `--rule` must match something, and each target, test and linked file must exist.
With --run the blocks are also run, in the order of the page, in a separate folder that looks like the source tree:

  sh             is run
  sh long        is run with --long only: it takes minutes
  sh dut         is run with --long only, with the blocks of the page that are marked so, beside the DUT of `rnic-lab dut`: a
                 Debian with the agent's package, which the test makes
  sh root        is run by tools/readme_test.sh only, as root in a clean Debian
  sh hardware    is never run: it needs hardware, rights or time that a test does not have

A comment before a block gives what the test does first, the exit code of the block if it is not 0, and the user if it is not root
(Wireshark, for example, behaves differently if root starts it):

  <!-- first: cp dissectors/corpus/samples/wrong_crc.pcap.gz trace.pcap.gz -->
  <!-- exit: 1 -->
  <!-- user: plain -->
"""

import argparse
import dataclasses
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

OURS = {"rnic-suite", "rnic-plugfest", "rnic-lint", "rnic-self-test", "rnic-lab", "rnic-agent", "rnic-await-agent", "rnic-dat-cases", "cases_on_reference",
        "run_suite.sh", "run_tests.sh"}
SUBCOMMANDS = {"rnic-suite", "rnic-plugfest"}
TAGS = {"long", "dut", "root", "hardware"}
FENCE = re.compile(r"^(\s*)```(.*)$")
NOTE = re.compile(r"<!-- (first|exit|user): (.*?) -->")
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
TIME_LIMIT = 600  # seconds, of a block
PACKAGE = "cpack --config build/release/CPackConfig.cmake -D CPACK_COMPONENTS_ALL=agent -B packages"
PLAIN_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    tags: set
    text: str
    first: list
    status: int
    plain_user: bool


@dataclasses.dataclass
class Page:
    name: str
    blocks: list
    inline: list  # (line, text)
    links: list  # (line, path)
    indented: list  # (line, text)


def read_page(root, path):
    """The commands and links of a page."""
    page = Page(str(path.relative_to(root)), [], [], [], [])
    first, status, plain, block, indent = [], 0, False, None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence and not fence[2].strip():
                page.blocks.append(block)
                block = None
            else:
                block.text += line.removeprefix(indent) + "\n"
            continue
        if fence:
            language, *tags = fence[2].split() or [""]
            indent = fence[1]
            block = Block(page.name, number, language, set(tags), "", first, status, plain)
            first, status, plain = [], 0, False
            continue
        for kind, text in NOTE.findall(line):
            if kind == "first":
                first.append(text)
            elif kind == "exit":
                status = int(text)
            else:
                plain = text == "plain"
        page.links += [(number, target) for target in LINK.findall(line) if "://" not in target and not target.startswith("mailto:")]
        if line.startswith("    "):
            page.indented.append((number, line.strip()))
        page.inline += [(number, text) for text in INLINE.findall(line)]
    return page


def simple_commands(text):
    """The words of each simple command of a shell text: continued lines are joined, pipes and lists split, comments left out."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>()")
        lexer.whitespace_split = True
        words = []
        for word in lexer:
            if set(word) <= set(";&|()"):
                yield words
                words = []
            else:
                words.append(word)
        yield words


def ours_in(words):
    """The program of ours that the words start, also through ssh, sudo or after an assignment, and what follows it."""
    for at, word in enumerate(words):
        name = pathlib.PurePath(word).name
        is_tool = word.removeprefix("./").startswith("tools/")
        if name in OURS or is_tool:
            return word, words[at + 1:]
        if at == 0 and not ("=" in word or word in ("ssh", "sudo", "exec", "python3", "env", "time")):
            return None, []
    return None, []


class Checker:
    def __init__(self, root, build):
        self.root, self.build = root, build
        places = (build / "programs.txt").read_text().split() + ["suite/cases/cases_on_reference"]
        self.programs = {pathlib.PurePath(place).name: build / place for place in places}
        self.faults = []

    def fault(self, page, line, what):
        self.faults.append(f"{page}:{line}: {what}")

    @functools.lru_cache(maxsize=None)
    def options_of(self, program, subcommand):
        """All options in the --help of a program, or a sentence that says why there are none."""
        name = pathlib.PurePath(program).name
        if name == "run_suite.sh":
            own = OPTION.findall((self.root / name).read_text())
            return {*own, *self.options_of("rnic-suite", "run"), *self.options_of("rnic-plugfest", "run")}
        if name in self.programs:
            command = [self.programs[name], *([subcommand] if subcommand else []), "--help"]
        else:
            path = self.root / program.removeprefix("./")
            if not path.is_file():
                return f"there is no {program}"
            command = [path, "--help"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except OSError as error:
            return f"{program}: {error.strerror}: {error.filename}"
        if done.returncode != 0:
            return f"`{program} {subcommand or ''} --help` ends with {done.returncode}: {done.stderr.strip()}"
        return {"--help", *OPTION.findall(done.stdout)}

    def check_ours(self, page, line, program, arguments):
        name = pathlib.PurePath(program).name
        if name in OURS and name not in self.programs and not name.endswith(".sh"):
            return  # a part that this build does not have
        subcommand = None
        if name in SUBCOMMANDS:
            if arguments and not arguments[0].startswith("-"):
                subcommand = arguments[0]
            elif arguments and arguments[0] not in ("--help", "--version") and name == "rnic-suite":
                subcommand = "run"
        known = self.options_of(program, subcommand)
        if isinstance(known, str):
            return self.fault(page, line, known)
        if "--" in arguments:
            arguments = arguments[:arguments.index("--")]
        for word in arguments:
            option = word.split("=")[0]
            if OPTION.fullmatch(option) and option not in known:
                self.fault(page, line, f"`{name} {subcommand or ''}` has no option {option}")
        if name in ("rnic-suite", "run_suite.sh") and "--plugfest" not in arguments:
            self.check_selection(page, line, arguments)

    def check_selection(self, page, line, arguments):
        """What a command selects must exist."""
        chosen = []
        for option, value in zip(arguments, arguments[1:]):
            if option in ("--select", "--rule", "--rfc", "--section") and not re.fullmatch(r"[A-Z]+", value):  # `--rule GLOB` is no name
                chosen += [option, value]
        if not chosen:
            return
        done = subprocess.run([self.programs["rnic-suite"], "list", *chosen], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 0:
            self.fault(page, line, done.stderr.strip())

    def check_foreign(self, page, line, words):
        """Targets and tests of the build exist."""
        if words[:2] == ["cmake", "--build"] and "--target" in words:
            known = (self.build / "build.ninja").read_text()
            for target in words[words.index("--target") + 1:]:
                if target.startswith("-"):
                    break
                if not re.search(rf"^build {re.escape(target)}:", known, re.MULTILINE):
                    self.fault(page, line, f"the build has no target {target}")
        if words[:1] == ["ctest"] and "-R" in words:
            pattern = words[words.index("-R") + 1]
            done = subprocess.run(["ctest", "--test-dir", self.build, "-N", "-R", pattern], capture_output=True, text=True, check=False)
            if "Total Tests: 0" in done.stdout:
                self.fault(page, line, f"no test matches {pattern}")

    def check_command(self, page, line, text):
        try:
            commands = [words for words in simple_commands(text) if words]
        except ValueError as error:
            return self.fault(page, line, f"{error}: {text.strip()}")
        for words in commands:
            program, arguments = ours_in(words)
            if program:
                self.check_ours(page, line, program, arguments)
            else:
                self.check_foreign(page, line, words)

    def check(self, page):
        for block in page.blocks:
            if block.language == "sh":
                for tag in block.tags - TAGS:
                    self.fault(page.name, block.line, f"there is no tag '{tag}': {', '.join(sorted(TAGS))}")
                self.check_command(page.name, block.line, block.text)
            elif not block.language and any(ours_in(words)[0] for words in self.words_of(block.text)):
                self.fault(page.name, block.line, "a command belongs in a block marked `sh`")
        for line, text in page.indented:
            if any(ours_in(words)[0] for words in self.words_of(text)):
                self.fault(page.name, line, "a command belongs in a block marked `sh`")
        for line, text in page.inline:
            if re.match(r"(\./|bin/|build/\S*/|tools/)?[\w.-]+ ", text) and ours_in(text.split())[0]:
                self.check_command(page.name, line, text.replace("...", ""))
        for line, target in page.links:
            if not (self.root / page.name).parent.joinpath(target).exists():
                self.fault(page.name, line, f"there is no {target}")

    @staticmethod
    def words_of(text):
        try:
            return [words for words in simple_commands(text) if words]
        except ValueError:
            return []


class Runner:
    """Runs the blocks of a page in a folder that looks like the source tree after ./run_suite.sh."""

    def __init__(self, checker, long):
        self.checker, self.long = checker, long

    def looks_like_the_tree(self, folder):
        root, build = self.checker.root, self.checker.build
        for entry in root.iterdir():
            if entry.name not in ("build", "bin", ".git") and not entry.name.startswith("out"):
                (folder / entry.name).symlink_to(entry)
        (folder / "bin").mkdir()
        for name, place in self.checker.programs.items():
            (folder / "bin" / name).symlink_to(place)
        (folder / "build").mkdir()
        for preset in ("dev", "release"):
            (folder / "build" / preset).symlink_to(build)

    def copy_of_the_sources(self, folder):
        """For commands that build: the copy keeps a build folder of its own, so that the next time is quick."""
        shutil.rmtree(folder / "out", ignore_errors=True)
        listed = subprocess.run(["git", "-C", self.checker.root, "ls-files", "-z"], capture_output=True, check=True).stdout
        packed = subprocess.run(["tar", "--create", "--file=-", "-C", self.checker.root, "--null", "--files-from=-"], input=listed, capture_output=True,
                                check=True).stdout
        subprocess.run(["tar", "--extract", "--file=-", "-C", folder], input=packed, check=True)

    def run_block(self, block, folder, home):
        script = "\n".join([*block.first, block.text])
        setting = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}
        print(f"{block.page}:{block.line}: " + block.text.strip().splitlines()[0], flush=True)
        shell = ["bash", "-e", "-c"]
        if block.plain_user and os.getuid() == 0:
            shell = [*PLAIN_USER, *shell]
            if subprocess.run([*shell, "test -x build/dev/suite"], cwd=folder, check=False).returncode:
                print("  left out: a plain user cannot reach the build folder", flush=True)
                return
        done = subprocess.run([*shell, script], cwd=folder, env=setting, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, errors="replace",
                              timeout=None if self.long else TIME_LIMIT)
        if done.returncode != block.status:
            self.checker.fault(block.page, block.line, f"ends with {done.returncode}, not {block.status}:\n{block.text}\n{done.stdout[-2000:]}")

    def run_beside_dut(self, blocks, folder):
        """One shell for all of them: they are the steps of one way. It reads them from a file, since ssh reads what is on standard input."""
        if os.getuid():
            print(f"{blocks[0].page}: left out: only root can make the DUT's Debian", flush=True)
            return
        text = "".join(f"echo '{block.page}:{block.line}'\n{block.text}" for block in blocks)
        (folder / "steps").write_text(text)
        first = blocks[0]
        block = Block(first.page, first.line, "sh", set(), "bin/rnic-lab dut --package packages/rnic-agent_*.deb -- bash -e -x steps", [PACKAGE], 0, False)
        self.run_block(block, folder, pathlib.Path.home())

    def run(self, page):
        wanted = [block for block in page.blocks if block.language == "sh" and not block.tags & TAGS]
        late = [block for block in page.blocks if block.language == "sh" and "long" in block.tags] if self.long else []
        with tempfile.TemporaryDirectory(prefix="rnic-docs.") as scratch:
            home, folder = pathlib.Path(scratch) / "home", pathlib.Path(scratch) / "tree"
            home.mkdir(mode=0o777)
            folder.mkdir()
            pathlib.Path(scratch).chmod(0o755)
            if wanted and not self.long:
                self.looks_like_the_tree(folder)
                for block in wanted:
                    self.run_block(block, folder, home)
            beside_dut = [block for block in page.blocks if block.language == "sh" and "dut" in block.tags] if self.long else []
            if beside_dut:
                self.looks_like_the_tree(folder)
                self.run_beside_dut(beside_dut, folder)
            if late:
                folder = self.checker.build / "docs_checkout"
                folder.mkdir(exist_ok=True)
                self.copy_of_the_sources(folder)
                for block in late:
                    self.run_block(block, folder, pathlib.Path.home())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: tools/check_docs.py . build/dev --run --page docs/running.md")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path, help="build folder, with all programs built")
    parser.add_argument("--run", action="store_true", help="run the blocks marked sh")
    parser.add_argument("--long", action="store_true", help="run the blocks marked sh long instead")
    parser.add_argument("--page", action="append", help="only this page; may be repeated")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    checker = Checker(root, arguments.build.resolve())
    paths = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    for path in paths:
        if arguments.page and str(path.relative_to(root)) not in arguments.page:
            continue
        page = read_page(root, path)
        checker.check(page)
        if arguments.run or arguments.long:
            Runner(checker, arguments.long).run(page)
    for fault in checker.faults:
        print(fault, file=sys.stderr)
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
