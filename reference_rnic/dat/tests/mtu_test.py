#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A change of the interface's MTU under a DAT connection reaches its FPDUs, over IPv4 and IPv6: as the wire shows."""

import argparse
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time

import private_host

LARGE, SMALL = 9000, 1500
HEADERS = {4: 20 + 20, 6: 40 + 20}  # of IP and TCP without options
PATIENCE = 10

# Two connected Endpoints of one IA. For each line that is read, one writes 32768 octets into the other's memory.
WRITER = """
#include <stdio.h>
#include <stdlib.h>
#include <dat2/udat.h>
#define OK(call) do if ((call) != DAT_SUCCESS) { puts(#call); exit(1); } while (0)

static char memory[65536];

static DAT_EVENT next(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more;
  OK(dat_evd_wait(evd, 5000000, 1, &event, &more));
  return event;
}

int main(void) {
  char name[] = "rnic0";
  DAT_IA_HANDLE ia;
  DAT_IA_ATTR attr;
  DAT_PZ_HANDLE pz;
  DAT_EP_HANDLE client, server;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests, connections, done;
  DAT_PSP_HANDLE psp;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT local;
  DAT_RMR_CONTEXT remote;
  DAT_REGION_DESCRIPTION region = {.for_va = memory};
  DAT_CONTEXT id = {0};
  OK(dat_ia_open(name, 8, &async, &ia));
  OK(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
  OK(dat_pz_create(ia, &pz));
  OK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &local,
                    &remote, NULL, NULL));
  OK(dat_evd_create(ia, 8, NULL, DAT_EVD_CR_FLAG, &requests));
  OK(dat_evd_create(ia, 8, NULL, DAT_EVD_CONNECTION_FLAG, &connections));
  OK(dat_evd_create(ia, 8, NULL, DAT_EVD_DTO_FLAG, &done));
  OK(dat_ep_create(ia, pz, done, done, connections, NULL, &client));
  OK(dat_ep_create(ia, pz, done, done, connections, NULL, &server));
  OK(dat_psp_create(ia, 4791, requests, DAT_PSP_CONSUMER_FLAG, &psp));
  OK(dat_ep_connect(client, attr.ia_address_ptr, 4791, 5000000, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  OK(dat_cr_accept(next(requests).event_data.cr_arrival_event_data.cr_handle, server, 0, NULL));
  next(connections);
  next(connections);
  while (getchar() != EOF) {
    DAT_LMR_TRIPLET from = {(DAT_VADDR)memory, 32768, local}, to = {(DAT_VADDR)memory + 32768, 1, local};
    DAT_RMR_TRIPLET there = {(DAT_VADDR)memory + 32768, 32768, remote};
    DAT_LMR_TRIPLET one = {(DAT_VADDR)memory, 1, local};
    OK(dat_ep_post_recv(server, 1, &to, id, DAT_COMPLETION_DEFAULT_FLAG));
    OK(dat_ep_post_rdma_write(client, 1, &from, id, &there, DAT_COMPLETION_DEFAULT_FLAG));
    OK(dat_ep_post_send(client, 1, &one, id, DAT_COMPLETION_DEFAULT_FLAG));
    for (int i = 0; i < 3; ++i) next(done);
    putchar('.');
    fflush(stdout);
  }
  OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  return 0;
}
"""


class Wire:
    """The octets that one side of the connection sends, and the lengths of their FPDUs, as lo carries them."""

    def __init__(self, version):
        self.version = version
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800 if version == 4 else 0x86DD))
        self.socket.bind(("lo", 0))
        self.socket.setblocking(False)
        self.segments, self.next, self.stream = {}, None, b""

    def read(self):
        """Takes what came since, in order."""
        while True:
            try:
                packet, place = self.socket.recvfrom(1 << 17)
            except BlockingIOError:
                break
            if place[2] != socket.PACKET_OUTGOING:
                self.take(packet)
        while self.next in self.segments:
            octets = self.segments.pop(self.next)
            self.stream += octets
            self.next = (self.next + len(octets)) % (1 << 32)

    def take(self, packet):
        if self.version == 4:
            tcp = packet[(packet[0] & 15) * 4:]
        else:
            tcp = packet[40:]
        destination, sequence = struct.unpack_from(">2xHI", tcp)
        octets = tcp[(tcp[12] >> 4) * 4:]
        if destination != 4791 or not octets:
            return
        if octets.startswith(b"MPA ID Req Frame"):
            self.next = (sequence + len(octets)) % (1 << 32)
        else:
            self.segments[sequence] = octets

    def fpdus(self):
        """The lengths of the FPDUs that are complete by now; they are taken."""
        lengths = []
        while len(self.stream) >= 2:
            payload = struct.unpack_from(">H", self.stream)[0]
            length = (2 + payload + 3) // 4 * 4 + 4
            if len(self.stream) < length:
                break
            self.stream = self.stream[length:]
            lengths.append(length)
        return lengths


def set_mtu(octets):
    subprocess.run(["ip", "link", "set", "lo", "mtu", str(octets)], check=True)


def lengths_of_write(child, wire):
    """Has one Write carried out: the lengths of its FPDUs, and of the Send after it."""
    child.stdin.write(b"\n")
    child.stdin.flush()
    if child.stdout.read(1) != b".":
        raise SystemExit("the writer failed: " + child.stdout.read().decode())
    lengths, until = [], time.monotonic() + PATIENCE
    while sum(lengths) < 32768 and time.monotonic() < until:
        wire.read()
        lengths += wire.fpdus()
    return lengths


def judge(version, child, wire):
    """What is wrong, or nothing."""
    large, small = LARGE - HEADERS[version], SMALL - HEADERS[version]
    before = lengths_of_write(child, wire)
    if not small < max(before) <= large:
        return f"with MTU {LARGE} the largest FPDU has {max(before)} octets"
    set_mtu(SMALL)
    until = time.monotonic() + PATIENCE
    while max(lengths_of_write(child, wire)) > small:
        if time.monotonic() > until:
            return f"FPDUs of more than {small} octets go on {PATIENCE} s after the MTU became {SMALL}"
    after = lengths_of_write(child, wire)
    if sum(after) < 32768 or max(after) > small:
        return f"MTU {SMALL}: FPDUs of up to {max(after)} octets, {sum(after)} in all"
    set_mtu(LARGE)
    print(f"IPv{version}: FPDUs of up to {max(before)} octets, then of {max(after)}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    arguments = parser.parse_args()
    private_host.enter()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "writer.c"
        source.write_text(WRITER)
        program = source.with_suffix("")
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program), "-ldat2"], check=True)
        for version, address in ((4, "127.0.0.1"), (6, "::1")):
            set_mtu(LARGE)
            wire = Wire(version)
            environment = private_host.write_dat_conf(folder, arguments.library, address)
            with subprocess.Popen([str(program)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
                fault = judge(version, child, wire)
                child.stdin.close()
            if fault or child.returncode != 0:
                print(fault or f"the writer ended with {child.returncode}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
