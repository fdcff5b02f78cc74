# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A small client of the agent protocol, and the exercise that two agents do with each other."""
import collections
import json
import select
import subprocess
import time


class Agent:
    """One agent process. Commands are posted, replies and events waited for; each wait has a deadline."""

    def __init__(self, argv, deadline=30):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.deadline = deadline
        self.number = 0
        self.rest = b""
        self.events = collections.deque()
        try:
            self.hello = self.wait("hello")
        except (EOFError, TimeoutError):
            self.kill()
            raise

    def post(self, type, /, **members):
        self.number += 1
        line = json.dumps(dict(members, number=self.number, type=type)) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        return self.number

    def read(self, until):
        while b"\n" not in self.rest:
            ready = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]
            if not ready:
                raise TimeoutError(f"nothing came; waiting: {list(self.events)}")
            octets = self.process.stdout.read1(65536)
            if not octets:
                raise EOFError(f"the agent is gone: {self.process.wait(self.deadline)}")
            self.rest += octets
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def wait(self, type, /, **members):
        """The first event, waiting or to come, of this type and with these members."""
        until = time.monotonic() + self.deadline

        def fits(event):
            return event["type"] == type and all(event.get(name) == value for name, value in members.items())

        for event in self.events:
            if fits(event):
                self.events.remove(event)
                return event
        while True:
            event = self.read(until)
            if fits(event):
                return event
            self.events.append(event)

    def ask(self, type, /, **members):
        reply = self.wait("reply", command=self.post(type, **members))
        if reply["outcome"] != "ok":
            raise AssertionError(f"{type} {members}: {reply}")
        return reply

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(self.deadline)
        self.process.stdout.close()
        return status

    def kill(self):
        """For the clean-up after a test that failed; without effect after end()."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


ALL = ["local_write", "remote_read", "remote_write"]


def prepare(agent, receives=4):
    agent.ask("reset")
    agent.events.clear()  # they are about objects that no longer exist
    region = agent.ask("register_memory", region=1, length=4096, access=ALL, fill=0x11)
    agent.ask("register_memory", region=2, length=4096, access=ALL)
    agent.ask("create_endpoint", endpoint=1)
    for work in range(receives):
        agent.ask("post_receive", endpoint=1, work=100 + work, pieces=[{"region": 2, "offset": 64 * work, "length": 64}])
    return region


def connect(passive, active, address, family="ipv4", private=b"hello"):
    """Connects endpoint 1 of both; returns the events of both."""
    port = passive.ask("listen", listener=1, family=family)["port"]
    active.ask("connect", endpoint=1, address=address, port=port,
               parameters={"private_data": private.hex(), "ird": 2, "ord": 2})
    request = passive.wait("connect_request", listener=1)
    assert bytes.fromhex(request.get("private_data", "")) == private, request
    passive.ask("accept", request=request["request"], endpoint=1, parameters={"private_data": b"welcome".hex()})
    told = active.wait("established", endpoint=1)
    assert bytes.fromhex(told["private_data"]) == b"welcome", told
    return request, told, passive.wait("established", endpoint=1)


def send(source, sink, work, operation="send", **members):
    source.ask("post_work", endpoint=1, work=work, operation=operation,
               pieces=[{"region": 1, "offset": 0, "length": 16}], **members)
    done = source.wait("completion", endpoint=1, work=work)
    assert (done["operation"], done["status"]) == (operation, "success"), done
    got = sink.wait("completion", endpoint=1, operation="receive")
    assert (got["status"], got["length"]) == ("success", 16), got
    return got


def go_under_load(source, sink, start, window=16, busy=200):
    """Keeps Sends outstanding between connected endpoints. Once some are done, start() starts a process after which the device of `source` is gone,
    or which fails; what it printed, and its exit status."""
    posted = done = 0
    process = None
    until = time.monotonic() + source.deadline
    while True:
        while posted - done < window:
            sink.ask("post_receive", endpoint=1, work=2000 + posted, pieces=[{"region": 2, "offset": 0, "length": 64}])
            source.post("post_work", endpoint=1, work=2000 + posted, operation="send",
                        pieces=[{"region": 1, "offset": 0, "length": 64}])
            posted += 1
        event = source.read(until)
        if event["type"] == "asynchronous" and event["kind"] == "device_fatal" or process and process.poll():
            assert process, f"only {done} Sends were done before the end"
            said, _ = process.communicate(timeout=120)
            return said.decode(), process.returncode
        if event["type"] == "completion" and event["status"] == "success":
            done += 1
            until = time.monotonic() + source.deadline
            process = start() if done == busy else process


def exercise(passive, active, passive_address, family="ipv4", invalidate=True):
    """Connects, moves data in every way that both can, disconnects, and checks what remains."""
    passive_region = prepare(passive)
    prepare(active)
    connect(passive, active, passive_address, family)
    send(active, passive, 1)
    send(passive, active, 2)
    assert passive.ask("read_memory", region=2, offset=0, length=16)["octets"] == "11" * 16

    active.ask("write_memory", region=1, offset=0, octets="a5" * 32)
    active.ask("post_work", endpoint=1, work=3, operation="write", pieces=[{"region": 1, "offset": 0, "length": 32}],
               remote_stag=passive_region["stag"], remote_offset=passive_region["base"] + 100, signaled=False)
    active.ask("post_work", endpoint=1, work=4, operation="read", pieces=[{"region": 2, "offset": 512, "length": 40}],
               remote_stag=passive_region["stag"], remote_offset=passive_region["base"] + 96)
    done = active.wait("completion", endpoint=1, work=4)
    assert (done["operation"], done["status"]) == ("read", "success"), done
    assert active.ask("read_memory", region=2, offset=512, length=40)["octets"] == "11" * 4 + "a5" * 32 + "11" * 4
    assert passive.ask("read_memory", region=1, offset=96, length=8)["octets"] == "11111111a5a5a5a5"

    if invalidate:
        send(active, passive, 5, "send_solicited_invalidate", invalidate_stag=passive_region["stag"])
    assert passive.ask("query_endpoint", endpoint=1)["state"] == "connected"

    active.ask("disconnect", endpoint=1)
    passive.wait("disconnected", endpoint=1)
    active.wait("disconnected", endpoint=1)
    flushed = passive.wait("completion", endpoint=1, status="flushed")
    assert flushed["operation"] == "receive", flushed
    for agent in (passive, active):
        agent.ask("reset")
    again = passive.wait("reply", command=passive.post("read_memory", region=1, offset=0, length=1))
    assert again["outcome"] == "failed", again


def refuse(passive, active, passive_address):
    """A reject with private data, and a port without a listener."""
    prepare(passive)
    prepare(active)
    port = passive.ask("listen", listener=1)["port"]
    active.ask("connect", endpoint=1, address=passive_address, port=port)
    request = passive.wait("connect_request", listener=1)
    passive.ask("reject", request=request["request"], private_data=b"no".hex())
    active.wait("rejected", endpoint=1)
    passive.ask("stop_listening", listener=1)
    prepare(active)
    active.ask("connect", endpoint=1, address=passive_address, port=port)
    event = active.wait("connect_failed", endpoint=1)
    assert event["reason"] == "refused", event


def break_off(passive, active, passive_address):
    """A write beyond the region ends the connection for both; what was posted is flushed."""
    region = prepare(passive)
    prepare(active)
    connect(passive, active, passive_address)
    active.ask("post_work", endpoint=1, work=9, operation="write", pieces=[{"region": 1, "offset": 0, "length": 64}],
               remote_stag=region["stag"], remote_offset=region["base"] + 4090)
    for agent in (passive, active):
        agent.wait("disconnected", endpoint=1)
        agent.wait("completion", endpoint=1, operation="receive", status="flushed")
    for agent in (passive, active):
        agent.ask("reset")


def shared_queue(passive, active, passive_address):
    """The passive side takes its receives from a shared queue and gets an event when that runs low."""
    prepare(active)
    passive.ask("reset")
    passive.ask("register_memory", region=1, length=4096, access=ALL)
    passive.ask("create_shared_queue", queue=5, depth=8)
    passive.ask("create_endpoint", endpoint=1, shared_queue=5)
    for work in range(4):
        passive.ask("post_receive", shared_queue=5, work=100 + work, pieces=[{"region": 1, "offset": 64 * work, "length": 64}])
    passive.ask("arm_shared_queue_limit", queue=5, limit=3)
    connect(passive, active, passive_address)
    for work in range(3):
        got = send(active, passive, work)
        assert got["work"] == 100 + work, got
    passive.wait("asynchronous", kind="srq_limit")
    for agent in (passive, active):
        agent.ask("reset")


def access_and_signals(passive, active, passive_address):
    """An endpoint whose work is all signaled, towards one whose access changes."""
    region = prepare(passive)
    active.ask("reset")
    active.ask("register_memory", region=1, length=4096, access=ALL)
    active.ask("create_endpoint", endpoint=1, signal_all=True)
    connect(passive, active, passive_address)

    def read(work, status):
        active.ask("post_work", endpoint=1, work=work, operation="read", pieces=[{"region": 1, "offset": 0, "length": 8}],
                   remote_stag=region["stag"], remote_offset=region["base"], signaled=False)
        done = active.wait("completion", endpoint=1, work=work)
        assert (done["status"] == "success") == (status == "success"), done

    for work, access in ((1, ["remote_read"]), (2, ["remote_read", "remote_write"])):
        passive.ask("set_endpoint_access", endpoint=1, access=access)
        assert passive.ask("query_endpoint", endpoint=1)["attributes"]["access"] == access
        read(work, "success")
    passive.ask("set_endpoint_access", endpoint=1, access=["remote_write"])
    read(3, "refused")
    for agent in (passive, active):
        agent.ask("reset")


def disconnect_behind_work(passive, active, passive_address):
    """A graceful disconnect comes after all posted work: the peer gets every message."""
    prepare(passive)
    prepare(active)
    connect(passive, active, passive_address)
    for work in range(3):
        active.ask("post_work", endpoint=1, work=work, operation="send", pieces=[{"region": 1, "offset": 0, "length": 8}])
    active.ask("disconnect", endpoint=1)
    for work in range(3):
        assert active.wait("completion", endpoint=1, work=work)["status"] == "success"
        assert passive.wait("completion", endpoint=1, work=100 + work)["status"] == "success"
    assert passive.wait("completion", endpoint=1, work=103)["status"] == "flushed"
    passive.wait("disconnected", endpoint=1)
    active.wait("disconnected", endpoint=1)


def disconnect_abortively(passive, active, passive_address):
    prepare(passive)
    prepare(active)
    connect(passive, active, passive_address)
    active.ask("disconnect", endpoint=1, abortive=True)
    for agent in (passive, active):
        agent.wait("disconnected", endpoint=1)
        agent.wait("completion", endpoint=1, operation="receive", status="flushed")


def private_data(passive, active, passive_address, size):
    prepare(passive)
    prepare(active)
    connect(passive, active, passive_address, private=bytes(range(256))[:size])
