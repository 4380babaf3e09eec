"""Commands that reach other processes, or live on (S-4, R-8)."""

from __future__ import annotations

from tests.attacks.row import commands

PROCESSES = commands(
    "out",
    {
        "a signal to another process": "kill -9 {pid}",
        "a signal to its group": "kill -9 -- -{pid}; kill -9 -$(cut -d' ' -f5 /proc/{pid}/stat)",
        "a daemon": "(setsid sh -c 'sleep {token}' >/dev/null 2>&1 &) ; sleep 0.1",
        "nohup": "nohup sleep {token} >/dev/null 2>&1 &\nsleep 0.1",
        "a daemon without an environment": "(env -i setsid sleep {token} >/dev/null 2>&1 &) ; sleep 0.1",
        "a process that forked twice": "{python} -c 'import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.closerange(0, 100)\nos.execve(\"/bin/sleep\", [\"sleep\", \"{token}\"], {{}})'; sleep 0.1",
        "a stopped process": "env -i setsid sleep {token} >/dev/null 2>&1 & sleep 0.1; kill -STOP $!",
    },
    fails=("a daemon", "nohup"),
)  # fmt: skip
