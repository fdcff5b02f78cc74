#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An event through a real Slurm of one slurmctld and four slurmd on this machine, in a network namespace of the test's own: the same
verdicts as without it, nothing played twice, and how near its end comes to the soonest possible: slurm_test.py RNIC_PLUGFEST."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv[1]
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "sinfo")
SKIPPED = 77
NODES = 4
HELLO = 10  # seconds until a synthetic agent says hello; both of a cell begin at once, and no more comes
CONF = """
ClusterName=plugfest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17001
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
InactiveLimit=0
MinJobAge=60
{nodes}
PartitionName=fest Nodes=n[1-{count}] Default=YES MaxTime=60 State=UP
"""
VERDICTS = """
event: small
deadline: 60
patience: 10
participants:
  - {name: ours, agent: {reference: }}
  - {name: untidy, agent: {reference: {deviations: [marker_reserved_not_zero]}}}
  - {name: curt, agent: {reference: {deviations: [private_data_truncated]}}}
scenarios: [startup.markers, startup.private_data, send.plain]
"""
SLOW = """#!/bin/sh
sleep %d
echo '{"type":"hello","version":1,"driver":"slow","implementation":"slow","driver_version":"","firmware":"","kernel":"","capabilities":[],"limits":{}}'
cat >/dev/null
"""


def sbin():
    os.environ["PATH"] += ":/usr/sbin:/sbin"


def private_network():
    """Loopback alone will not do: where no other address is, Slurm's resolver finds none to listen on."""
    for words in ("set lo up", "add fest0 type bridge", "set fest0 up"):
        subprocess.run(["ip", "link", *words.split()], check=True)
    subprocess.run(["ip", "addr", "add", "10.99.0.1/24", "dev", "fest0"], check=True)


class Cluster:
    """One controller, its nodes and their munged, each a process of ours that is ended by its id."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        for name in ("state", *(f"spool.n{at + 1}" for at in range(NODES))):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(f"NodeName=n{at + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={17010 + at} CPUs=2 State=UNKNOWN"
                          for at in range(NODES))
        user = os.environ.get("USER", "root") if os.geteuid() else "root"
        (folder / "slurm.conf").write_text(CONF.format(host=host, folder=folder, user=user, nodes=nodes, count=NODES), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        self.start("munged", "-F", "--force", "--key-file", key, "--socket", folder / "munge.socket", "--pid-file", folder / "munge.pid",
                   "--log-file", folder / "munge.log", "--seed-file", folder / "munge.seed")
        self.wait("a munged", lambda: (folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-f", folder / "slurm.conf")
        for at in range(NODES):
            self.start("slurmd", "-D", "-f", folder / "slurm.conf", "-N", f"n{at + 1}")
        self.wait("four idle nodes", lambda: self.idle() == NODES)

    def start(self, *words):
        with (self.folder / f"{words[0]}.{len(self.processes)}.said").open("wb") as log:
            self.processes.append(subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    @staticmethod
    def idle():
        said = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], capture_output=True, text=True, check=False).stdout
        return sum(line.endswith("idle") for line in said.splitlines())

    def wait(self, what, there):
        until = time.monotonic() + 60
        while not there():
            if time.monotonic() > until:
                logs = "".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("*.log")))
                raise AssertionError(f"no {what} after a minute\n{logs}")
            try:
                self.processes[-1].wait(0.2)
            except subprocess.TimeoutExpired:
                continue
            until = 0  # who was to be waited for has ended

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.cluster = Cluster(cls.folder)
        cls.addClassCleanup(cls.cluster.end)

    def play(self, name, text, engine, *words):
        event = self.folder / f"{name}.yaml"
        event.write_text(text, encoding="utf-8")
        out = self.folder / f"{name}.{engine}"
        done = subprocess.run([PROGRAM, "run", event, "--out", out, "--engine", engine, *words], capture_output=True, text=True, timeout=400,
                              check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads((out / "results.json").read_text(encoding="utf-8"))

    def test_the_same_verdicts(self):
        played = {}
        for engine in ("local", "slurm"):
            whole = self.play("small", VERDICTS, engine)
            self.assertTrue(whole["complete"])
            played[engine] = {cell["id"]: (cell["verdict"], cell["fault"]) for cell in whole["cells"]}
            self.assertEqual(len(whole["cells"]), 18)
        self.assertEqual(played["slurm"], played["local"])
        self.assertIn(("fail", "initiator"), played["slurm"].values())
        self.assertEqual(len(list((self.folder / "small.slurm" / "pcap").glob("*.pcap"))), 18)

    def test_killed_and_taken_up(self):
        event, out = self.folder / "killed.yaml", self.folder / "killed.out"
        event.write_text(VERDICTS.replace("small", "killed"), encoding="utf-8")
        words = [PROGRAM, "run", event, "--out", out, "--engine", "slurm"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as first:
            for line in first.stderr:
                if line.startswith("[4/"):
                    break
            first.send_signal(signal.SIGKILL)
        subprocess.run(words, capture_output=True, timeout=300, check=False)
        cells = [cell["id"] for cell in json.loads((out / "results.json").read_text(encoding="utf-8"))["cells"]]
        self.assertEqual(len(cells), 18)
        self.assertEqual(len(set(cells)), 18)

    def test_the_end_comes_soon(self):
        """Synthetic cells of a fixed length on named nodes, no node in two cells at once."""
        slow = self.folder / "slow"
        slow.write_text(SLOW % HELLO, encoding="utf-8")
        slow.chmod(0o755)
        who = "".join(f"  - {{name: p{at}, node: n{at}, address: 127.0.0.{at}, agent: {{argv: [{slow}]}}}}\n" for at in range(1, NODES + 1))
        text = f"event: fixed\ncapture: lo\nparticipants:\n{who}scenarios: [extension.immediate]\n"
        began = time.monotonic()
        whole = self.play("fixed", text, "slurm", "--trust-event", "--jobs", "8")
        took = time.monotonic() - began
        self.assertEqual({cell["verdict"] for cell in whole["cells"]}, {"not_applicable"})
        self.assertEqual(len(whole["cells"]), NODES * (NODES - 1))
        bound = HELLO * 2 * (NODES - 1)  # of one node's row and column
        print(f"makespan {took:.1f} s, bound {bound} s, ratio {took / bound:.3f}", flush=True)
        self.assertGreaterEqual(took, bound * 0.99, "a node was in two cells at once")
        self.assertLessEqual(took, bound * 1.25)

    def test_a_node_that_does_not_exist(self):
        text = "event: e\nparticipants:\n  - {name: a, node: nowhere, agent: {reference: }}\n  - {name: b, agent: {reference: }}\n"
        whole = self.play("nowhere", text + "scenarios: [send.plain]\n", "slurm")
        for cell in whole["cells"]:
            self.assertEqual(cell["verdict"], "error")
            self.assertIn("sbatch", cell["reason"])


if __name__ == "__main__":
    sbin()
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        print(f"skipped: no {', '.join(missing)}: tools/install_packages.sh long")
        sys.exit(SKIPPED)
    if "FEST_PRIVATE" not in os.environ:
        unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        os.execvpe(unshare[0], [*unshare, sys.executable, *sys.argv], {**os.environ, "FEST_PRIVATE": "1", "LC_ALL": "C"})
    private_network()
    unittest.main(argv=sys.argv[:1], verbosity=2)
