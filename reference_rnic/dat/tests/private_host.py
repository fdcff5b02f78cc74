# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A private network namespace and dat.conf, and programs that communicate with one another in it."""

import os
import pathlib
import selectors
import subprocess
import sys
import time

IA = "rnic0"


def enter():
    """Runs this script again in a namespace whose only interface is lo; ports are free there."""
    if os.environ.get("RNIC_DAT_PRIVATE_HOST") == "1":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    environment = os.environ | {"RNIC_DAT_PRIVATE_HOST": "1"}
    os.execvpe("unshare", ["unshare", "-rn", sys.executable, *sys.argv], environment)


def write_dat_conf(folder, library, address="127.0.0.1"):
    path = pathlib.Path(folder) / "dat.conf"
    path.write_text("".join(
        f'{IA} u2.0 {safety} default {library} rnic.1.0 "lo {address}" ""\n' for safety in ("nonthreadsafe", "threadsafe")))
    return os.environ | {"DAT_OVERRIDE": str(path)}


class Program:
    """A child whose output is read as it comes; ended by its id."""

    def __init__(self, command, environment):
        self.command = " ".join(command)
        self.output = ""
        self.child = subprocess.Popen(["stdbuf", "-oL", *command], env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.set_blocking(self.child.stdout.fileno(), False)

    def read_until(self, text, deadline):
        """True once the output holds `text` (None: once it has ended), False if the time is up or the program has ended."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdout, selectors.EVENT_READ)
            while text is None or text not in self.output:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return False
                octets = self.child.stdout.read()
                if octets == b"":
                    return text is None
                self.output += (octets or b"").decode(errors="replace")
        return True

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.child.stdout.close()
