#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Unmodified programs of Debian's rdmacm-utils, ibverbs-utils, perftest, qperf, libfabric and Open MPI on the verbs library, over
loopback. Each pair, but for those that send too much, is captured by the launcher, and the capture judged by rnic-lint: no finding, and as many
connections as the programs make."""

import argparse
import filecmp
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PORT = {"fi_pingpong": 47592, "rping": 7174, "ucmatose": 7471, "rdma_server": 7471, "rdma_xserver": 7471, "rcopy": 7427, "rstream": 7471, "riostream": 7471, "cmtime": 7471, "qperf": 19765}
PERFTEST_PORT = 18515
ECHO = None  # path of rnic-echo
DEADLINE = 25  # seconds for one pair, on a machine that does other things
LONG = 600  # for 100,000 messages to and fro: ten seconds on an idle machine, minutes on a busy one
OWN_ADDRESS = "10.99.0.1"  # libfabric's verbs provider takes none of loopback


def enter():
    """Runs this script again in a namespace of its own: ports are free there, and the capture of lo holds nothing else. What goes to the
    other address passes lo as well."""
    if os.environ.get("RNIC_VERBS_PRIVATE_HOST") == "1":
        for words in ("link set lo up", "link add own type veth peer name other", f"addr add {OWN_ADDRESS}/24 dev own", "link set own up",
                      "link set other up"):
            subprocess.run(["ip", *words.split()], check=True)
        return
    os.execvpe("unshare", ["unshare", "-rn", sys.executable, *sys.argv], os.environ | {"RNIC_VERBS_PRIVATE_HOST": "1"})


def listens(port):
    """Whether a socket of this namespace listens on the port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and int(words[1].split(":")[1], 16) == port:
                return True
    return False


def wait_for_listener(server, port):
    latest = time.monotonic() + DEADLINE
    while not listens(port):
        try:
            server.wait(0.01)  # its end is the only event that there is
        except subprocess.TimeoutExpired:
            if time.monotonic() < latest:
                continue
        raise AssertionError(f"{server.args} does not listen on port {port}")


def end(server):
    """The program of a launcher that captures gets its signals."""
    server.send_signal(signal.SIGTERM)
    server.wait(DEADLINE)


def closed_while_read(said):
    """At its end rping closes the event channel, while its thread may be on the way to read it once more; then that ends the program with 255."""
    return "server DISCONNECT EVENT" in said and said.rstrip().endswith("rdma_get_cm_event: Bad file descriptor")


class Pair:
    """A server and a client; `serves_on`: the server does not end by itself; not `captured`: too much for a capture that loses nothing."""

    def __init__(self, server, client, port=None, serves_on=False, says=None, connections=1, client_code=0, deadline=DEADLINE,
                 captured=True):
        self.server, self.client = server.split(), client.split()
        self.port = port or PORT.get(self.server[0], PERFTEST_PORT)
        self.serves_on, self.says = serves_on, says
        self.connections, self.client_code, self.deadline = connections, client_code, deadline
        self.captured = captured

    def run(self, launcher, folder):
        """Its capture; an AssertionError says what went wrong."""
        capture = folder / "capture.pcapng"
        with open(folder / "server.txt", "w+") as server_output:
            server = subprocess.Popen([*launcher, *(["--capture", capture] if self.captured else []), *self.server],
                                      stdin=subprocess.DEVNULL, stdout=server_output, stderr=subprocess.STDOUT)
            try:
                wait_for_listener(server, self.port)
                client = subprocess.run([*launcher, *self.client], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                        timeout=self.deadline)
                if self.serves_on:
                    end(server)
                server.wait(DEADLINE)
            finally:
                if server.poll() is None:
                    end(server)
                server_output.seek(0)
                served = server_output.read()
        assert client.returncode == self.client_code, f"the client ends with {client.returncode}:\n{client.stdout}{client.stderr}"
        assert self.serves_on or server.returncode == 0 or closed_while_read(served), f"the server ends with {server.returncode}:\n{served}"
        for text in self.says or ():
            assert text in client.stdout + served, f"nobody says {text!r}:\n{client.stdout}\n{served}"
        return capture


