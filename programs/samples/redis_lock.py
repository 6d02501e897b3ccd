"""SET NX PX and a script, by a socket alone. Arguments: the server's address, how long a job works in seconds."""

import os
import socket
import sys
import time

host, port = sys.argv[1].split(":")
work = float(sys.argv[2])
patience = float(sys.argv[3]) if len(sys.argv) > 3 else None
server = None


def ask(*words):
    global server
    if server is None:
        server = socket.create_connection((host, int(port)), timeout=patience)
        server.settimeout(patience)
    request = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in map(str.encode, words))
    server.sendall(request)
    reply = b""
    while not reply.endswith(b"\r\n"):
        part = server.recv(4096)
        if not part:
            raise ConnectionError("closed")
        reply += part
    return reply


def ask_until_answered(*words):
    global server
    while True:
        try:
            return ask(*words)
        except OSError as error:
            print("no answer:", error)
            server = None
            time.sleep(0.01)


RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

for _ in range(2):
    token = os.urandom(8).hex()
    while not ask_until_answered("SET", "stock", token, "NX", "PX", "100").startswith(b"+OK"):
        time.sleep(0.03)
    print("lockstep: acquired stock")
    time.sleep(work)
    print("lockstep: releasing stock")
    given_back = ask_until_answered("EVAL", RELEASE, "1", "stock", token).startswith(b":1")
    print("lockstep:", "released" if given_back else "lost", "stock")
