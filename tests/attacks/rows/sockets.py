"""Commands that reach sockets (S-4)."""

from __future__ import annotations

from tests.attacks.row import commands

SOCKETS = commands(
    "out",
    {
        "tcp by the shell": "echo x > /dev/tcp/127.0.0.1/{tcp}",
        "tcp by a program": "{python} -c 'import socket; socket.create_connection((\"127.0.0.1\", {tcp}))'",
        "tcp by the wildcard address": "{python} -c 'import socket; socket.create_connection((\"0.0.0.0\", {tcp}))'",
        "tcp that is told by six": "{python} -c 'import socket; s = socket.socket(socket.AF_INET6); s.connect((\"::ffff:127.0.0.1\", {tcp}))'",
        "udp": "echo x > /dev/udp/127.0.0.1/{udp}",
        "udp by a program": "{python} -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {udp}))'",
        "a socket in the file system": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
        "a socket by another process": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/proc/{pid}/cwd/s\")'",
        "a socket without a file": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
        "docker": "{python} -c 'import socket; [socket.socket(socket.AF_UNIX).connect(p) for p in (\"/var/run/docker.sock\", \"/run/podman/podman.sock\", \"/run/containerd/containerd.sock\")]' && echo x > {out}/victim",
        "a socket that is handed on by a link": "ln -s {unix} s; {python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'",
    },
    fails=("docker",),
)  # fmt: skip
