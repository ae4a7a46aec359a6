#!/usr/bin/env python3
"""Runs memcached (everything after PORT REQUESTS) and puts a fixed load on it through two connections; prints how long
the load took, in seconds. The server is asked to end, so that its own exit is measured too; what it used (processor
seconds, KiB at most) is written to the file that BENCH_USAGE names."""
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

port, requests, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
server = subprocess.Popen(command)
deadline = time.time() + 60
while True:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        break
    except OSError:
        if time.time() > deadline or server.poll() is not None:
            sys.exit("memcached did not start")
        time.sleep(0.05)


def load(seed):
    chance = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as link:
        stream = link.makefile("rwb")
        for _ in range(requests // 16):
            wanted = 0
            for _ in range(16):  # in batches, so that the server and not the client is what takes time
                key = chance.randrange(500)
                if chance.random() < 0.3:
                    stream.write(b"set k%d 0 0 64\r\n%s\r\n" % (key, b"v" * 64))
                else:
                    stream.write(b"get k%d\r\n" % key)
                wanted += 1
            stream.flush()
            while wanted:
                line = stream.readline()
                if line in (b"STORED\r\n", b"END\r\n"):
                    wanted -= 1
                elif not line:
                    sys.exit("memcached closed the connection")


start = time.time()
clients = [threading.Thread(target=load, args=(seed,)) for seed in (1, 2)]
for client in clients:
    client.start()
for client in clients:
    client.join()
print(f"{time.time() - start:.3f}")
server.send_signal(signal.SIGTERM)
_, status, usage = os.wait4(server.pid, 0)
if "BENCH_USAGE" in os.environ:
    with open(os.environ["BENCH_USAGE"], "w") as file:
        print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=file)
sys.exit(status)
