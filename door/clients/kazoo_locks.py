"""kazoo against `lockstep serve` of zookeeper.toml: python3 kazoo_locks.py PORT."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import kazoo
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, NotEmptyError, RolledBackError
from kazoo.exceptions import SessionExpiredError

PORT = int(sys.argv[1])
TIMEOUT = 1.0
TICK = 0.1
SLACK = 1.5  # what a busy machine may add

logging.disable(logging.CRITICAL)


def connect(timeout=10.0):
    client = KazooClient(hosts="127.0.0.1:%d" % PORT, timeout=timeout)
    client.start(timeout=20)
    return client


def expect(condition, what):
    if not condition:
        print("kazoo %s: %s" % (kazoo.__version__, what), flush=True)
        os._exit(1)


def refused(error, call):
    try:
        call()
        return False
    except error:
        return True


def hold_until_killed():
    """Another process: gets the lock, says so, and keeps it."""
    lock = connect(TIMEOUT).Lock("/locks/shared", "holder")
    lock.acquire()
    print("held", flush=True)
    time.sleep(60)


def requests(a, b):
    a.create("/t", b"one")
    expect(a.get("/t")[0] == b"one" and b.exists("/t").version == 0, "what was written")
    expect(refused(NodeExistsError, lambda: a.create("/t")), "a node that is there")
    expect(refused(NoNodeError, lambda: a.get("/none")), "a node that is not there")
    expect(refused(BadVersionError, lambda: a.set("/t", b"two", version=3)), "another version")
    expect(a.set("/t", b"two", version=0).version == 1, "its version")
    expect(a.create("/t/n-", sequence=True) == "/t/n-0000000000", "the first number")
    expect(a.create("/t/n-", ephemeral=True, sequence=True) == "/t/n-0000000001", "the second number")
    expect(sorted(b.get_children("/t")) == ["n-0000000000", "n-0000000001"], "children")
    expect(refused(NotEmptyError, lambda: a.delete("/t")), "a node with children")
    expect(a.get_acls("/t")[0][0].id.id == "anyone", "its access list")
    expect(a.sync("/t") == "/t", "sync")

    heard = []
    everything = threading.Event()

    def watch(event):
        heard.append((event.type, event.path))
        if len(heard) == 3:
            everything.set()

    b.get("/t", watch=watch)
    b.exists("/later", watch=watch)
    b.get_children("/t", watch=watch)
    a.set("/t", b"three")
    a.create("/later")
    a.create("/t/child")
    a.create("/t/child2")
    expect(everything.wait(10), "watches")
    expect(heard == [("CHANGED", "/t"), ("CREATED", "/later"), ("CHILD", "/t")], "watches: %s" % heard)

    both = a.transaction()
    both.set_data("/t", b"four", version=2)
    both.create("/t/by-two")
    results = both.commit()
    expect(results[0].version == 3 and results[1] == "/t/by-two", "a transaction: %s" % results)
    neither = a.transaction()
    neither.create("/t/never")
    neither.check("/t", 99)
    neither.delete("/t/by-two")
    results = neither.commit()
    expect(isinstance(results[0], RolledBackError) and isinstance(results[1], BadVersionError), "none of it")
    expect(a.exists("/t/never") is None and a.exists("/t/by-two"), "nothing of it has happened")


def lock(a, b):
    mine, other = a.Lock("/locks/plain", "a"), b.Lock("/locks/plain", "b")
    expect(mine.acquire(), "nobody has it")
    expect(not other.acquire(blocking=False), "A has it")
    got = threading.Event()
    waiter = threading.Thread(target=lambda: other.acquire() and got.set())
    waiter.start()
    time.sleep(0.3)
    expect(not got.is_set(), "B has to wait")
    expect(mine.contenders() == ["a", "b"], "who wants it: %s" % mine.contenders())
    mine.release()
    expect(got.wait(10), "B gets it")
    other.release()
    waiter.join()
    expect(a.get_children("/locks/plain") == [], "nothing is left")


def killed_holder(b):
    holder = subprocess.Popen([sys.executable, __file__, str(PORT), "hold"], stdout=subprocess.PIPE)
    expect(holder.stdout.readline() == b"held\n", "another process gets it")
    time.sleep(0.2)
    holder.kill()
    begin = time.monotonic()
    expect(b.Lock("/locks/shared", "b").acquire(timeout=20), "whoever comes after a killed one")
    took = time.monotonic() - begin
    # The last that was heard of it is the ping of a third of its timeout before, at most.
    expect(TIMEOUT * 2 / 3 - TICK <= took <= TIMEOUT + TICK + SLACK, "after %.2f s" % took)
    return took


def stopped_holder(b):
    """A paused process: its session expires, and it hears of that when it goes on."""
    holder = subprocess.Popen([sys.executable, __file__, str(PORT), "hold-and-tell"], stdout=subprocess.PIPE)
    expect(holder.stdout.readline() == b"held\n", "another process gets it")
    holder.send_signal(signal.SIGSTOP)
    expect(b.Lock("/locks/stopped", "b").acquire(timeout=20), "whoever comes after a stopped one")
    holder.send_signal(signal.SIGCONT)
    expect(holder.stdout.readline() == b"lost\n", "a stopped one hears that it has lost its session")
    holder.wait(10)


def hold_and_tell():
    client = connect(TIMEOUT)
    lost = threading.Event()
    client.add_listener(lambda state: lost.set() if state == KazooState.LOST else None)
    client.Lock("/locks/stopped", "holder").acquire()
    print("held", flush=True)
    print("lost" if lost.wait(20) else "not lost", flush=True)
    os._exit(0)


def semaphore(a, b):
    two = [a.Semaphore("/locks/two", "a", max_leases=2), b.Semaphore("/locks/two", "b", max_leases=2)]
    expect(two[0].acquire() and two[1].acquire(), "two leases")
    third = a.Semaphore("/locks/two", "third", max_leases=2)
    expect(not third.acquire(blocking=False), "no third one")
    expect(sorted(third.lease_holders()) == ["a", "b"], "who has them")
    two[1].release()
    expect(third.acquire(timeout=10), "one was given back")
    third.release()
    two[0].release()


def read_write(a, b):
    reads = [a.ReadLock("/locks/rw", "a"), b.ReadLock("/locks/rw", "b")]
    expect(reads[0].acquire() and reads[1].acquire(), "two readers")
    write = a.WriteLock("/locks/rw", "w")
    expect(not write.acquire(blocking=False), "no writer beside readers")
    reads[0].release()
    reads[1].release()
    expect(write.acquire(timeout=10), "a writer")
    expect(not b.ReadLock("/locks/rw", "b").acquire(blocking=False), "no reader beside a writer")
    write.release()


if sys.argv[2:] == ["hold"]:
    hold_until_killed()
elif sys.argv[2:] == ["hold-and-tell"]:
    hold_and_tell()
else:
    A, B = connect(), connect()
    requests(A, B)
    lock(A, B)
    took = killed_holder(B)
    stopped_holder(B)
    semaphore(A, B)
    read_write(A, B)
    for each in (A, B):
        each.stop()
    print("kazoo %s: a killed holder's lock is free after %.2f s; all else agrees" % (kazoo.__version__, took))
