"""Takes a lock three times at a server that answers lines: TAKE, GIVE. Arguments: its name, the port."""

import os
import random
import socket
import sys
import time

name, port = sys.argv[1], int(sys.argv[2])
server = socket.create_connection(("127.0.0.1", port))
lines = server.makefile("rw", newline="\n")


def ask(question):
    lines.write(question + "\n")
    lines.flush()
    return lines.readline().strip()


for turn in range(3):
    while ask(f"TAKE {name}-{os.urandom(4).hex()}") != "OK":
        time.sleep(random.uniform(0.01, 0.03))
    print(f"{time.time():.6f} got {turn} {time.monotonic():.6f} {os.getpid()}", flush=True)
    time.sleep(0.02)
    ask("GIVE")
