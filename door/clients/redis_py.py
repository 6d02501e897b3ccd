"""redis-py against `lockstep serve --step` of restart.toml: python3 redis_py.py PORT. Any protocol that it begins with."""

import sys
import threading
import time

import redis
from redis.exceptions import LockError

PORT = int(sys.argv[1])


def connect():
    return redis.Redis(host="127.0.0.1", port=PORT, client_name="lockstep-test")


def step(seconds):
    connect().execute_command("DEBUG", "STEP", str(seconds))


def connected_again(*clients):
    """After a restart of the server: what is asked on a connection that is just being closed fails."""
    for client in clients:
        for _ in range(1000):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.01)


def expect(condition, what):
    if not condition:
        sys.exit("redis-py %s: %s" % (redis.__version__, what))


def lost(call):
    """Whether the library tells that the lock is gone."""
    try:
        call()
        return False
    except LockError:
        return True


a, b = connect(), connect()
expect(a.client_getname() in ("lockstep-test", b"lockstep-test"), "its name")

# Lock, and another who may not.
mine = a.lock("lock", timeout=30)
expect(mine.acquire(), "the first acquires")
theirs = b.lock("lock", timeout=30, sleep=0.01, thread_local=False)
expect(not theirs.acquire(blocking=False), "the second does not")

# Wait until it is released.
got = []
waiter = threading.Thread(target=lambda: got.append(theirs.acquire(blocking_timeout=10)))
waiter.start()
time.sleep(0.05)
expect(not got, "the second waits")
mine.release()
waiter.join()
expect(got == [True], "the second acquires after the release")

# Extend, and lose: first by time, then by a restart.
step(29)
expect(theirs.extend(30), "extend adds")
expect(29_000 < b.pttl("lock") <= 31_000, "the lease after extend")
step(30)
expect(theirs.owned(), "still owned after 59 s")
step(2)
expect(not theirs.owned() and lost(theirs.release), "the lease has run out, and release tells")
expect(mine.acquire() and a.exists("lock") == 1, "acquired anew")
expect(mine.extend(100_000), "a long lease")
step(2000)
connected_again(a, b)
expect(not mine.owned() and lost(mine.release), "the server has forgotten, and release tells")

# What else it has replies for: a transaction that a watched key spoils, a pipeline, messages, hashes, scores.
with a.pipeline() as pipe:
    pipe.watch("k")
    b.set("k", "other")
    pipe.multi()
    pipe.set("k", "mine")
    try:
        pipe.execute()
        expect(False, "a spoilt transaction")
    except redis.WatchError:
        pass
expect(a.pipeline().hset("h", "f", 1).zadd("z", {"m": 1.5}).execute() == [1, 1], "a pipeline")
expect(a.hgetall("h") == {b"f": b"1"}, "a hash")
expect([tuple(pair) for pair in a.zrange("z", 0, -1, withscores=True)] == [(b"m", 1.5)], "scores")
expect(a.zscore("z", "m") == 1.5 and a.zscore("z", "none") is None, "a score")
expect(a.sadd("s", "x") == 1 and set(a.smembers("s")) == {b"x"}, "a set")
expect("redis_version" in a.info("server"), "INFO")
subscriber = b.pubsub()
subscriber.subscribe("c")
expect(subscriber.get_message(timeout=5)["type"] == "subscribe", "a subscription")
expect(a.publish("c", "hello") == 1, "a message is sent")
message = subscriber.get_message(timeout=5)
expect(message["type"] == "message" and message["data"] == b"hello", "a message arrives")
print("redis-py", redis.__version__, "agrees")
