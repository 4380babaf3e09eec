"""Which files a command names or may load (S-8)."""

from __future__ import annotations

import shlex

import pytest

from codelaw.permissions.command_files import MOST_NAMES, files_of_line, files_of_program

LOADED = {
    "./scripts/check.py": "/ws/scripts/check.py",
    "scripts/check.py --all": "/ws/scripts/check.py",
    "python3 -m guard": "/ws/guard.py",
    "python3 -Im guard.main": "/ws/guard/main.py",
    "python3 -mguard": "/ws/guard.py",
    "python3 tools": "/ws/tools",
    "python3 -u -W error tools/x.py": "/ws/tools/x.py",
    "python3 -c 'import guard'": "/ws",
    "node tools/server": "/ws/tools/server.js",
    "node --require ./hook.js /srv/server.js": "/ws/hook.js",
    "node --import=./hook.js /srv/server.js": "/ws/hook.js",
    "ruby tools/x.rb": "/ws/tools/x.rb",
    "deno run tools/x.ts": "/ws/tools/x.ts",
    "bun run mcp": "/ws",
    "sh -c 'exec python3 tools/server.py'": "/ws/tools/server.py",
    "bash -lc 'cd tools && ./run'": "/ws/tools/run",
    "sh tools/run.sh": "/ws/tools/run.sh",
    "csh -f tools/run.csh": "/ws/tools/run.csh",
    "rbash -c tools/x": "/ws/tools/x",
    ". tools/env; true": "/ws/tools/env",
    "bash -euo pipefail -c 'python3 tools/x.py'": "/ws/tools/x.py",
    "ninja x": "/ws",
    "lerna run x": "/ws",
    "elixir tools/x.exs": "/ws/tools/x.exs",
    "COMPOSE_FILE=tools/dc.yml x": "/ws/tools/dc.yml",
    "cd tools && python3 server.py": "/ws/tools/server.py",
    "env -C tools python3 server.py": "/ws/tools/server.py",
    "env A=1 nice -n5 python3 tools/x.py": "/ws/tools/x.py",
    "timeout 5 sh -c 'python3 tools/x.py'": "/ws/tools/x.py",
    "uv --directory tools run server": "/ws/tools",
    "uv run --project=tools server": "/ws/tools",
    "npm --prefix tools run mcp": "/ws/tools",
    "npm run -s mcp": "/ws",
    "pnpm mcp": "/ws",
    "make -s mcp": "/ws",
    "make -C tools mcp": "/ws/tools",
    "make -f tools/mk mcp": "/ws/tools/mk",
    "docker compose -f tools/dc.yml run x": "/ws/tools/dc.yml",
    "npx -y server DIR": "/ws/.npmrc",
    "uvx server": "/ws/uv.toml",
    "jq -e -f./filter.jq": "/ws/filter.jq",
    "awk -f tools/x.awk": "/ws/tools/x.awk",
    "python3.13t -m tools.x": "/ws/tools/x.py",
    "ruby -r./x /srv/x.rb": "/ws/x.rb",
    "bun /srv/x.ts": "/ws/bunfig.toml",
    "lua5.4 /srv/x.lua": "/ws",
    "java X": "/ws",
    "PYTHONPATH=lib python3 /srv/x.py": "/ws/lib",
    "PATH=bin:/usr/bin guard": "/ws/bin",
    "BASH_ENV=env.sh bash /srv/x.sh": "/ws/env.sh",
    "LD_PRELOAD=./x.so guard": "/ws/x.so",
    "NODE_OPTIONS='--require ./x.js' node /srv/x.js": "/ws/x.js",
}


@pytest.mark.parametrize("line", LOADED)
def test_what_is_run_or_may_be_loaded(line: str):
    assert LOADED[line] in files_of_line(line, "/ws").loaded


@pytest.mark.parametrize(
    "line", ["node tools/server", "npm run -s mcp", "env -C tools python3 server.py", "python3 -m guard", "./x"]
)
def test_a_program_that_is_started_without_a_shell(line: str):
    assert files_of_program(shlex.split(line), "/ws") == files_of_line(line, "/ws")


def test_the_variables_of_a_program():
    found = files_of_program(
        ["guard"], "/ws", {"NODE_OPTIONS": "--require=./x.js", "PATH": ":/usr/bin", "RULES": "r.json"}
    )
    assert {"/ws/x.js", "/ws", "/usr/bin"} <= {*found.loaded}
    assert "/ws/r.json" in found.named


NAMED = {
    "guard --rules=rules.json": "/ws/rules.json",
    "grep -qf allowed.txt": "/ws/allowed.txt",
    "cat < rules": "/ws/rules",
    "awk '{ getline x < \"rules\" }'": "/ws/rules",
    "python3 /srv/guard.py rules": "/ws/rules",
    "cd sub; cat rules": "/ws/sub/rules",
}


@pytest.mark.parametrize("line", NAMED)
def test_what_other_words_may_mean(line: str):
    found = files_of_line(line, "/ws")
    assert NAMED[line] in found.named
    assert not found.unknown


UNKNOWN = [
    *("~/guard", "$HOME/guard x", "python3 -c 'print(1)'", "python3", "cat rules | sh", "node -e 1", "node -", "eval x"),
    *('sh -c "$RULES"', "guard $(cat rules)", "case x in", "perl -ne print", "sh -c 'case x in'", "guard > $X"),
    "touch " + " ".join(f"a{number}" for number in range(MOST_NAMES + 1)),
]  # fmt: skip


@pytest.mark.parametrize("line", UNKNOWN)
def test_what_cannot_be_said(line: str):
    assert files_of_line(line, "/ws").unknown


ELSEWHERE = [
    *("/usr/local/bin/guard --strict", "guard", "python3 /srv/guard.py", "bash /srv/guard.sh", "echo '{\"a\": 1}'"),
    *("jq -e .tool_input >/dev/null && echo yes", "node --no-warnings /srv/server.js /ws", "docker run -i image"),
]


@pytest.mark.parametrize("line", ELSEWHERE)
def test_what_loads_nothing_of_the_folder(line: str):
    found = files_of_line(line, "/ws")
    assert [path for path in found.loaded if path.startswith("/ws")] == []
    assert not found.unknown


def test_programs_are_looked_up_by_name():
    assert files_of_line("timeout 5 guard; /srv/x", "/ws").programs == ("timeout", "5", "guard")
    assert files_of_line("https://x.example/y guard", "/ws").loaded == ()
