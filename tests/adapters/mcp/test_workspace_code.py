"""Which servers of the user's own run what lies in a workspace (X-3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelaw.adapters.mcp.workspace_code import runs_from
from codelaw.domain.served import Program


@pytest.fixture
def around(tmp_path: Path) -> Path:
    """`home/ws` is the workspace; beside it programs and links."""
    home = tmp_path.resolve() / "home"
    for folder in ("ws/tools", "ws/bin", "other/tools", "bin"):
        (home / folder).mkdir(parents=True)
    for name in ("ws/tools/server.py", "ws/tools/__main__.py", "ws/server.js", "ws/Makefile", "other/server.py"):
        (home / name).write_text("x")
    for program in ("ws/bin/serve", "ws/npx", "bin/tool"):
        (home / program).write_text("#!/bin/sh\n")
        (home / program).chmod(0o755)
    (home / "bin/linked").symlink_to(home / "ws/bin/serve")
    (home / "linked").symlink_to(home / "ws")
    (home / "ws/away.py").symlink_to(home / "other/server.py")
    return home


RUN = [
    # in the folder itself: the cwd lies there
    ("sh -c|exec python3 tools/server.py", "ws", {}),
    ("python3|tools", "ws", {}),
    ("npx|-y|something", "ws", {}),
    ("python3|-m|x", "linked", {}),
    # from elsewhere
    ("python3|{ws}/tools/server.py", "", {}),
    ("python3|{ws}/tools", "", {}),
    ("python3|-u|-W|ignore|{ws}/tools", "", {}),
    ("python3.12|linked/tools", "", {}),
    ("python3|../ws/tools/server.py", "other", {}),
    ("python3|{ws}/away.py", "", {}),
    ("node|{ws}/server", "", {}),
    ("node|--import=file://{ws}/server.js|{home}/other/x.js", "", {}),
    ("node|{ws}", "", {}),
    ("perl|-I{ws}/tools|{home}/other/x", "", {}),
    ("sh|-c|exec python3 {ws}/tools/server.py", "", {}),
    ("sh|-c|cd $HOME/ws && exec python3 -m tools", "", {}),
    ("bash|-lc|cd ~/ws; npm run -s mcp", "", {}),
    ("bash|-c|cd other; cd {home}; cd ws; make", "", {}),
    ("make|-s|-C|{ws}|mcp", "", {}),
    ("make|-sC{ws}|mcp", "", {}),
    ("npm|--prefix|{ws}|run|-s|mcp", "", {}),
    ("npm|run|mcp|--prefix={ws}", "", {}),
    ("env|-C|{ws}|python3|-m|x", "", {}),
    ("env|PYTHONPATH={ws}|python3|-m|x", "", {}),
    ("uv|--directory|{ws}|run|server", "", {}),
    ("uvx|--python|3.11|--from|{ws}|server", "", {}),
    ("npx|{ws}/tools|x", "", {}),
    ("npx|-p|a|-p|{ws}/tools|x", "", {}),
    ("docker|compose|--project-directory|{ws}|run|x", "", {}),
    ("docker|compose|-f|{ws}/compose.yml|run|x", "", {}),
    ("timeout|60|python3|{ws}/tools", "", {}),
    ("cargo|run|--manifest-path|{ws}/Cargo.toml", "", {}),
    ("pytest|{ws}", "", {}),
    ("git|hook|run|--git-dir|{ws}/.git", "", {}),
    ("timeout|5|serve", "", {"PATH": "{ws}/bin:/usr/bin"}),
    ("tool|$HOME/ws", "", {}),
    ("tool|cd other; cd ../ws; make", "", {}),
    ("sh|-c|case x in x) cd other; cd ../ws; make;; esac", "", {}),
    ("tool|{ws}/comes_later.py", "", {}),
    ("echo|{ws}/server.js", "", {}),
    ("tool", "", {"GIT_DIR": "{ws}"}),
    ("{ws}/bin/serve", "", {}),
    ("bin/linked", "", {}),
    ("serve", "", {"PATH": "{ws}/bin:/usr/bin"}),
    ("serve", "", {"PATH": "none:ws/bin"}),
    ("python3|-m|x", "", {"PYTHONPATH": "/none:{ws}"}),
    ("node|{home}/other/x.js", "", {"NODE_OPTIONS": "--no-warnings --require={ws}/server.js"}),
    ("tool", "", {"LD_PRELOAD": "{ws}/x.so"}),
    ("tool", "", {"STARTS": "{ws}/server.js"}),
    # a program's name with a version
    ("npx|-y|tsx@latest|{ws}/tools", "", {}),
    ("npx|-y|pnpm@9.1|-C|{ws}|mcp", "", {}),
    ("corepack|pnpm@9|--dir|{ws}|mcp", "", {}),
    ("uvx|poetry==1.8|-C|{ws}|run|x", "", {}),
    ("python3.13t|{ws}/tools", "", {}),
    ("node18|{ws}", "", {}),
    ("make-4|-C|{ws}", "", {}),
    ("uvicorn|--app-dir|{ws}|s:app", "", {}),
    # a program's name that leads there
    ("env|linked", "", {}),
    ("sh|-c|exec linked", "", {}),
    # code and what stands behind it
    ("sh|-c|cd $1 && exec make|_|{ws}", "", {}),
    ('sh|-c|cd "$HOME"/ws && exec make', "", {}),
    ('sh|-c|cd "w"s; make', "", {}),
    ("sh|-c|D=$HOME; cd $D/ws; make", "", {}),
    ("sh|-c|PATH=/a:/usr:/usr/bin:/bin:/sbin:/usr/lib:/etc:/var; cd other; cd ..; cd ./ws; make", "", {}),
    ("python3|-c|import sys; sys.path.insert(0, sys.argv[1]); import server|{ws}", "", {}),
    ("python3|-c|import os; os.chdir(os.environ['AT']); import server", "", {"AT": "{ws}"}),
    ("node|-e|require(process.argv[1])|{ws}", "", {}),
    ("python3|-m|ws.tools.server", "", {}),
    ("python3|-mws.tools", "", {}),
    ("sh|-c|python3 -um ws.tools.server", "", {}),
    # behind a program that goes there first
    ("systemd-run|--user|--working-directory={ws}|make", "", {}),
    ("mcp-proxy|--cwd|{ws}|--|uv|run|x", "", {}),
    ("pdm|run|x", "", {"PDM_PROJECT": "{ws}"}),
    ("sh|-c|cd tools; make", "", {"CDPATH": "{ws}"}),
    ("uv|run|--with|{ws}|x", "", {}),
    ("uv|run|make|-C|{ws}", "", {}),
]
DATA = [
    ("npx|-y|@modelcontextprotocol/server-filesystem|{ws}", "", {}),
    ("npx|-y|server-filesystem|{home}/other|{ws}", "", {}),
    ("npx|--yes|server|--directory|{ws}|stdio", "", {}),
    ("env|A=1|npx|-y|server-filesystem|{ws}", "", {}),
    ("uvx|mcp-server-git|--directory|{ws}|verbose", "", {}),
    ("tool|--cwd|{ws}|a|b", "", {}),
    ("uvx|mcp-server-git|--repository|{ws}", "", {}),
    ("python3|-m|mcp_server_git|--repository|{ws}", "", {}),
    ("python3|{home}/other/server.py|{ws}", "", {}),
    ("node|{home}/other/server.js|--root={ws}", "", {}),
    ("{home}/bin/tool|{ws}", "", {}),
    ("{home}/bin/tool|--directory|{ws}/tools", "", {}),
    ("tool|{ws}", "", {"ROOT": "{ws}", "PATH": "{home}/bin"}),
    ("docker|run|-i|--rm|-v|{ws}:/data|image", "", {}),
    ("python3|{home}/other/server.py", "other", {}),
    ("make|-C|{home}/other", "", {}),
    ("sh|-c|exec npx -y something", "", {}),
    ("tool|{ws}-other/file.py", "", {}),
    ("node|--no-warnings|{home}/other/x.js|{ws}", "", {}),
    ("node|--max-old-space-size=4096|{home}/other/x.js|{ws}", "", {}),
    ("npx|-y|--prefer-offline|server-filesystem|{ws}", "", {}),
    ("npx|--yes|--loglevel=error|server-filesystem@1.2|{ws}", "", {}),
    ("uvx|--python=3.12|--offline|mcp-server-git|--repository|{ws}", "", {}),
    ("python3|-OO|-E|{home}/other/server.py|{ws}", "", {}),
    ("uv|run|--directory|{home}/other|server.py|{ws}", "", {}),
    ("uv|tool|run|mcp-server-git|--repository|{ws}", "", {}),
    ("deno|run|-A|npm:server-filesystem|{ws}", "", {}),
    ("pnpm|dlx|server-filesystem|{ws}", "", {}),
    ("npm|exec|--|server-filesystem|{ws}", "", {}),
    ("docker|run|-v|{ws}:/app|node:20|node|/app/server.js", "", {}),
    ("npx|-y|server-filesystem", "", {"ALLOWED_PATH": "{ws}"}),
]


def decided(around: Path, line: str, cwd: str, env: dict[str, str]) -> bool:
    words = [word.format(ws=around / "ws", home=around) for word in line.split("|")]
    variables = {name: value.format(ws=around / "ws", home=around) for name, value in env.items()}
    program = Program(words[0], tuple(words[1:]), variables, around / cwd)
    environment = {"PATH": f"{around}/bin:{os.environ['PATH']}", "HOME": str(around)}
    return runs_from(program, [around / "ws"], environment)


@pytest.mark.parametrize(("line", "cwd", "env"), RUN)
def test_what_lies_in_the_workspace_is_seen_in_each_spelling(around: Path, line: str, cwd: str, env: dict[str, str]):
    assert decided(around, line, cwd, env)


@pytest.mark.parametrize(("line", "cwd", "env"), DATA)
def test_a_folder_that_is_only_data_is_not_meant(around: Path, line: str, cwd: str, env: dict[str, str]):
    assert not decided(around, line, cwd, env)


def test_a_file_on_path_that_is_not_executable_hides_none_behind_it(around: Path):
    (around / "other/serve").write_text("x")
    environment = {"PATH": f"{around}/other:{around}/ws/bin", "HOME": str(around)}
    assert runs_from(Program("serve", (), {}, around), [around / "ws"], environment)
    (around / "other/serve").chmod(0o755)
    assert not runs_from(Program("serve", (), {}, around), [around / "ws"], environment)


def test_words_that_are_no_paths_take_no_time(around: Path):
    words = ("x" * 30_000, "a/" * 15_000, "=" * 5_000, "\0", "a b " * 5_000)
    assert not runs_from(Program("sh", words * 3, {}, around), [around / "ws"], {"HOME": str(around)})
