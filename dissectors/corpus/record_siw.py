#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Records what the stock tools say to each other over the soft-iWARP of two Linux kernels.

Two guests with siw (suite/lab/siw_vm), one of each kernel series, are joined by a wire that QEMU records as their own virtio interfaces
cut it, without offloads. In each session one plays the Responder and the other the Initiator, then they change places. Each session becomes
a file NAME-INITIATOR-to-RESPONDER.pcap.gz; test_siw.py says what must be found in it.
"""
import argparse
import contextlib
import gzip
import pathlib
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PREPARE = HERE.parent.parent / "suite/lab/siw_vm/prepare.sh"
SERIES = ("6.1", "6.12")
ADDRESSES = {"6.1": "10.77.0.2", "6.12": "10.77.0.3"}
BOOT_TIME, ORDER_TIME, SESSION_TIME = 600, 60, 60  # seconds; emulation is slow, and hosts are busy

DEFAULTS = "revision=2 crc=off peer_to_peer=off rtr=write,read"
# name: port, siw-configure, server, client ({address}: the server's, {port}). Without a port the server says itself when it is ready.
SESSIONS = {
    "rping": (7001, DEFAULTS, "rping -s -C 4 -S 300 -v -p {port}", "rping -c -C 4 -S 300 -v -a {address} -p {port}"),
    "rping-crc": (7002, "crc=on", "rping -s -C 3 -S 4001 -v -p {port}", "rping -c -C 3 -S 4001 -v -a {address} -p {port}"),
    "rping-revision-1": (7003, "revision=1", "rping -s -C 2 -v -p {port}", "rping -c -C 2 -v -a {address} -p {port}"),
    "rping-rtr-write": (7004, "peer_to_peer=on rtr=write", "rping -s -C 2 -v -p {port}", "rping -c -C 2 -v -a {address} -p {port}"),
    "rping-rtr-read": (7005, "peer_to_peer=on rtr=read", "rping -s -C 2 -v -p {port}", "rping -c -C 2 -v -a {address} -p {port}"),
    "ucmatose": (7471, DEFAULTS, "ucmatose -c 2 -C 4 -S 777", "ucmatose -c 2 -C 4 -S 777 -s {address}"),
    "dapltest": (None, DEFAULTS, "dapltest -T S -D siw",
                 "dapltest -T T -s {address} -D siw -i 3 -t 1 -w 1 client SR 256 1 server SR 256 1 client RW 3000 1 server RR 500 1;"
                 " dapltest -T Q -s {address} -D siw"),
}


class Unplayed(Exception):
    """A session that did not come to its end; the others may."""


class Guest:
    """One QEMU process; `run` starts a program in it that has this process's pipes."""

    def __init__(self, series, folder, programs, wire):
        self.series, self.folder, self.programs = series, folder, programs
        parts = dict(line.split("=", 1) for line in subprocess.run(
            [PREPARE, "--series", series, "--daemon", programs / "rnic-guestd", "--program", "/usr/bin/dapltest"], check=True, text=True,
            stdout=subprocess.PIPE).stdout.splitlines())
        self.release = parts["release"]
        last = ADDRESSES[series].rsplit(".", 1)[1]
        network = "off,".join(["csum=", "gso=", "guest_csum=", "guest_tso4=", "guest_tso6=", "guest_ufo=", "guest_ecn=", "host_tso4=",
                               "host_tso6=", "host_ufo=", "host_ecn=", "mrg_rxbuf="]) + "off"
        self.log = open(folder / f"{series}.log", "wb")
        self.machine = subprocess.Popen(
            ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "pc", "-accel",
             "tcg,thread=multi", "-cpu", "max", "-m", "512", "-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
             "-kernel", parts["kernel"], "-initrd", parts["initramfs"], "-append",
             f"console=ttyS0 panic=-1 oops=panic mitigations=off nokaslr rnic.ipv4={ADDRESSES[series]}/24 rnic.ipv6=fd77::{last}/64 "
             "rnic.mtu=1500 rnic.variant=tunable",
             "-device", "virtio-serial-pci,max_ports=3",
             "-chardev", f"socket,id=control,path={folder}/{series}.control,server=on,wait=off",
             "-device", "virtserialport,chardev=control,name=rnic.control",
             "-chardev", f"socket,id=agent0,path={folder}/{series}.agent,server=on,wait=off",
             "-device", "virtserialport,chardev=agent0,name=rnic.agent.0",
             "-netdev", f"stream,id=wire,server={wire},addr.type=unix,addr.path={folder}/wire",
             "-device", f"virtio-net-pci,netdev=wire,mac=52:54:00:77:00:{int(last):02x},romfile=,{network}",
             *(["-object", f"filter-dump,id=dump,netdev=wire,file={folder}/wire.pcap,maxlen=65535"] if wire == "on" else [])],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)

    def wait_until_up(self):
        """The guest's daemon answers an order once everything works."""
        deadline = time.monotonic() + BOOT_TIME
        with contextlib.closing(self.connect(deadline)) as control:
            control.sendall(b"\n1 ping\n")
            said = b""
            while b"1 ok" not in said:
                control.settimeout(max(deadline - time.monotonic(), 0.1))
                part = control.recv(4096)
                if not part:
                    raise SystemExit(f"the guest {self.series} has ended: {self.last_words()}")
                said += part

    def connect(self, deadline):
        while True:  # until QEMU listens
            channel = socket.socket(socket.AF_UNIX)
            try:
                channel.connect(str(self.folder / f"{self.series}.control"))
                return channel
            except OSError:
                channel.close()
                if time.monotonic() > deadline or self.machine.poll() is not None:
                    raise SystemExit(f"QEMU for {self.series} does not come up: {self.last_words()}") from None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.machine.wait(0.05)

    def run(self, words):
        return subprocess.Popen([self.programs / "rnic-guest-agent", self.folder / f"{self.series}.agent", "/bin/sh", "-c", words],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def finish(self, words):
        done = self.run(words)
        output, _ = done.communicate(timeout=ORDER_TIME)
        if done.returncode != 0:
            raise SystemExit(f"{self.series}: {words}: {output.decode(errors='replace')}")

    def last_words(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")[-1000:]

    def end(self):
        self.machine.kill()
        self.machine.wait()
        self.log.close()


def read_until(process, text, deadline):
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while text not in output:
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise Unplayed(f"{process.args[-1]}: not ready: {output.decode(errors='replace')}")
            part = process.stdout.read1(4096)
            if not part:
                raise Unplayed(f"{process.args[-1]} has ended: {output.decode(errors='replace')}")
            output += part


def play(name, initiator, responder):
    port, configuration, server, client = SESSIONS[name]
    values = {"address": ADDRESSES[responder.series], "port": port}
    for guest in (initiator, responder):
        guest.finish(f"siw-configure {DEFAULTS} && siw-configure {configuration}")
    # siw's listening socket is the kernel's own, and is in its table like all others.
    listens = f"until grep -q ':{port or 0:04X} 00000000:0000 0A' /proc/net/tcp; do kill -0 $! || exit 1; usleep 20000; done; echo Ready; "
    deadline = time.monotonic() + SESSION_TIME
    serving = responder.run(f"{server.format(**values)} & {listens if port else ''}wait $!")
    try:
        read_until(serving, b"Ready", deadline)
        asking = initiator.run(client.format(**values))
        try:
            output, _ = asking.communicate(timeout=max(deadline - time.monotonic(), 1))
            serving.communicate(timeout=max(deadline - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            asking.kill()
            output, _ = asking.communicate()
            raise Unplayed(f"did not end in time: {output.decode(errors='replace')}") from None
    finally:
        serving.kill()
        serving.wait()
    if asking.returncode != 0:
        raise Unplayed(f"the client ended with {asking.returncode}: {output.decode(errors='replace')[-400:]}")


def frames_of(octets, begin, end):
    at = begin
    while at + 16 <= end:
        (kept,) = struct.unpack_from("<I", octets, at + 8)
        yield octets[at:at + 16 + kept]
        at += 16 + kept


def is_tcp(record):
    """IPv4 without options, as Linux sends it."""
    frame = record[16:]
    return frame[12:14] == b"\x08\x00" and frame[23] == 6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: record_siw.py build/dev/suite/lab dissectors/corpus/siw; exit: 0 done, 1 a session "
                                            "did not come to its end (play it again with --only)")
    parser.add_argument("programs", type=pathlib.Path, help="folder of rnic-guestd and rnic-guest-agent")
    parser.add_argument("folder", type=pathlib.Path, help="where the captures go")
    parser.add_argument("--only", nargs="*", default=list(SESSIONS), help="these sessions")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        guests = []
        for series, wire in zip(SERIES, ("on", "off")):
            guests.append(Guest(series, pathlib.Path(scratch), arguments.programs.resolve(), wire))
            stack.callback(guests[-1].end)
            if wire == "on":
                guests[0].connect(time.monotonic() + BOOT_TIME).close()  # it makes the wire before its channels
        for guest in guests:
            guest.wait_until_up()
            print(f"{guest.series}: {guest.release}")
        wanted = [(name, *ends) for name in arguments.only for ends in (guests, guests[::-1])]
        played, wire = [], pathlib.Path(scratch) / "wire.pcap"
        for name, initiator, responder in wanted:
            begin = wire.stat().st_size  # QEMU writes each frame as it comes
            try:
                play(name, initiator, responder)
                played.append((name, initiator, responder, begin, wire.stat().st_size))
            except Unplayed as why:
                print(f"{name} from {initiator.series}: {why}", file=sys.stderr, flush=True)
        octets = wire.read_bytes()
    for name, initiator, responder, begin, end in played:
        chosen = [record for record in frames_of(octets, begin, end) if is_tcp(record)]
        file = arguments.folder / f"{name}-{initiator.series}-to-{responder.series}.pcap.gz"
        file.write_bytes(gzip.compress(octets[:24] + b"".join(chosen), 9, mtime=0))
        print(f"{file.name}: {len(chosen)} frames")
    return 0 if len(played) == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