def judge(lint, capture, connections, others=False):
    """`others`: only connections with FPDUs count; the programs have, or could have, TCP connections beside these."""
    result = subprocess.run([lint, "--json", capture], capture_output=True, text=True)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0, f"rnic-lint ends with {result.returncode}:\n{result.stdout}{result.stderr}"
    seen = sum(1 for record in found if record["type"] == "connection" and (record["first"]["fpdus"] > 0 or not others))
    assert seen == connections, f"the capture has {seen} connections, not {connections}:\n{result.stdout[:2000]}"


def perftest(program, *options, connections=2, iterations=50):
    """With -R these programs have one connection more than queue pairs: over it they tell each other their parameters."""
    words = " ".join([program, "-R", "-n", str(iterations), *options])
    return Pair(words, words + " 127.0.0.1", says=("BW average" if "_bw" in program else "t_avg",), connections=connections)


def streams(words):
    return Pair(words, words + " -s 127.0.0.1", says=("64_lat", "1m_bw"), deadline=LONG, captured=False)


def qperf(tests):
    """Each test has a connection of its own. Either side may send faster than the other posts receives: InfiniBand tries again, an RNIC may
    hold back what has no buffer."""
    names, words = tests.split(), "--lawful held_without_buffer qperf"
    return Pair(words, f"{words} -cm 1 -t 1 127.0.0.1 {tests}", port=PORT["qperf"], serves_on=True, says=[f"{name}:" for name in names],
                connections=len(names))


def libfabric(provider, endpoint):
    words = f"fi_pingpong -p {provider} -e {endpoint} -I 20 -S 4096"
    return Pair(words, f"{words} {OWN_ADDRESS}", says=("usec/xfer",))


# ib_send_bw sends no more than rx_depth messages, here their number, before the server writes a credit to its memory. It looks there
# after each event of a completion; with an even number the last message waits for a credit after the last event, for ever if the
# credit is late. For an odd number it adds one to rx_depth. And it moderates completions by 100.
WITH_EVENTS = 499

PAIRS = {
    "rping": Pair("rping -s -C 5 -v -V", "rping -c -a 127.0.0.1 -C 5 -v -V", says=("rdma-ping-4",)),
    "rping, odd size": Pair("rping -s -C 10 -S 12345 -V", "rping -c -a 127.0.0.1 -C 10 -S 12345 -V"),
    "rping, own queue pair": Pair("rping -s -q -C 3 -V", "rping -c -q -a 127.0.0.1 -C 3 -V"),
    "rping, persistent server": Pair("rping -s -P -p 7180 -d", "rping -c -a 127.0.0.1 -I 127.0.0.1 -p 7180 -C 3 -d -V", port=7180,
                                     serves_on=True, says=("server DISCONNECT EVENT", "destroy cm_id")),
    "rping over IPv6": Pair("rping -s -a ::1 -C 3 -V", "rping -c -a ::1 -C 3 -V"),
    "ucmatose": Pair("ucmatose -c 3 -C 20 -S 300", "ucmatose -s 127.0.0.1 -c 3 -C 20 -S 300", says=("return status 0",), connections=3),
    "ucmatose, migrating": Pair("ucmatose -C 5 -m", "ucmatose -s 127.0.0.1 -C 5 -m", says=("return status 0",)),
    "cmtime": Pair("cmtime", "cmtime -s 127.0.0.1 -c 5", serves_on=True, says=("disconnect",), connections=5),
    "rdma_client": Pair("rdma_server", "rdma_client -s 127.0.0.1", says=("rdma_client: end 0",)),
    "rdma_xclient": Pair("rdma_xserver", "rdma_xclient -s 127.0.0.1", says=("rdma_xclient: end 0", "rdma_xserver: end 0")),
    "rstream": Pair("rstream -S 4096 -C 20 -T v", "rstream -s 127.0.0.1 -S 4096 -C 20 -T v"),
    "riostream": Pair("riostream -S 4096 -C 20 -T v", "riostream -s 127.0.0.1 -S 4096 -C 20 -T v"),
    # Its second connection is for bandwidth, and asks for no inline data. Before that it exchanges 100,000 messages; without -T b it spins
    # meanwhile, as riostream always does, which takes a quarter of an hour where the two have to share a processor.
    "rstream, both halves": streams("rstream -T b"),
    "ib_write_bw": perftest("ib_write_bw"),
    "ib_write_bw, several": perftest("ib_write_bw", "-q", "3", connections=4),
    "ib_write_bw, large": perftest("ib_write_bw", "-s", "1000001", iterations=5),
    "ib_write_bw, both ways": perftest("ib_write_bw", "-b"),
    "ib_write_lat": perftest("ib_write_lat"),
    "ib_write_lat, inline": perftest("ib_write_lat", "-I", "64", "-s", "64"),
    "ib_send_bw": perftest("ib_send_bw"),
    "ib_send_bw, events": perftest("ib_send_bw", "-e", iterations=WITH_EVENTS),
    "ib_send_bw, both ways": perftest("ib_send_bw", "-b"),
    "ib_send_bw, shared queue": perftest("ib_send_bw", "--use-srq"),
    "ib_send_lat": perftest("ib_send_lat"),
    "ib_send_lat, events": perftest("ib_send_lat", "-e"),
    "ib_send_bw, several": perftest("ib_send_bw", "-q", "3", connections=4),
    "ib_send_lat, shared queue": perftest("ib_send_lat", "--use-srq"),
    "ib_read_bw": perftest("ib_read_bw"),
    "ib_read_bw, several": perftest("ib_read_bw", "-q", "3", connections=4),
    "ib_read_lat, events": perftest("ib_read_lat", "-e"),
    "ib_atomic_bw, events": perftest("ib_atomic_bw", "-e", iterations=WITH_EVENTS),
    "ib_read_bw, events": perftest("ib_read_bw", "-e", iterations=WITH_EVENTS),
    "ib_read_lat": perftest("ib_read_lat"),
    "ib_atomic_bw": perftest("ib_atomic_bw"),
    "ib_atomic_lat": perftest("ib_atomic_lat"),
    "ib_atomic_lat, swap": perftest("ib_atomic_lat", "-A", "CMP_AND_SWAP"),
    "fi_pingpong": libfabric("verbs", "msg"),
    "fi_pingpong, datagrams": libfabric("verbs;ofi_rxm", "rdm"),
    "qperf": qperf("rc_rdma_write_bw"),
    "qperf, more": qperf("rc_rdma_read_bw rc_bi_bw rc_lat rc_rdma_write_lat rc_rdma_read_lat rc_fetch_add_mr rc_compare_swap_mr"),
}


