"""Ways out of the sandbox, each with a name, and none of them leads out (S-4)."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from codelaw.adapters.processes import bubblewrap, drawing, landlock
from codelaw.adapters.processes.sandbox import Kind, Means, Sandbox
from tests.adapters.processes.locked import USUAL, World, world

SYSCALL = "import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True); "
CONFIG = "[core]\n\tfsmonitor = {out}/program\n\thooksPath = {out}\n\tsshCommand = {out}/program\n"
GITTED = "mkdir -p {to}/objects {to}/refs/heads {to}/hooks; echo 'ref: refs/heads/main' > {to}/HEAD; printf '%s' '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {out}/program\n' > {to}/config; "

ESCAPES: dict[str, str] = {
    # ------------------------------------------------------------------------------------- writing somewhere else
    "an absolute path": "echo x > {out}/victim",
    "dots": "echo x > ../out/victim",
    "dots through folders": "mkdir -p a/b; echo x > a/b/../../../out/victim",
    "a symlink to a folder": "ln -s {out} l; echo x > l/victim",
    "a symlink to a file": "ln -s {out}/victim l; echo x > l",
    "a chain of symlinks": "ln -s {out} l1; ln -s l1 l2; ln -s l2/victim l3; echo x > l3",
    "a new file": "echo x > {out}/new",
    "appending": "echo x >> {out}/victim",
    "truncating": "truncate -s 0 {out}/victim",
    "renaming it in": "mv {out}/victim here",
    "renaming one over it": "echo x > new; mv new {out}/victim",
    "a hard link that is written": "ln {out}/victim h && echo x > h",
    "deleting": "rm -rf {out}/victim {home}/.ssh",
    "changing the mode": "chmod 777 {out}/victim; chmod -R 777 {home}",
    "a heredoc": "cat > {out}/victim <<EOF\nx\nEOF",
    "a command substitution": "true $(echo x > {out}/victim)",
    "back quotes": "true `echo x > {out}/victim`",
    "a process substitution": "echo x > >(cat > {out}/victim); sleep 0.2",
    "eval": "eval 'ec''ho x > {out}/victim'",
    "base64 into a shell": "echo 'echo x > {out}/victim' | base64 | base64 -d | sh",
    "xargs": "echo {out}/victim | xargs -I@ sh -c 'echo x > @'",
    "awk": "awk 'BEGIN {{ print \"x\" > \"{out}/victim\" }}'",
    "python": "{python} -c 'open(\"{out}/victim\", \"w\").write(\"x\")'",
    "dd": "echo x | dd of={out}/victim status=none",
    "tee": "echo x | tee {out}/victim {home}/.bashrc",
    "an archive with dots": "{python} -c 'import tarfile,io; t=tarfile.open(\"t.tar\",\"w\"); i=tarfile.TarInfo(\"../out/victim\"); i.size=2; t.addfile(i, io.BytesIO(b\"x\\n\")); t.close()'; tar -xPf t.tar",
    "the root of the own process": "echo x > /proc/self/root{out}/victim",
    "the root of the first process": "echo x > /proc/1/root{out}/victim",
    "the root of another process": "echo x > /proc/{pid}/root{out}/victim",
    "the folder of another process": "echo x > /proc/{pid}/cwd/victim",
    "the file that another process has open": "echo x > /proc/{pid}/fd/3",
    "a file descriptor that was left open": "for n in 3 4 5 6 7 8 9 10 11 12; do (echo x >&$n) 2>/dev/null; done; ls -l /proc/self/fd",
    "the shell's start files": "echo '{out}/program' | tee -a {home}/.bashrc {home}/.profile {home}/.bash_profile",
    "a key that may log in": "mkdir -p {home}/.ssh; echo k > {home}/.ssh/authorized_keys",
    "autostart": "mkdir -p {home}/.config/autostart {home}/.config/systemd/user; echo x > {home}/.config/autostart/x.desktop; echo x > {home}/.config/systemd/user/x.service",
    "a tool of the user's replaced": "echo '{out}/program' > {home}/.cargo/bin/tool",
    "a crontab": "echo '* * * * * {out}/program' | crontab -; echo '* * * * * root {out}/program' > /etc/cron.d/codelaw-escape && echo x > {out}/pwned",
    "at": "echo {out}/program | at now",
    "a longer path than is allowed": "cd {out}; for n in $(seq 40); do mkdir -p $(printf 'd%.0s' $(seq 200)); cd d*; done; echo x > new",
    "a name with a newline": "mkdir -p $'a\\n..'; echo x > $'a\\n/../../out/victim'; echo x > $'a\\n..'/../../out/victim",
    # --------------------------------------------------------------------------------------------- reading secrets
    "a key by its path": "cat {home}/.ssh/id_ed25519",
    "a key by the tilde": "cat ~/.ssh/id_ed25519 ~/.aws/credentials",
    "everything in the home folder": "cat ~/.* ~/* ~/.*/* ~/.*/*/* ~/.*/*/*/*",
    "find": "find {home} -type f -exec cat {{}} +",
    "an archive of the home folder": "tar -cf home.tar {home}",
    "a link to a secret": "ln -s {home}/.ssh l; cat l/id_ed25519",
    "a hard link to a secret": "ln {home}/.ssh/id_ed25519 h && cat h",
    "a secret beside a tool": "cat {home}/.cargo/credentials.toml {home}/.m2/settings.xml {home}/.gradle/gradle.properties",
    "a secret by another process": "cat /proc/{pid}/root{home}/.ssh/id_ed25519; cat /proc/{pid}/cwd/../home/.netrc",
    "codelaw's own settings": "cat {own}/config.toml; cat {own}/*",
    "writing codelaw's own settings": "mkdir -p {own}; echo x > {own}/config.toml",
    "moving codelaw's own settings": "CODELAW_HOME={own}; mv $CODELAW_HOME {ws}/own; cat {ws}/own/config.toml",
    "the environment of another process": "cat /proc/{pid}/environ | tr '\\0' '\\n'",
    "the environment of every process": "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ps eww",
    "the memory of another process": "{python} -c '" + SYSCALL + "print(libc.ptrace(16, {pid}, 0, 0)); m = open(\"/proc/{pid}/mem\", \"rb\"); print([m.seek(int(l.split(\"-\")[0], 16)) and m.read(135168) for l in open(\"/proc/{pid}/maps\") if \"stack\" in l])'",
    # --------------------------------------------------------------------------------------------------- processes
    "a signal to another process": "kill -9 {pid}",
    "a signal to its group": "kill -9 -- -{pid}; kill -9 -$(cut -d' ' -f5 /proc/{pid}/stat)",
    "a daemon": "(setsid sh -c 'sleep {token}' >/dev/null 2>&1 &) ; sleep 0.1",
    "nohup": "nohup sleep {token} >/dev/null 2>&1 &\nsleep 0.1",
    "a daemon without an environment": "(env -i setsid sleep {token} >/dev/null 2>&1 &) ; sleep 0.1",
    "a process that forked twice": "{python} -c 'import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.closerange(0, 100)\nos.execve(\"/bin/sleep\", [\"sleep\", \"{token}\"], {{}})'; sleep 0.1",
    "a stopped process": "env -i setsid sleep {token} >/dev/null 2>&1 & sleep 0.1; kill -STOP $!",
    # ------------------------------------------------------------------------------------------ more rights, mounts
    "sudo and its kin": "sudo -n {out}/program; pkexec {out}/program </dev/null; su -c {out}/program </dev/null; doas -n {out}/program",
    "a program that is another user": "cp /bin/sh s; chmod u+s s; ./s -p -c 'echo x > {out}/victim'; grep -q 'NoNewPrivs:.1' /proc/self/status || echo x > {out}/pwned",
    "a mount over it": "mount -t tmpfs none {out}; mount --bind {ws} {out}; mount -o remount,rw /; mount -o remount,rw,bind /; echo x > {out}/victim",
    "an unmount of what hides": "umount -l {home}; umount {own}; umount -l {ws}/.git/config; cat {home}/.netrc {own}/config.toml",
    "namespaces of its own": "unshare -Urm sh -c 'mount -o remount,rw,bind /; umount -l {home}; umount -l {own}; mount --bind {ws} {out}; cat {home}/.netrc {own}/config.toml; echo x > {out}/victim'",
    "the namespaces of the first process": "nsenter -t 1 -a sh -c 'echo x > {out}/victim; cat {home}/.netrc'",
    "the namespaces of another process": "nsenter -t {pid} -m -p sh -c 'echo x > {out}/victim; cat {home}/.netrc'",
    "chroot": "chroot /proc/1/root sh -c 'echo x > {out}/victim'; chroot /proc/{pid}/root sh -c 'echo x > {out}/victim'",
    "the old way out of chroot": "{python} -c 'import os; os.mkdir(\"j\"); f = os.open(\".\", 0); os.chroot(\"j\"); os.fchdir(f); [os.chdir(\"..\") for _ in range(40)]; os.chroot(\".\"); open(\"{out}/victim\", \"w\").write(\"x\"); print(open(\"{home}/.netrc\").read())'",
    "another root": "mkdir -p r/o; {python} -c '" + SYSCALL + "libc.syscall(155, b\"r\", b\"r/o\"); print(open(\"{home}/.netrc\").read())'",
    "a device made here": "mknod d b $(stat -c '%Hd %Ld' {out} 2>/dev/null || echo 8 0) && dd if=d bs=1M count=1 | strings | head -1 && echo x > {out}/victim",
    "the machine's memory": "head -c 64 /dev/mem && echo x > {out}/victim; head -c 64 /proc/kcore && cat {home}/.netrc; head -c 1 /dev/sda /dev/vda && echo x > {out}/victim",
    "a file handle": "{python} -c '" + SYSCALL + "h = ctypes.create_string_buffer(128); h[0:4] = (8).to_bytes(4, \"little\"); h[4:8] = (1).to_bytes(4, \"little\"); h[8:12] = (2).to_bytes(4, \"little\"); f = libc.syscall(304, os.open(\"/\", 0), h, os.O_RDONLY); print(f); os.chdir(f) if f >= 0 else sys.exit(1); print(open(\".{home}/.netrc\").read())'",
    "a module of the kernel": "touch m.ko; insmod ./m.ko && echo x > {out}/victim; modprobe dummy && echo x > {out}/victim",
    "a control group": "mkdir -p c && mount -t cgroup2 none c && echo x > {out}/victim; mkdir /sys/fs/cgroup/codelaw-escape && echo x > {out}/victim",
    # ------------------------------------------------------------------------------------------------------ sockets
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
    # ----------------------------------------------------------------------------------------------------------- git
    "a hook": "echo '{out}/program' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; cp {out}/program .git/hooks/pre-commit",
    "a folder of hooks put there": "mv .git/hooks h; mkdir -p .git/hooks; cp {out}/program .git/hooks/pre-commit",
    "a hook behind a link": "ln -s .git g; cp {out}/program g/hooks/pre-commit",
    "a hook that is there, changed": "for f in .git/hooks/*; do echo '{out}/program' > $f; chmod +x $f; done",
    "fsmonitor": "git config core.fsmonitor {out}/program",
    "hooksPath": "git config core.hooksPath {out}; git config --worktree core.hooksPath {out}",
    "sshCommand": "git config core.sshCommand {out}/program; git config core.pager {out}/program",
    "an alias": "git config alias.status '!{out}/program'",
    "an included file": "echo '[core] fsmonitor = {out}/program' > c; git config include.path ../c",
    "a filter": "git config filter.x.clean {out}/program; echo '* filter=x' > .gitattributes; git config diff.external {out}/program",
    "settings written by hand": "printf '" + CONFIG + "' >> .git/config; sed -i 's/bare/fsmonitor = x\\nbare/' .git/config",
    "settings put in their place": "printf '" + CONFIG + "' > c; mv c .git/config; rm -f .git/config; cp c .git/config",
    "settings of a worktree": "git config extensions.worktreeConfig true; printf '" + CONFIG + "' > .git/config.worktree",
    "another git folder": "mv .git old; cp -r old .git; printf '" + CONFIG + "' >> .git/config; cp {out}/program .git/hooks/pre-commit",
    "a new repository": "rm -rf .git; git init -q; printf '" + CONFIG + "' >> .git/config; cp {out}/program .git/hooks/pre-commit",
    "a file for the git folder": GITTED.replace("{to}", "evil") + "rm -rf .git; echo 'gitdir: evil' > .git",
    "a link for the git folder": GITTED.replace("{to}", "evil") + "mv .git old; ln -s evil .git",
    "a common folder": GITTED.replace("{to}", "evil") + "cp -r .git/objects .git/refs evil; echo ../evil > .git/commondir",
    "a common folder, by renaming": GITTED.replace("{to}", "evil") + "echo ../evil > c; mv c .git/commondir; rm -f .git/commondir; ln -s ../c .git/commondir",
    "the user's git settings": "git config --global core.fsmonitor {out}/program; echo x >> {home}/.gitconfig",
    "the machine's git settings": "git config --system core.fsmonitor {out}/program && echo x > {out}/pwned",
    # ------------------------------------------------------------------------------------------ codelaw's own rules
    "the workspace's rules": "echo 'permissions.default = \"allow\"' > .codelaw/config.toml",
    "the workspace's rules, renamed": "mv .codelaw c; mkdir .codelaw; echo 'permissions.default = \"allow\"' > .codelaw/config.toml",
    "the workspace's rules, removed": "rm -rf .codelaw",
    "the workspace's rules, by a link": "ln -s .codelaw c; echo x > c/config.toml; ln .codelaw/config.toml h; echo x > h",
}  # fmt: skip

CONTROL = (
    "an absolute path",
    "a symlink to a folder",
    "a hard link that is written",
    "a heredoc",
    "python",
    "the root of the own process",
    "the folder of another process",
    "the shell's start files",
    "a key by the tilde",
    "an archive of the home folder",
    "codelaw's own settings",
    "the environment of another process",
    "a signal to another process",
    "a daemon without an environment",
    "tcp by the shell",
    "udp",
    "a socket in the file system",
    "a socket without a file",
    "a hook",
    "fsmonitor",
    "another git folder",
    "a common folder",
    "the workspace's rules",
)
"""Attempts that get out where nothing holds them: proof that a breach would be seen."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
KINDS = (pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock")


@cache
def means_of(kind: Kind) -> Means:
    async def look() -> Means:
        sandbox = Sandbox(list, [], USUAL, kinds=(kind,))
        try:
            return await sandbox.means()
        finally:
            await sandbox.close()

    return asyncio.run(look())


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    means = means_of(request.param)
    if means.kind is None:
        pytest.skip(means.detail)
    return request.param


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The world can be seen in the sandbox: not hidden with the temporary folder that it lies in.

    It is not in `tmp_path`: landlock allows everything beside a hidden place one by one, and that folder has thousands
    of neighbours.
    """
    with tempfile.TemporaryDirectory(prefix="codelaw-world-", ignore_cleanup_errors=True) as folder:
        base = Path(os.path.realpath(folder)) / "world"
        for module in (drawing, bubblewrap, landlock):
            monkeypatch.setattr(module, "TEMPORARY", (str(base / "tmp"),))
        with world(base) as made:
            yield made


GIT_WORDS = {"git", ".git", ".gitattributes"}
NOT_BY_LANDLOCK = {
    "changing the mode",
    "a hook",
    "a folder of hooks put there",
    "a hook behind a link",
    "a hook that is there, changed",
    "fsmonitor",
    "hooksPath",
    "sshCommand",
    "an alias",
    "an included file",
    "a filter",
    "settings written by hand",
    "settings put in their place",
    "settings of a worktree",
    "another git folder",
    "a new repository",
    "a file for the git folder",
    "a link for the git folder",
    "a common folder",
    "a common folder, by renaming",
    "the workspace's rules",
    "the workspace's rules, renamed",
    "the workspace's rules, removed",
    "the workspace's rules, by a link",
}
"""What lies in the workspace and must not change: it knows nothing of that, and so it does not count (S-4)."""


@pytest.mark.parametrize("name", ESCAPES)
async def test_no_way_leads_out(around: World, kind: Kind, name: str):
    if kind == "landlock" and name in NOT_BY_LANDLOCK:
        pytest.skip("landlock cannot hold it")
    sandbox = around.sandbox(kind)
    processes = around.processes(sandbox, means_of(kind))
    assert processes.sandboxed
    result = await processes.run(ESCAPES[name].format(**around.words()), cwd=around.ws, timeout=30)
    await sandbox.close()
    if GIT_WORDS & set(ESCAPES[name].replace("/", " ").split()):
        await asyncio.to_thread(around.git_outside)
    assert await asyncio.to_thread(around.breaches, result) == [], f"{result.stdout}\n{result.stderr}"
    assert not result.timed_out


@pytest.mark.parametrize("kind", ["landlock"], indirect=True)
@pytest.mark.parametrize("name", sorted(NOT_BY_LANDLOCK))
async def test_what_landlock_cannot_hold_is_why_no_blanket_rule_counts_in_it(around: World, kind: Kind, name: str):
    sandbox = around.sandbox(kind)
    processes = around.processes(sandbox, means_of(kind))
    result = await processes.run(ESCAPES[name].format(**around.words()), cwd=around.ws, timeout=30)
    await sandbox.close()
    await asyncio.to_thread(around.git_outside)
    assert await asyncio.to_thread(around.breaches, result) != []
    assert not processes.trusted


@pytest.mark.parametrize("kind", ["landlock"], indirect=True)
async def test_landlock_knows_nothing_of_modes_and_that_is_all(around: World, kind: Kind):
    """What its documentation says: the mode and the times of a file that is one's own are not its business."""
    sandbox = around.sandbox(kind)
    command = f"chmod 640 {around.out}/victim; chmod 777 {around.home}/.netrc; cat {around.home}/.netrc; echo x > {around.out}/victim"
    result = await around.processes(sandbox, means_of(kind)).run(command, cwd=around.ws, timeout=30)
    await sandbox.close()
    assert around.breaches(result) == [f"changed: {around.home}/.netrc", f"changed: {around.out}/victim"]
    assert (around.out / "victim").read_text() == "intact\n"


@pytest.mark.parametrize("name", CONTROL)
async def test_without_a_sandbox_it_gets_out(around: World, name: str):
    processes = around.processes(None, None)
    assert not processes.sandboxed
    result = await processes.run(ESCAPES[name].format(**around.words()), cwd=around.ws, timeout=30)
    await asyncio.to_thread(around.git_outside)
    assert await asyncio.to_thread(around.breaches, result) != []


def test_there_are_enough_of_them():
    assert len(ESCAPES) >= 60
    assert set(CONTROL) <= set(ESCAPES)
