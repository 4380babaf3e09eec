"""Commands that reach out although no network, or only some hosts, are allowed (S-4)."""

from __future__ import annotations

from tests.attacks.row import FENCES, Attack, commands

BOUNDED = FENCES[:1]
CONNECT = "python3 - <<'CODE'\nimport os, socket\nfrom urllib.parse import urlsplit\np = urlsplit(os.environ.get('https_proxy', '')); print('PROXY' if p.hostname else 'NONE')\ns = socket.create_connection((p.hostname, p.port), 5)\ns.sendall({sent})\ns.settimeout(5)\nsaid = s.recv(4096)\nprint(said)\nif b' 200' in said[:20]: s.sendall(b'x')\nCODE"


def asked(line: str) -> str:
    """Asks the proxy for something; braces are of `World.words`."""
    return CONNECT.replace("{sent}", "b'" + line + "'")


TO = "CONNECT {{to}} HTTP/1.1\\r\\nHost: {{to}}\\r\\n\\r\\n"


def to(place: str) -> str:
    return asked(TO.replace("{{to}}", place))


UNIX = "{python} -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect({name!r}); s.send(b\"x\")'"
REACHING: tuple[Attack, ...] = (
    *commands(
        "out",
        {
            "with the network: a socket in the file system": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
            "with the network: a socket without a file": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
            "with the network: a socket by another process": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/proc/{pid}/cwd/s\")'",
            "with the network: messages to a socket in the file system": "{python} -c 'import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(\"{unix}\")'; {python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
            "with the network: a signal to another process": "kill -9 {pid}",
            "with the network: a key by its path": "cat {home}/.ssh/id_ed25519",
        },
        network=True,
    ),
    *commands(
        "out",
        {
            "with some hosts: tcp by a program": "{python} -c 'import socket; socket.create_connection((\"127.0.0.1\", {tcp}))'",
            "with some hosts: tcp by six": "{python} -c 'import socket; socket.create_connection((\"::1\", {tcp}))'; {python} -c 'import socket; socket.create_connection((\"0.0.0.0\", {tcp}))'",
            "with some hosts: udp": "{python} -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {udp}))'",
            "with some hosts: names in questions to a name server": "{python} -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"secret.example\", (\"127.0.0.1\", {udp}))'; getent hosts secret.example",
            "with some hosts: a socket in the file system": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
            "with some hosts: a socket without a file": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
            "the proxy: this machine": to("127.0.0.1:{tcp}"),
            "the proxy: this machine by its name": to("localhost:{tcp}"),
            "the proxy: this machine by six": to("[::1]:{tcp}"),
            "the proxy: this machine mapped": to("[::ffff:127.0.0.1]:{tcp}"),
            "the proxy: this machine in hexadecimal": to("0x7f000001:{tcp}"),
            "the proxy: this machine as a number": to("2130706433:{tcp}"),
            "the proxy: this machine in short": to("127.1:{tcp}"),
            "the proxy: this machine in octal": to("0177.0.0.1:{tcp}"),
            "the proxy: this machine as nothing": to("0.0.0.0:{tcp}"),
            "the proxy: this machine by a wildcard name": to("127.0.0.1.nip.io:{tcp}"),
            "the proxy: the metadata of a cloud": to("169.254.169.254:80"),
            "the proxy: a listed name with an end": to("api.example.org.:{tcp}"),
            "the proxy: a listed name before a null": to("127.0.0.1\\\\0.api.example.org:{tcp}"),
            "the proxy: a listed name as a user": to("api.example.org@127.0.0.1:{tcp}"),
            "the proxy: another port of a listed name": to("api.example.org:{tcp}"),
            "the proxy: plain http": asked("GET http://127.0.0.1:{tcp}/ HTTP/1.1\\r\\nHost: api.example.org\\r\\n\\r\\n"),
            "the proxy: plain http with a listed host and another address": asked("GET http://127.0.0.1:{tcp}/ HTTP/1.1\\r\\nHost: api.example.org:443\\r\\n\\r\\n"),
            "the proxy: two requests at once": asked("CONNECT api.example.org:443 HTTP/1.1\\r\\n\\r\\nCONNECT 127.0.0.1:{tcp} HTTP/1.1\\r\\n\\r\\n"),
            "the proxy: a folded header": asked("CONNECT 127.0.0.1:{tcp} HTTP/1.1\\r\\nHost: api.example.org:443\\r\\n x: y\\r\\n\\r\\n"),
        },
        network=("api.example.org",),
        means=BOUNDED,
    ),
)  # fmt: skip
