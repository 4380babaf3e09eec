"""A folder's own settings count when the user has seen and trusted them (S-3)."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.safety.unseen import has_unseen
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, finish
from tests.scenarios.test_approvals import APPROVAL, QUIET, WRITE, decisions, option

RULES = '[permissions]\nallow = ["Edit(/new.txt)"]\ndeny = ["Bash(curl:*)"]\n[model]\nbaseUrl = "http://127.0.0.1:9"\n'


def rules(root: Path, text: str = RULES) -> None:
    (root / ".codelaw").mkdir(exist_ok=True)
    (root / ".codelaw/config.toml").write_text(text)


async def allowed(client: RawClient) -> tuple[Any, Any]:
    found = (await client.request("codelaw/settings/read", {}))["settings"]
    return found["permissions.allow"]["value"], found["permissions.deny"]["value"]


async def test_trust_is_asked_for_once_given_kept_and_taken(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    rules(root, RULES.partition("[model]")[0])
    vendor.script = [WRITE, VendorReply(text=finish("ok"))]
    async with start(QUIET) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        question = await client.method("window/showMessageRequest")
        assert 'permissions.allow = ["Edit(/new.txt)"]' in question["message"]
        assert str(root) in question["message"]
        assert await allowed(client) == ([], ["Bash(curl:*)"])
        (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        wanted = {"folder": str(root), "trusted": True, "digest": file["digest"]}
        assert await client.request("codelaw/workspace/trust", wanted) == {"trusted": True}
        assert await allowed(client) == (["Edit(/new.txt)"], ["Bash(curl:*)"])
        client.answers[APPROVAL] = option("reject")
        sent = await client.request("codelaw/chat/send", {"text": "go"})
        assert decisions(client, sent["chatId"]) == [{"action": "allow", "source": "allow", "rule": "Edit(/new.txt)"}]
        assert len(client.params("window/showMessageRequest")) == 1
    assert (root / "new.txt").read_text() == "hi"
    assert not list(root.rglob("trusted*"))
    assert str(root) in (home / "trusted.json").read_text()
    async with start(QUIET) as client:
        assert await allowed(client) == (["Edit(/new.txt)"], ["Bash(curl:*)"])
        await client.request("codelaw/workspace/trust", {"folder": root.as_uri(), "trusted": False})
        assert await allowed(client) == ([], ["Bash(curl:*)"])


async def test_trust_by_the_button(start: Start, root: Path):
    rules(root)
    async with start(QUIET) as client:
        asked = asyncio.Event()

        def trust(params: dict[str, Any]) -> dict[str, str]:
            asked.set()
            return params["actions"][0]

        client.answers["window/showMessageRequest"] = trust
        async with asyncio.timeout(150):
            await asked.wait()
        for _ in range(7500):
            if (await allowed(client))[0]:
                break
            await asyncio.sleep(0.02)
        assert (await allowed(client))[0] == ["Edit(/new.txt)"]


async def test_a_client_that_shows_no_questions_is_told_how_to_trust(start: Start, root: Path):
    rules(root)
    async with start(QUIET) as client:
        said = await client.method("window/showMessage")
        assert "model.baseUrl" in said["message"]
        assert f"codelaw trust {root}" in said["message"]


async def test_a_changed_file_is_asked_about_again(start: Start, root: Path):
    rules(root)
    async with start(QUIET) as client:
        client.answers["window/showMessageRequest"] = {"title": "Trust this folder"}
        await client.method("window/showMessageRequest")
        for _ in range(7500):
            if (await allowed(client))[0]:
                break
            await asyncio.sleep(0.02)
        assert (await allowed(client))[0] == ["Edit(/new.txt)"]
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        rules(root, RULES.replace("Edit(/new.txt)", "Bash(sh:*)"))
        (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        assert (file["trusted"], file["values"]["permissions.allow"]) == (False, '["Bash(sh:*)"]')
        assert (await allowed(client))[0] == []
        asked = client.params("window/showMessageRequest")
        assert ["Bash(sh:*)" in question["message"] for question in asked] == [False, True]


async def test_what_was_not_shown_is_not_trusted(start: Start, root: Path, home: Path):
    rules(root)
    async with start(QUIET) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        rules(root, RULES.replace("Edit(/new.txt)", "Bash(sh:*)"))
        wanted = {"folder": str(root), "trusted": True, "digest": file["digest"]}
        for unseen in (wanted, {"folder": str(root), "trusted": True}):
            refused = await client.error("codelaw/workspace/trust", unseen)
            assert refused.data["code"] == "not_trusted"
            assert (await allowed(client))[0] == []
        (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        await client.request("codelaw/workspace/trust", {**wanted, "digest": file["digest"]})
        assert (await allowed(client))[0] == ["Bash(sh:*)"]
        (root / ".codelaw/config.toml").unlink()
        refused = await client.error("codelaw/workspace/trust", {"folder": str(root), "trusted": True})
        assert refused.data["code"] == "not_trusted"


async def test_a_file_too_long_to_be_shown_is_not_offered(start: Start, root: Path):
    many = [f"Bash(program-{number}:*)" for number in range(100)]
    rules(root, f"[permissions]\nallow = {many}\n")
    async with start(QUIET) as client:
        said = await client.method("window/showMessage")
        assert f"codelaw trust {root}" in said["message"]
        assert client.params("window/showMessageRequest") == []


async def test_a_message_about_trust_hides_nothing(start: Start, root: Path):
    rules(
        root, '[permissions]\nallow = ["Bash(a\\u202Eb\\u200B\\u3164:*)"]\n[model]\nbaseUrl = "http://x/\\u001b[2K"\n'
    )
    async with start(QUIET) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        asked = await client.method("window/showMessageRequest")
        assert "Bash(a⟨U+202E⟩b⟨U+200B⟩⟨U+3164⟩:*)" in asked["message"]
        assert not has_unseen(asked["message"])


async def swapped(root: Path, how: str) -> None:
    """Another settings file in the place of the trusted one."""
    loose = root.parent / "loose.toml"
    loose.write_text(RULES.replace("Edit(/new.txt)", "Bash(sh:*)"))
    (root / ".codelaw").rename(root / "kept")
    if how == "a link to another folder":
        (root.parent / "other").mkdir()
        loose.rename(root.parent / "other/config.toml")
        (root / ".codelaw").symlink_to(root.parent / "other")
        return
    (root / ".codelaw").mkdir()
    place = root / ".codelaw/config.toml"
    match how:
        case "a link to another file":
            place.symlink_to(loose)
        case "a hard link":
            place.hardlink_to(loose)
        case "a pipe":
            os.mkfifo(place)
        case "a folder":
            place.mkdir()
        case _:
            place.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "how", ["a link to another folder", "a link to another file", "a hard link", "a pipe", "a folder", "a device"]
)
async def test_what_takes_the_place_of_a_trusted_file_is_not_trusted(start: Start, root: Path, how: str):
    rules(root)
    async with start(QUIET) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        wanted = {"folder": str(root), "trusted": True, "digest": file["digest"]}
        await client.request("codelaw/workspace/trust", wanted)
        assert (await allowed(client))[0] == ["Edit(/new.txt)"]
        await swapped(root, how)
        await client.request("codelaw/workspace/settings", {})
        broken = how in {"a pipe", "a folder", "a device"}
        stays = ["Edit(/new.txt)"] if broken else []
        assert (await allowed(client))[0] == stays, "what cannot be read takes no rule away, and adds none (S-1)"
        refused = await client.error("codelaw/workspace/trust", wanted)
        assert (refused.data["code"], broken) == ("not_trusted", "nothing to trust" in str(refused.message))
        shutil.rmtree(root / ".codelaw") if not (root / ".codelaw").is_symlink() else (root / ".codelaw").unlink()
        (root / "kept").rename(root / ".codelaw")
        await client.request("codelaw/workspace/settings", {})
        assert (await allowed(client))[0] == ["Edit(/new.txt)"], "what was seen is trusted again"


async def test_only_a_folder_of_the_workspace_can_be_trusted(start: Start, root: Path, home: Path):
    (root / "sub").mkdir()
    async with start(QUIET) as client:
        for folder in ("/", "..", "nowhere", "file:///etc", "untitled:x", "https://x.example/y", f"{root}/sub"):
            refused = await client.error("codelaw/workspace/trust", {"folder": folder, "trusted": True})
            assert (refused.code, refused.data["code"]) == (-32803, "folder_not_found"), folder
            assert str(root) in refused.data["hint"]
    assert not (home / "trusted.json").exists()
