"""redis-py's Lock, three times. Argument: its name."""

import sys
import time

import redis

server = redis.Redis(host="127.0.0.1", port=6379)
for turn in range(3):
    lock = server.lock("lock", timeout=0.1, sleep=0.03, blocking_timeout=5)
    if not lock.acquire():
        continue
    print("lockstep: acquired lock", flush=True)
    time.sleep(0.02)
    print("lockstep: releasing lock", flush=True)
    try:
        lock.release()
        print("lockstep: released lock", flush=True)
    except redis.exceptions.LockError:
        print("lockstep: lost lock", flush=True)
