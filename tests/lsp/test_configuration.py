"""Settings, folders and watchers as the client gives them (V-4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from codelaw.lsp.client import Client
from codelaw.lsp.server.registering import Registrations
from codelaw.lsp.transport.rpc import Rpc
from tests.lsp.raw import NO_ANSWER, RawClient, RpcError

CONFIGURED: dict[str, Any] = {"workspace": {"configuration": True}}


async def setting(client: RawClient, key: str) -> tuple[Any, str]:
    entry = (await client.request("codelaw/settings/read", {}))["settings"][key]
    return entry["value"], entry["origin"]


async def setting_becomes(client: RawClient, key: str, value: Any) -> None:
    async with asyncio.timeout(150):
        while (await setting(client, key))[0] != value:
            await asyncio.sleep(0.01)


async def test_initialization_options_lie_under_the_pulled_configuration(fresh: RawClient) -> None:
    fresh.answers["workspace/configuration"] = [{"turn": {"maxSteps": 9}, "model": {"name": None}}]
    await fresh.initialize(CONFIGURED, options={"turn": {"maxSteps": 5, "maxTokens": 6}, "model": {"name": "a"}})
    assert await setting(fresh, "turn.maxSteps") == (9, "client")
    assert await setting(fresh, "turn.maxTokens") == (6, "client")
    assert await setting(fresh, "model.name") == ("a", "client")
    assert await setting(fresh, "turn.timeoutSeconds") == (None, "default")


async def test_a_client_that_is_not_asked_pushes_its_configuration(fresh: RawClient) -> None:
    await fresh.initialize({})
    assert await setting(fresh, "turn.maxSteps") == (50, "default")
    await fresh.notify("workspace/didChangeConfiguration", {"settings": {"codelaw": {"turn": {"maxSteps": 7}}}})
    await setting_becomes(fresh, "turn.maxSteps", 7)
    assert fresh.params("workspace/configuration") == []


async def test_a_client_that_never_answers_its_configuration_holds_nothing_up(fresh: RawClient) -> None:
    fresh.answers["workspace/configuration"] = NO_ANSWER
    await fresh.initialize(CONFIGURED, options={"turn": {"maxSteps": 5}})
    assert await setting(fresh, "turn.maxSteps") == (5, "client")


async def test_nonsense_for_an_answer_is_taken_as_nothing(fresh: RawClient) -> None:
    for answer in ("x", [], [7], RpcError({"code": 1, "message": "no"})):
        fresh.answers["workspace/configuration"] = answer
        if not fresh.messages:
            await fresh.initialize(CONFIGURED)
        await fresh.notify("workspace/didChangeConfiguration", {"settings": None})
        assert await setting(fresh, "turn.maxSteps") == (50, "default")


async def test_problems_are_told_once_and_the_value_below_stays(fresh: RawClient) -> None:
    await fresh.initialize({}, options={"turn": {"maxSteps": "many"}, "colour": 1})
    report = await fresh.request("codelaw/settings/read", {})
    assert report["settings"]["turn.maxSteps"]["value"] == 50
    assert [problem["code"] for problem in report["problems"]] == ["bad_setting", "unknown_setting"]
    reported = [params["message"] for params in fresh.params("window/showMessage")]
    assert len(reported) == 2
    assert "turn.maxSteps" in reported[0]
    assert "colour" in reported[1]
    await fresh.notify("workspace/didChangeConfiguration", {"settings": {"codelaw": {"turn": {"maxTokens": 1}}}})
    await setting_becomes(fresh, "turn.maxTokens", 1)
    assert len(fresh.params("window/showMessage")) == 2


async def test_keys_are_masked(fresh: RawClient) -> None:
    await fresh.initialize({}, options={"model": {"apiKey": "sk-very-secret"}})
    value, origin = await setting(fresh, "model.apiKey")
    assert origin == "client"
    assert "secret" not in value
    assert await fresh.shut_down() == 0
    assert "secret" not in fresh.process.stderr


async def test_a_workspaces_file_is_read_watched_and_restricted(fresh: RawClient, tmp_path: Path) -> None:
    file = tmp_path / ".codelaw" / "config.toml"
    file.parent.mkdir()
    file.write_text('[model]\nname = "theirs"\nbaseUrl = "http://127.0.0.1:1"\n')
    await fresh.initialize(folders=[tmp_path])
    assert await setting(fresh, "model.name") == ("theirs", "workspace")
    assert await setting(fresh, "model.baseUrl") == (None, "default")
    assert "model.baseUrl" in (await fresh.method("window/showMessage"))["message"]
    file.write_text('[model]\nname = "changed"\n')
    await fresh.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]})
    await setting_becomes(fresh, "model.name", "changed")
    file.write_text('[model]\nname = "saved"\n')
    await fresh.notify("textDocument/didSave", {"textDocument": {"uri": file.as_uri()}})
    await setting_becomes(fresh, "model.name", "saved")


LIMITS = {"inline": 3, "panel:5d0c": 0}


async def test_watchers_are_registered_per_folder_and_moved(client: RawClient, tmp_path: Path) -> None:
    folder = {"uri": tmp_path.as_uri(), "name": "one"}
    await client.request("codelaw/model/list", {})
    await client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    registered = (await client.method("client/registerCapability"))["registrations"][0]
    assert registered["method"] == "workspace/didChangeWatchedFiles"
    patterns = [watcher["globPattern"] for watcher in registered["registerOptions"]["watchers"]]
    assert [pattern["baseUri"] for pattern in patterns] == [folder["uri"]] * 6
    behind = [pattern["pattern"] for pattern in patterns[3:]]
    assert behind == [".codelaw/config.toml", ".mcp.json", ".vscode/mcp.json"], "the law and the names beside it first"
    law = await client.request("codelaw/context/law", {})
    assert [item["folder"] for item in law["documents"]] == ["one"]
    await client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    gone = (await client.method("client/unregisterCapability"))["unregisterations"][0]
    assert gone["id"] == registered["id"]


async def test_a_registration_waits_for_the_one_before():
    asked: list[str] = []

    async def request(method: str, _params: Any) -> None:
        asked.append(method.removeprefix("client/").removesuffix("Capability"))
        await asyncio.sleep(0)

    registrations = Registrations(cast("Rpc", SimpleNamespace(request=request)), Client(watching=True))
    await asyncio.gather(registrations.watch([], []), registrations.watch([], ["RULES.md"]))
    assert asked == ["register", "unregister", "register"]


async def test_folders_of_one_name_are_told_apart_and_others_left_out(fresh: RawClient, tmp_path: Path) -> None:
    folders = [tmp_path / "a" / "same", tmp_path / "b" / "same"]
    for folder in folders:
        folder.mkdir(parents=True)
    named = [{"uri": folder.as_uri(), "name": "same"} for folder in folders]
    remote = {"uri": "vscode-remote://host/x", "name": "remote"}
    await fresh.initialize({}, workspaceFolders=[*named, remote])
    law = await fresh.request("codelaw/context/law", {})
    assert [item["folder"] for item in law["documents"]] == ["same", "same-2"]


async def test_the_older_root_uri_is_a_folder(fresh: RawClient, tmp_path: Path) -> None:
    await fresh.initialize({}, rootUri=tmp_path.as_uri())
    law = await fresh.request("codelaw/context/law", {})
    assert [item["uri"] for item in law["documents"]] == [tmp_path.as_uri()]
