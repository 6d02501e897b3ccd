"""kazoo against `lockstep serve` of zookeeper_ensemble.toml: python3 kazoo_ensemble.py PORT,PORT,PORT."""

import logging
import os
import socket
import sys
import threading
import time

import kazoo
from kazoo.client import KazooClient, KazooState

PORTS = [int(port) for port in sys.argv[1].split(",")]

logging.disable(logging.CRITICAL)


def expect(condition, what):
    if not condition:
        print("kazoo %s: %s" % (kazoo.__version__, what), flush=True)
        os._exit(1)


def mode(port):
    """leader, follower, or nothing: it is down, or knows no leader."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as server:
            server.sendall(b"srvr")
            told = b""
            while some := server.recv(4096):
                told += some
    except OSError:
        return ""
    return told.partition(b"Mode: ")[2].decode().strip()


def wait_until(condition, what):
    end = time.monotonic() + 40
    while not condition():
        expect(time.monotonic() < end, what)
        time.sleep(0.05)


def connect(ports, states):
    client = KazooClient(
        hosts=",".join("127.0.0.1:%d" % port for port in ports), timeout=8.0, randomize_hosts=False
    )
    client.add_listener(states.append)
    client.start(timeout=20)
    return client


def main():
    wait_until(lambda: mode(PORTS[0]) == "leader", "the first server leads")
    seen_by_a, seen_by_b = [], []
    a = connect(PORTS, seen_by_a)
    b = connect(PORTS[1:] + PORTS[:1], seen_by_b)
    session = a.client_id
    mine, other = a.Lock("/locks/one", "a"), b.Lock("/locks/one", "b")
    expect(mine.acquire(timeout=10), "nobody has it")
    expect(mode(PORTS[0]) == "leader", "this machine is too slow: the leader has died before the lock was held")

    wait_until(lambda: mode(PORTS[0]) == "", "the leader dies")
    wait_until(lambda: "leader" in (mode(PORTS[1]), mode(PORTS[2])), "another one leads")
    wait_until(lambda: KazooState.SUSPENDED in seen_by_a and a.connected, "A finds another server")
    wait_until(lambda: b.connected, "B finds another server")
    expect(KazooState.LOST not in seen_by_a and a.client_id == session, "A's session goes on")
    b.sync("/locks/one")
    expect(len(b.get_children("/locks/one")) == 1, "A's node is there")

    got = threading.Event()
    waiter = threading.Thread(target=lambda: other.acquire() and got.set())
    waiter.start()
    time.sleep(1)
    expect(not got.is_set(), "A has it still")
    mine.release()
    expect(got.wait(20), "B gets it")
    other.release()
    waiter.join()
    a.stop()
    b.stop()
    print("kazoo %s: a lock that outlives the leader; agrees" % kazoo.__version__, flush=True)


main()
