"""Five raw connections, pipelined, to a real redis-server and to `lockstep serve`: the same bytes must come back on each.

    python3 side_by_side.py LOCKSTEP SCENARIO 2|3 COMMANDS SEED

In each round both servers are stopped, all connections speak in one random order, and the servers go on: so both meet the same bytes
in the same order, and have to choose among several clients, blocked ones and messages as the other does. No waiting decides: a round is
over when two requests of one more connection have been answered, the second sent after the first.
"""

import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONNECTIONS = 5
LISTS = ["l0", "l1", "l2"]
PUSH_AND_TELL = "redis.call('rpush', KEYS[1], ARGV[1]) return redis.call('publish', 'c1', ARGV[1])"


def request(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        parts.append(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()))
    return b"".join(parts)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = port
        for _ in range(500):
            try:
                self.admin = self.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        self.clients = [self.connect() for _ in range(CONNECTIONS)]
        for each in self.clients:
            self.ask(each, ["PING"])

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def ask(self, client, words):
        client.sendall(request(words))
        return client.recv(65536)

    def stop(self):
        os.kill(self.process.pid, signal.SIGSTOP)
        while True:
            with open("/proc/%d/stat" % self.process.pid) as status:
                if status.read().rsplit(")", 1)[1].split()[0] == "T":
                    return
            time.sleep(0.0001)

    def round(self, batches):
        """What each connection gets to read."""
        self.stop()
        for who, commands in batches:
            self.clients[who].sendall(b"".join(request(words) for words in commands))
        self.admin.sendall(request(["PING"]))
        os.kill(self.process.pid, signal.SIGCONT)
        self.admin.recv(100)
        self.ask(self.admin, ["PING"])
        return [self.read(client) for client in self.clients]

    @staticmethod
    def read(client):
        heard = b""
        while select.select([client], [], [], 0)[0]:
            piece = client.recv(1 << 20)
            if not piece:
                return heard + b" and the end"
            heard += piece
        return heard

    def let_all_go(self):
        for name in LISTS:
            self.ask(self.admin, ["RPUSH", name] + ["x"] * 60)
        self.ask(self.admin, ["DEL"] + LISTS)

    def end(self):
        self.process.kill()
        self.process.wait()


class Talk:
    def __init__(self, seed, protocol):
        self.random = random.Random(seed)
        self.protocol = protocol

    def batches(self):
        order = self.random.sample(range(CONNECTIONS), CONNECTIONS)
        return [(who, [self.command(who) for _ in range(self.random.randrange(1, 7))]) for who in order]

    def command(self, who):
        pick = self.random.choice
        key, other, word = pick(LISTS), pick(LISTS), str(self.random.randrange(5))
        string, channel = "s%d" % self.random.randrange(2), "c%d" % self.random.randrange(2)
        kinds = [
            ["RPUSH", key, word], ["RPUSH", key, word, word], ["LPUSH", key, word], ["LPOP", key], ["DEL", key],
            ["BLPOP", key, other, "0"], ["BRPOP", key, "0"], ["BLMOVE", key, other, "LEFT", "RIGHT", "0"],
            ["LRANGE", key, "0", "-1"], ["INCR", string], ["SET", string, word], ["SET", string, word, "NX"],
            ["GET", string], ["PUBLISH", channel, word], ["EVAL", PUSH_AND_TELL, "1", key, word],
            ["HSET", "h", "f", word], ["HGETALL", "h"], ["ZADD", "z", "INCR", "1.5", "m"], ["ZSCORE", "z", "m"],
            ["ZRANGE", "z", "0", "-1", "WITHSCORES"], ["SADD", "t", "m"], ["SMEMBERS", "t"], ["PING"], ["WATCH", string],
        ]
        # In RESP2 a subscriber can do nothing else: one is enough.
        if self.protocol == "3" or who == 4:
            kinds += [["SUBSCRIBE", channel], ["UNSUBSCRIBE", channel]]
        kinds += [["MULTI"], ["EXEC"], ["EXEC"]]
        return pick(kinds)


def main():
    lockstep, scenario, protocol, wanted, seed = sys.argv[1:]
    talk = Talk(int(seed), protocol)
    with tempfile.TemporaryDirectory() as folder:
        ports = [free_port(), free_port()]
        servers = [
            Server(["redis-server", "--port", str(ports[0]), "--bind", "127.0.0.1", "--save", "", "--dir", folder], ports[0]),
            Server([lockstep, "serve", scenario, "--port", str(ports[1])], ports[1]),
        ]
        try:
            for server in servers:
                for client in server.clients:
                    server.ask(client, ["HELLO", protocol])
                # Whoever is read last may still stand in the real server's list of ready sockets, at its head.
                server.ask(server.admin, ["PING"])
            sent = rounds = 0
            while sent < int(wanted):
                batches = talk.batches()
                real, simulated = [server.round(batches) for server in servers]
                sent += sum(len(commands) for _, commands in batches)
                rounds += 1
                if real != simulated:
                    print("round %d, after %d commands:" % (rounds, sent))
                    for who, commands in batches:
                        print("  ", who, commands)
                    for who in range(CONNECTIONS):
                        print("  ", who, "real", real[who], "" if real[who] == simulated[who] else "simulated %s" % simulated[who])
                    sys.exit(1)
                if rounds % 10 == 0:
                    for server in servers:
                        server.let_all_go()
                        for client in server.clients:
                            server.read(client)
            print("RESP%s: %d commands in %d rounds agree" % (protocol, sent, rounds))
        finally:
            for server in servers:
                server.end()


main()
