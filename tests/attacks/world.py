"""A workspace with a world around it that must stay as it is: what attacks are tried in."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.limits import CommandLimits
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules.withheld import WithheldPaths
from codelaw.adapters.processes.sandbox import Kind, Sandbox, SandboxMeans
from codelaw.domain.files import ProcessResult
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
from tests.fakes.living import kill

SECRET = "SECRET" + "MARK"
"""Said by everything that must not be read; put together so that no command holds it by itself."""
SECRET_FILES = (
    *(".ssh/id_ed25519", ".gnupg/private-keys-v1.d/key", ".aws/credentials", ".config/gcloud/credentials.db"),
    *(".config/gh/hosts.yml", ".kube/config", ".docker/config.json", ".netrc", ".npmrc", ".pypirc", ".git-credentials"),
    *(".config/git/credentials", ".password-store/a.gpg", ".bash_history", ".mozilla/firefox/x/logins.json"),
    *(".anthropic/key", ".claude/settings.json", ".cargo/credentials.toml", ".m2/settings.xml"),
    *(".gradle/gradle.properties", ".something-nobody-heard-of/token", "private.txt"),
)
DYING_SECONDS = 60.0
"""How long a process may take to die that was killed: the kernel takes its time on a busy machine."""
USUAL = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "LC_ALL": "C"}


@dataclass
class World:
    """`base/ws` is the workspace; `out`, `home` and `own` are around it."""

    base: Path
    ws: Path
    out: Path
    home: Path
    own: Path
    helper: subprocess.Popen[bytes]
    """A process of somebody else's: its environment is secret, its folder is `out`."""
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    environment: dict[str, str]
    before: dict[str, tuple[int, str]] = field(default_factory=dict)
    visits: list[Path] = field(default_factory=list)
    """Folders in which an editor or a user runs git afterwards."""
    guarded: list[Path] = field(default_factory=list)
    """What more must stay as it is, in the workspace or beside it."""
    reported: set[Path] = field(default_factory=set)
    """Files of the workspace that hold a secret by themselves."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the user has set: an attack's `settings`."""

    def words(self) -> dict[str, object]:
        """What commands may name."""
        return {
            "ws": self.ws,
            "out": self.out,
            "home": self.home,
            "own": self.own,
            "pid": self.helper.pid,
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "unix": self.unix.getsockname(),
            "abstract": self.abstract.getsockname()[1:].decode(),
            "python": sys.executable,
            "token": self.token,
            "server": os.getpid(),
            "base": self.base,
            "secret": SECRET,
        }

    @property
    def token(self) -> str:
        """In the arguments of every process that a command leaves behind."""
        return f"31{self.helper.pid}"

    def processes(self, sandbox: Sandbox | None, means: SandboxMeans | None, *, network: Any = False) -> LocalProcesses:
        return LocalProcesses(
            self.environment,
            sandbox=sandbox,
            means=means,
            network=network,
            withheld=self.withheld(),
            limits=CommandLimits(**self.settings.get("limits", {})),
        )

    def withheld(self) -> WithheldPaths:
        """What the user's rules keep back: `settings` has the texts of `deny`, and lists of paths as `hidden`."""
        texts = tuple(self.settings.get("deny", ()))
        rules = [parse(text) for text in texts]
        return WithheldPaths(
            denied_to("Read", "reads", rules),
            denied_to("Edit", "writes", rules),
            hidden=tuple(self.settings.get("hidden", ())),
            read_only=tuple(self.settings.get("read_only", ())),
            names={self.ws: self.ws.name},
            key=texts,
        )

    def sandbox(self, kind: Kind) -> Sandbox:
        return Sandbox(lambda: [self.ws], [self.own], self.environment, kinds=(kind,))

    def seen(self) -> dict[str, tuple[int, str]]:
        """Everything around the workspace, and what of it must not change."""
        found: dict[str, tuple[int, str]] = {}
        guarded = [self.ws / ".git/hooks", self.ws / ".git/config", self.ws / ".codelaw", *self.guarded]
        for top in (self.out, self.home, self.own, *guarded, self.ws / ".git/commondir"):
            for path in [top, *top.rglob("*")] if top.is_dir() else [top]:
                # What was taken away from the command lies there.
                if os.path.lexists(path) and not path.is_relative_to(self.own / "quarantine"):
                    facts = path.lstat()
                    content = path.read_text("utf-8", "replace") if path.is_file() else ""
                    link = str(path.readlink()) if path.is_symlink() else ""
                    found[str(path)] = (facts.st_mode, content + link)
        return found

    def breaches(self, said: str | ProcessResult | None = "", dying: float = DYING_SECONDS) -> list[str]:
        """What an attack has done that it must not, or learnt, by what it `said`; `dying`: how long it is waited for."""
        if isinstance(said, ProcessResult):
            said = f"{said.stdout}{said.stderr}"
        found: list[str] = []
        now = self.seen()
        changed = sorted(path for path in {*now, *self.before} if now.get(path) != self.before.get(path))
        found += [f"changed: {path}" for path in changed]
        if SECRET in (said or ""):
            found.append("read a secret")
        for path in self.ws.rglob("*"):
            if (
                path.is_file()
                and not path.is_symlink()
                and path not in self.reported
                and SECRET.encode() in _bytes(path)
            ):
                found.append(f"took a secret: {path}")
        if self._helper_ended():
            found.append("ended somebody else's process")
        for name, one in (("tcp", self.tcp), ("unix", self.unix), ("abstract", self.abstract)):
            try:
                one.accept()[0].close()
                found.append(f"connected: {name}")
            except BlockingIOError:
                pass
        try:
            self.udp.recv(100)
            found.append("sent: udp")
        except BlockingIOError:
            pass
        end = time.monotonic() + dying
        while (left := self.left_behind()) and time.monotonic() < end:
            time.sleep(0.05)
        found += [f"still runs: {pid}" for pid in left]
        return found

    def _helper_ended(self) -> bool:
        """A signal that was sent may not have arrived: who is about to end does not sleep."""
        if self.helper.poll() is None:
            try:
                status = Path(f"/proc/{self.helper.pid}/status").read_text()
            except OSError:
                status = ""
            asleep = "State:\tS" in status and all(
                int(line.split()[1], 16) == 0 for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))
            )
            if not asleep:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.helper.wait(DYING_SECONDS)
        return self.helper.poll() is not None

    def left_behind(self) -> list[int]:
        """Processes of this user's that carry the token and are not dead."""
        found: list[int] = []
        token, me = self.token.encode(), os.geteuid()
        for entry in os.scandir("/proc"):
            try:
                if not entry.name.isdigit() or entry.stat().st_uid != me:
                    continue
                folder = Path(entry.path)
                if token not in (folder / "cmdline").read_bytes().split(b"\0"):
                    continue
                if (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def git_outside(self) -> None:
        """What an editor does all the time, and a user soon: whatever it runs writes into `out`."""
        env = {**os.environ, "HOME": str(self.home), "GIT_TERMINAL_PROMPT": "0"}
        for folder in [self.ws, *self.visits]:
            if not folder.is_dir():
                continue
            for line in (["status"], ["diff"], ["commit", "--allow-empty", "-qm", "x"]):
                subprocess.run(["git", *line], cwd=folder, env=env, capture_output=True, check=False, timeout=150)


@cache
def _repository() -> Path:
    """The git folder of a repository with one commit of `a.txt`; made once."""
    made = Path(tempfile.mkdtemp(prefix="codelaw-test-repository-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    (made / "a.txt").write_text("a\n")
    env = {**os.environ, "HOME": str(made), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=A User", "-c", "user.email=a@user.example", "-c", "init.defaultBranch=main"]
    for line in (["init", "-q"], ["add", "a.txt"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *who, *line], cwd=made, env=env, check=True)
    return made / ".git"


@contextmanager
def world(base: Path, *, repository: bool = True) -> Iterator[World]:
    base = base.resolve()
    ws, out, home, own = (base / name for name in ("ws", "out", "home", "own"))
    for folder in (ws, out, home, own, base / "tmp"):
        folder.mkdir(parents=True)
    (out / "victim").write_text("intact\n")
    (out / "program").write_text(f"#!/bin/sh\necho pwned > {out}/pwned\n")
    (out / "program").chmod(0o755)
    for name in SECRET_FILES:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"{SECRET}\n")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = A User\n\temail = a@user.example\n[init]\n\tdefaultBranch = main\n"
    )
    (home / ".cargo/bin").mkdir()
    (home / ".cargo/bin/tool").write_text("#!/bin/sh\necho the tool runs\n")
    (home / ".cargo/bin/tool").chmod(0o755)
    (own / "config.toml").write_text(f'[model]\napiKey = "{SECRET}"\n')
    (ws / ".codelaw").mkdir()
    (ws / ".codelaw/config.toml").write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n')
    (ws / "a.txt").write_text("a\n")
    environment = {**USUAL, "HOME": str(home)}
    if repository:
        shutil.copytree(_repository(), ws / ".git")
    helper = subprocess.Popen(
        ["/bin/sh", "-c", "exec 3<>victim; sleep 600"],
        cwd=out,
        env={**environment, "A_SECRET": SECRET},
        start_new_session=True,
    )
    sockets = [
        socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    ]
    addresses = [("127.0.0.1", 0), ("127.0.0.1", 0), str(out / "s"), f"\0codelaw-test-{helper.pid}"]
    for one, address in zip(sockets, addresses, strict=True):
        one.bind(address)
        if one.type == socket.SOCK_STREAM:
            one.listen()
        one.setblocking(False)
    tcp, udp, unix, abstract = sockets
    made = World(base, ws, out, home, own, helper, tcp, udp, unix, abstract, environment)
    made.before = made.seen()
    try:
        yield made
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(helper.pid, signal.SIGKILL)
        helper.wait()
        kill(made.left_behind())
        for one in sockets:
            one.close()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
