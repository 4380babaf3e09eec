"""Importing touches nothing, and starting the server imports nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[2] / "server"
HEAVY = (
    "anthropic",
    "tiktoken",
    "numpy",
    "jinja2",
    "websockets",
    "httpx2",
    "httpx",
    "requests",
    "psycopg",
    "safetensors",
    "tokenizers",
)

WATCHED_IMPORT = """
import importlib, io, json, os, pkgutil, sys, threading
import asyncio, logging, sqlite3  # the standard library may do as it likes
seen = []
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        if flags & writing:
            seen.append(f"writes {arguments[0]}")
        else:
            path = os.fsdecode(arguments[0])
            if "codelaw" in path and not path.endswith((".py", ".pyc")):
                seen.append(f"reads {path}")
    elif event in {"os.putenv", "os.unsetenv", "os.mkdir", "os.remove", "os.rename", "os.chdir", "os.system",
                   "subprocess.Popen", "socket.connect", "socket.bind", "sqlite3.connect", "os.fork"}:
        seen.append(f"{event} {arguments!r}")
sys.dont_write_bytecode = True
ours, module, *stack = sys.argv[1:]
for name in stack:          # what others do when they are imported is not ours to judge
    try:
        importlib.import_module(name)
    except ImportError:
        pass
environment, threads, cwd = dict(os.environ), threading.active_count(), os.getcwd()
handlers = list(logging.getLogger().handlers)
real, sys.stdout = sys.stdout, io.StringIO()
def spied(self, key, fetch=type(os.environ).__getitem__):
    frame = sys._getframe(1)
    for _ in range(3):
        if frame is not None and ours in frame.f_code.co_filename:
            seen.append(f"reads ${key}")
            break
        frame = frame and frame.f_back
    return fetch(self, key)
type(os.environ).__getitem__ = spied
sys.addaudithook(watch)
importlib.import_module(module)
said, sys.stdout = sys.stdout.getvalue(), real
if said: seen.append(f"prints {said!r}")
if dict(os.environ) != environment: seen.append("changes the environment")
if threading.active_count() != threads: seen.append("starts a thread")
if os.getcwd() != cwd: seen.append("changes the folder")
if logging.getLogger().handlers != handlers: seen.append("configures logging")
print(json.dumps(seen))
"""

IMPORTED = "import sys, json; import {module}; print(json.dumps(sorted({{n.split('.')[0] for n in sys.modules}})))"


def names() -> list[str]:
    found = []
    for path in sorted((SERVER / "codelaw").rglob("*.py")):
        parts = path.relative_to(SERVER).with_suffix("").parts
        if parts[-1] != "__main__":
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def python(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SERVER)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_everything_touches_nothing() -> None:
    everything = f"import sys, types; [__import__(name) for name in {names()!r}]"
    # One process for all: a module that imports the others lets each act under the same watch.
    program = WATCHED_IMPORT.replace("importlib.import_module(module)", f"exec({everything!r})")
    third_party = [*HEAVY, "pygls.lsp.server", "lsprotocol.types", "pydantic", "platformdirs"]
    assert json.loads(python("-c", program, str(SERVER), "codelaw", *third_party)) == []


def test_the_watch_sees_what_it_should(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        f"import os\nprint('hello')\nos.environ.get('HOME')\nos.environ['X_LOUD'] = '1'\n"
        f"open({str(tmp_path / 'x')!r}, 'w').close()\n"
    )
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + WATCHED_IMPORT
    seen = json.loads(python("-c", program, str(tmp_path), "loud"))
    assert any(line.startswith("prints") for line in seen)
    assert any(line.startswith("writes") for line in seen)
    assert "changes the environment" in seen
    assert "reads $HOME" in seen


@pytest.mark.parametrize("module", ["codelaw.lsp.server", "codelaw.cli.main"])
def test_starting_imports_nothing_heavy(module: str) -> None:
    """`initialize` is answered before anything heavy is imported (V-1)."""
    loaded = set(json.loads(python("-c", IMPORTED.format(module=module))))
    assert loaded & set(HEAVY) == set()


def test_commands_that_need_no_settings_load_none() -> None:
    """What was decided, and what is allowed, is there at once: the server alone reads settings (S-8)."""
    program = (
        "import json, sys\n"
        "import codelaw.cli.main\n"
        "assert not {'fcntl', 'termios', 'readline'} & {*sys.modules}, 'Windows lacks them'\n"
        "import codelaw.cli.spawn\n"
        "assert 'asyncio' not in sys.modules, 'the server loads meanwhile'\n"
        "from codelaw.cli.commands import chats, context, permissions\n"
        "from codelaw.cli import terminal\n"
        "import codelaw.cli.conversation.chat\n"
        "assert 'platformdirs' not in sys.modules\n"
        "terminal._environment()\n"
        "print(json.dumps([*sys.modules]))"
    )
    loaded = set(json.loads(python("-c", program)))
    settings = {"codelaw.settings.model", "codelaw.app.requests.permissions", "codelaw.app.ruling", "pydantic"}
    assert loaded & {*settings, *HEAVY, "pygls", "lsprotocol"} == set()
