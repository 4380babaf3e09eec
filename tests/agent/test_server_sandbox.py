"""Which servers start in the sandbox, what lets one out, and what is asked where there is none (X-3)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from codelaw.app.servers.looking import ServerSandbox, ServerSurvey, looked
from codelaw.app.servers.session_servers import SessionServers
from codelaw.app.servers.telling import notice
from codelaw.domain.errors import Refusal
from codelaw.domain.files import Folder
from codelaw.domain.served import Program
from codelaw.settings.effective import load_settings
from codelaw.settings.servers.answers import Answers
from codelaw.settings.servers.filling import Variables
from tests.agent.conftest import Bench
from tests.agent.test_servers import names, reopen
from tests.fakes.servers import FakeServers

OFF = {"tools": {"bash": {"sandbox": "off"}}}


def found(
    root: Path, of_workspace: dict[str, Any], own: dict[str, Any], sandbox: ServerSandbox, origin: str = "user"
) -> ServerSurvey:
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": of_workspace}))
    settings = load_settings(environ={}, client={"mcp": {"servers": own}}).value
    around = Variables({}, root.parent, root, origin=origin)
    known = Answers()
    return looked(settings, [Folder("w", root, root.as_uri())], around, known, restricted=False, sandbox=sandbox)


def reaches(root: Path, entry: dict[str, Any], origin: str | None) -> object:
    """What a server reaches from within the sandbox; `origin` None: `.mcp.json` names it."""
    of_workspace, own = ({"it": entry}, {}) if origin is None else ({}, {"it": entry})
    survey = found(root, of_workspace, own, ServerSandbox(rules=("a rule",)), origin or "user")
    if origin is None:
        assert "it" in survey.kept, survey
        return survey.inside.get("it")
    (spec,) = survey.specs
    assert isinstance(spec.way, Program)
    assert spec.way.rules == (("a rule",) if spec.way.network is not None else ())
    assert spec.way.answer == 0
    return spec.way.network


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "tools").mkdir(parents=True)
    (made / "tools/server.py").write_text("")
    for place in (made / ".env", tmp_path / ".env"):
        place.write_text("A=b\n")
    (tmp_path / "linked").symlink_to(made / ".env")
    return made


RUNS = {"command": "python3", "args": ["${workspaceFolder}/tools/server.py"]}
DATA = {"command": "npx", "args": ["-y", "files", "${workspaceFolder}"]}


@pytest.mark.parametrize(
    ("entry", "origin", "network"),
    [
        (RUNS, "user", True),
        ({**RUNS, "network": False}, "user", False),
        ({**RUNS, "network": ["a.example", "B.example:8080"]}, "client", ("a.example", "b.example:8080")),
        ({**RUNS, "sandbox": False}, "user", None),
        ({**RUNS, "sandbox": True}, "user", True),
        ({**RUNS, "sandbox": False}, "workspace", True),
        ({**RUNS, "sandbox": False}, "client", True),
        ({**RUNS, "sandbox": False}, "environment", True),
        (DATA, "user", None),
        (DATA, "client", None),
        (DATA, "workspace", True),
        ({"command": "x", "cwd": "work"}, "user", True),
        ({"command": "x"}, "user", None),
        ({"command": "x", "envFile": ".env"}, "user", None),
        ({"command": "x", "envFile": "work/.env"}, "user", True),
        ({"command": "x", "envFile": "linked"}, "client", True),
        ({"command": "x", "envFile": "work/.env", "sandbox": False}, "user", None),
    ],
)
def test_which_servers_of_the_settings_start_in_the_sandbox(
    root: Path, entry: dict[str, Any], origin: str, network: object
) -> None:
    assert reaches(root, entry, origin) == network


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (DATA, "and reaches the network."),
        ({**RUNS, "sandbox": False}, "and reaches the network."),
        ({"command": "/usr/bin/x", "network": False}, "and reaches no network."),
        ({"command": "x", "network": ["a.example"]}, "and reaches of the network only a.example."),
        (
            {"command": "x", "sandboxEnabled": True, "sandbox": {"network": {"allowedDomains": ["*.a.example"]}}},
            "and reaches of the network only *.a.example.",
        ),
    ],
)
def test_each_program_that_a_workspaces_file_names_does(root: Path, entry: dict[str, Any], said: str) -> None:
    assert str(reaches(root, entry, None)).endswith(said)


def test_a_workspaces_file_that_would_let_a_server_out_is_told(root: Path) -> None:
    survey = found(root, {"it": {**RUNS, "sandbox": False}}, {}, ServerSandbox())
    assert [notice.message for notice in survey.notices] == [
        ".mcp.json: the server 'it': `sandbox = false` counts in your own settings file alone."
    ]
    survey = found(root, {}, {"it": {**RUNS, "sandbox": False}}, ServerSandbox(), "workspace")
    assert [notice.message for notice in survey.notices] == [
        "settings: the server 'it': `sandbox = false` counts in your own settings file alone."
    ]


@pytest.mark.parametrize("network", ["all", ["http://a.example"], ["*"], [1], {}])
def test_what_is_no_network_is_no_server(root: Path, network: object) -> None:
    survey = found(root, {"it": {"command": "x", "network": network}}, {}, ServerSandbox())
    assert not survey.servers
    assert "`network` is not what it should be" in survey.notices[0].message


def test_files_are_no_part_of_the_consent_to_what_can_do_nothing_with_them(root: Path) -> None:
    entry = {"it": {"command": "python3", "args": ["tools/server.py"], "network": False}}
    assert found(root, entry, {}, ServerSandbox()).servers[0].pins == ()
    assert found(root, entry, {}, ServerSandbox(lacking="it is missing")).servers[0].pins


def test_a_server_of_which_a_variable_is_not_set_is_listed_once(root: Path) -> None:
    entry = {"it": {"command": "x", "args": ["${userHome}", "${NOT_SET}"]}}
    survey = found(root, {}, entry, ServerSandbox())
    assert [server.name for server in survey.servers] == ["it"]
    assert survey.kept["it"].message == "The variable NOT_SET is not set."


async def test_where_there_is_no_full_sandbox_each_start_is_asked_about(bench: Bench, servers: FakeServers) -> None:
    names(bench, desk={"command": "./desk"})
    own = {"mcp": {"servers": {"mine": {"command": "x", "cwd": str(bench.root)}}}}
    await reopen(bench, servers, {**OFF, **own})
    ours = bench.session.servers
    await ours.list()
    with pytest.raises(Refusal, match="asked about at each start"):
        await ours.enable("desk", enabled=True)  # in a process that starts nothing
    await ours.start()
    listed = (await ours.list()).servers
    assert [(state.state, state.ask) for state in listed] == [("needs_trust", True)] * 2
    why = "As there is no full sandbox for it (it is switched off), your editor asks at each start."
    assert all(why in state.message for state in listed)
    for name in ("desk", "mine"):
        await ours.enable(name, enabled=True)
    assert [(spec.name, spec.way.answer) for spec in servers.specs] == [("desk", 1), ("mine", 2)]  # type: ignore[union-attr]
    with pytest.raises(Refusal) as refused:
        await ours.restart("mine")
    assert refused.value.code == "not_trusted"
    assert [spec.name for spec in servers.specs] == ["desk"], "it is not left running by the old answer"
    await ours.enable("mine", enabled=True)
    assert [spec.way.answer for spec in servers.specs] == [1, 3]  # type: ignore[union-attr]
    assert servers.restarted == []
    bench.session.set_trusted(trusted=False)
    bench.session.set_trusted(trusted=True)
    await ours.start()
    assert servers.specs == (), "what was ended does not begin by the old answer"
    names(bench)
    await ours.enable("mine", enabled=True)
    names(bench, desk={"command": "./desk"})
    await ours.start()
    assert [spec.name for spec in servers.specs] == ["mine"]
    await reopen(bench, fresh := FakeServers(), {**OFF, **own})
    await bench.session.servers.start()
    assert fresh.specs == (), "an answer of an earlier process does not count"
    with pytest.raises(Refusal, match="not what was shown"):
        await bench.session.servers.enable("mine", enabled=True, digest="another")


@pytest.mark.needs("bwrap")
async def test_a_rule_that_comes_later_begins_a_server_anew(bench: Bench, servers: FakeServers) -> None:
    own = {"mcp": {"servers": {"mine": {"command": "x", "cwd": str(bench.root)}}}}
    await reopen(bench, servers, own)
    await bench.session.servers.start()
    await bench.session.servers.enable("mine", enabled=True)
    (before,) = servers.specs
    settings = load_settings(environ={}, client={**own, "permissions": {"deny": ["Read(secrets/**)"]}})
    bench.session.reconfigure(settings)
    await bench.session.servers.start()
    assert [spec.name for spec in servers.specs] in (["mine"], [])
    assert (*servers.specs,) != (before,)


async def test_programs_of_a_folder_that_joins_the_workspace_are_not_found_any_more(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, place = tmp_path / "ran", tmp_path / "bin"
    place.mkdir()
    (place / "desk-server").write_text(f"#!/bin/sh\necho x >> {ran}\n")
    (place / "desk-server").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    await reopen(bench, None, {"mcp": {"servers": {"desk": {"command": "desk-server"}}}})
    ours = bench.session.servers
    await ours.start()
    await until_it_has_failed(ours)
    assert ran.read_text() == "x\n"
    bench.session.set_folders([Folder(name.name, name, name.as_uri()) for name in (bench.root, place)])
    await ours.restart("desk")
    assert "It cannot be started" in await until_it_has_failed(ours)
    assert ran.read_text() == "x\n"


async def until_it_has_failed(ours: SessionServers) -> str:
    """Why its one server has."""
    async with asyncio.timeout(60):
        while (state := ours.states()[0]).state != "failed":
            await asyncio.sleep(0.05)
    return state.message


@pytest.fixture
def servers() -> FakeServers:
    return FakeServers()


def test_who_can_answer_in_one_process_alone_is_not_sent_to_a_terminal(root: Path) -> None:
    for lacking in ("", "it is missing"):
        survey = found(root, {"it": RUNS}, {}, ServerSandbox(lacking=lacking))
        said = notice(survey.kept["it"], once=survey.lets_once("it"))
        assert said is not None
        assert ("codelaw mcp enable" in said.message) == (not lacking)
        assert "the list of servers in the panel" in said.message