def copy(launcher, lint, folder):
    """rcopy, over rsockets: the copy is the file."""
    source, target = folder / "source", folder / "target"
    source.write_bytes(os.urandom(300_001))
    pair = Pair("rcopy", f"rcopy {source} 127.0.0.1:{target}", serves_on=True)
    judge(lint, pair.run(launcher, folder), 1)
    assert filecmp.cmp(source, target, shallow=False), "the copy differs"


# iWARP has no datagrams, no multicast and no unreliable connections: these are refused at their first step. Most say so.
REFUSED = {"udaddy": "return status -1", "mckey -m 239.1.2.3": "", "ibv_ud_pingpong": "Couldn't create QP",
           "ibv_uc_pingpong": "Couldn't create QP"}


def datagrams(launcher, lint, folder):
    for words, text in REFUSED.items():
        result = subprocess.run([*launcher, *words.split()], capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
        assert result.returncode != 0 and text in result.stdout + result.stderr, f"{words}: {result.stdout}{result.stderr}"


def deviation(launcher, lint, folder):
    """A fault that the client's RNIC has is found in the capture, and named by its rule: here the very first message is wrong, so
    both programs fail."""
    pair = Pair("rping -s -C 2", "--deviate msn_starts_at_zero rping -c -a 127.0.0.1 -C 2", port=PORT["rping"], connections=1)
    try:
        pair.run(launcher, folder)
    except AssertionError:
        pass
    result = subprocess.run([lint, "--json", folder / "capture.pcapng"], capture_output=True, text=True)
    assert result.returncode == 1 and "ddp.untagged.msn-starts-at-one" in result.stdout, result.stdout + result.stderr


def devices(launcher, lint, folder):
    named = subprocess.run([*launcher, "--device", "mine7", "ibv_devinfo"], capture_output=True, text=True, timeout=DEADLINE)
    assert "mine7" in named.stdout and "iWARP" in named.stdout and "PORT_ACTIVE" in named.stdout, named.stdout + named.stderr


def mistakes(launcher, lint, folder):
    """One line that says what to do, and nothing is run."""
    for words, code, text in ((["--deviate", "crc_uncheckd", "true"], 2, "did you mean 'crc_unchecked'"),
                              (["--lawful", "nothing", "true"], 2, "no lawful variant"), ([], 2, "which program"),
                              (["--devaite", "x"], 2, "no option --devaite"), (["no-such-program"], 127, "cannot be started"),
                              (["--capture", "/no/such/folder/x", "true"], 2, "cannot be written")):
        result = subprocess.run([*launcher, *words], capture_output=True, text=True, timeout=DEADLINE)
        assert result.returncode == code and text in result.stderr, (words, result)
        assert result.stderr.count("\n") == 1, result.stderr


def plain_sockets(launcher, lint, folder):
    """--rsocket: programs that know sockets only."""
    pair = Pair(f"--rsocket {ECHO} serve", f"--rsocket {ECHO} call", port=9000, says=("came back",))
    judge(lint, pair.run(launcher, folder), 1, others=True)


def netcat(launcher, lint, folder):
    """--rsocket: a program of Debian that knows sockets only, at both ends. What comes out is what goes in, and it goes over iWARP."""
    source, target, capture = folder / "source", folder / "target", folder / "capture.pcapng"
    source.write_bytes(os.urandom(300_001))
    with open(target, "wb") as output:
        server = subprocess.Popen([*launcher, "--rsocket", "--capture", capture, "nc.traditional", "-l", "-p", "9001"], stdin=subprocess.DEVNULL,
                                  stdout=output)
    try:
        wait_for_listener(server, 9001)
        with open(source, "rb") as octets:
            client = subprocess.run([*launcher, "--rsocket", "nc.traditional", "-q", "1", "127.0.0.1", "9001"], stdin=octets, timeout=DEADLINE)
        server.wait(DEADLINE)
    finally:
        if server.poll() is None:
            end(server)
    assert (client.returncode, server.returncode) == (0, 0), f"the client ends with {client.returncode}, the server with {server.returncode}"
    assert filecmp.cmp(source, target, shallow=False), "what came is not what was sent"
    judge(lint, capture, 1, others=True)


def open_mpi(launcher, lint, folder):
    """Over libfabric: the processes of a ring pass a message on. Debian's openib component does not connect over iWARP (docs/verbs-provider.md)."""
    capture = folder / "capture.pcapng"
    words = ["mpirun", "-np", "2", "--oversubscribe", "--allow-run-as-root", "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca",
             "mtl_ofi_provider_include", "verbs;ofi_rxm", "/usr/bin/python3", "-m", "mpi4py.bench", "ringtest", "-n", "4096", "-l", "10"]
    result = subprocess.run([*launcher, "--capture", capture, *words], capture_output=True, text=True, timeout=4 * DEADLINE, stdin=subprocess.DEVNULL)
    assert result.returncode == 0 and "time for 10 loops" in result.stdout, result.stdout + result.stderr
    judge(lint, capture, 1, others=True)


CHECKS = {"Open MPI": open_mpi, "rcopy": copy, "plain sockets": plain_sockets, "netcat": netcat, "a deviation": deviation, "refusals": datagrams, "ibv_devinfo": devices, "mistakes": mistakes}

# One for each way to use the library; they take some seconds.
SOME = ["fi_pingpong", "rping", "rping, own queue pair", "ucmatose", "cmtime", "rdma_xclient", "rstream", "ib_write_bw, several", "ib_send_bw, events", "ib_read_bw", "ib_atomic_lat",
        "rcopy", "plain sockets", "netcat", "a deviation", "refusals", "ibv_devinfo", "mistakes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("launcher")
    parser.add_argument("lint")
    parser.add_argument("echo", help="rnic-echo")
    parser.add_argument("--some", action="store_true", help="only " + ", ".join(SOME))
    parser.add_argument("--only", help="one of: " + ", ".join([*PAIRS, *CHECKS]))
    arguments = parser.parse_args()
    enter()
    global ECHO
    ECHO = arguments.echo
    failed = 0
    for name in [*PAIRS, *CHECKS]:
        if arguments.only not in (None, name) or (arguments.some and name not in SOME):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            try:
                if name in CHECKS:
                    CHECKS[name]([arguments.launcher], arguments.lint, folder)
                else:
                    capture = PAIRS[name].run([arguments.launcher], folder)
                    if PAIRS[name].captured:
                        judge(arguments.lint, capture, PAIRS[name].connections)
                print(f"{name}: passed in {time.monotonic() - began:.1f} s")
            except (AssertionError, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"{name}: {problem}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
