"""What was decided is on record, over the real server (S-8)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, NO_ANSWER, RawClient
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_approvals import APPROVAL, WRITE, bash, option

AUDIT = "codelaw/permission/audit"
TOKEN = f"ghp_{'aB3d' * 9}"


async def reported(client: RawClient, **params: Any) -> list[tuple[str, str, str, str]]:
    """Kind, decision, by whom and rule, the oldest first."""
    entries = (await client.request(AUDIT, params))["entries"]
    return [(one["kind"], one["decision"], one["by"], one.get("rule", "")) for one in reversed(entries)]


async def test_calls_are_on_record_with_who_allowed_them(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.txt").write_text("a")
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.txt"}')),
        VendorReply(text=act("Read", '{"path": "secret.txt"}')),
        WRITE,
        bash("ls"),
        bash(f"git diff --stat # {TOKEN}"),
        bash("git diff --name-only"),
        bash("curl x"),
        VendorReply(text=finish("ok")),
    ]
    permissions = {"allow": ["Bash(ls:*)"], "deny": ["Bash(curl:*)", "Read(secret.txt)"]}
    async with start(options={"permissions": permissions}) as client:

        def answer(params: Any) -> Any:
            if params["tool"] == "Write":
                return option("reject")(params) | {"comment": "not now"}
            return option("allow_chat")(params)

        client.answers[APPROVAL] = answer
        sent = await client.request("codelaw/chat/send", {"text": "go"})
        chat = sent["chatId"]
        assert await reported(client, chatId=chat) == [
            ("call", "deny", "rule", "Read(secret.txt)"),
            ("call", "deny", "user", "rejected"),
            ("call", "allow", "rule", "Bash(ls:*)"),
            ("grant", "grant", "user", "Bash(git diff:*)"),
            ("call", "allow", "user", "allow_chat"),
            ("call", "allow", "grant", "Bash(git diff:*)"),
            ("call", "deny", "rule", "Bash(curl:*)"),
        ]
        entries = (await client.request(AUDIT, {"chatId": chat}))["entries"]
        assert entries[0]["tool"] == "Bash"
        assert entries[0]["detail"] == "curl x"
        assert entries[0]["folder"] == str(root)
        assert "not now" in entries[5]["detail"]
        assert TOKEN not in json.dumps(entries), "a command's keys are not on record"
        assert "[redacted: github token]" in entries[2]["detail"]
        assert [one["detail"] for one in (await client.request(AUDIT, {"limit": 1}))["entries"]] == ["curl x"]
        for grant in (await client.request("codelaw/permission/list", {}))["grants"]:
            await client.request("codelaw/permission/revoke", {"id": grant["id"]})
        assert (await reported(client))[-1] == ("grant", "revoke", "user", "Bash(git diff:*)")
        same = await client.command("codelaw.permission.audit", {"chatId": chat})
        assert same == await client.request(AUDIT, {"chatId": chat})
        await client.request("codelaw/chat/delete", {"chatId": chat})
        assert await reported(client) == [], "what is on record of a chat goes with it"
        refused = await client.error(AUDIT, {"chatId": chat})
        assert refused.data["code"] == "chat_not_found"
        assert (await client.error(AUDIT, {"limit": 0})).code == -32602


async def test_a_decision_is_durable_before_what_it_allows_runs(start: Start, vendor: LoopbackVendor, home: Path):
    vendor.script = [bash("sleep 60"), VendorReply(text=finish("ok"))]
    async with start(options={"permissions": {"allow": ["Bash(sleep:*)"]}}) as client:
        await client.start("codelaw/chat/send", {"text": "go"})
        await client.event("tool_call", status="running")
        with closing(sqlite3.connect(home / "codelaw.db")) as connection, connection:
            found = connection.execute("SELECT decision, by_whom, rule, detail FROM audit").fetchall()
        assert found == [("allow", "rule", "Bash(sleep:*)", "sleep 60")]
        assert client.process is not None
        await client.process.kill()


async def test_restricted_mode_and_trust_are_on_record(start: Start, vendor: LoopbackVendor, root: Path):
    (root / ".codelaw").mkdir()
    (root / ".codelaw/config.toml").write_text('[permissions]\nallow = ["Edit(/new.txt)"]\n')
    vendor.script = [WRITE, VendorReply(text=finish("ok"))]
    async with start() as client:
        client.answers["window/showMessageRequest"] = NO_ANSWER
        (shown,) = (await client.request("codelaw/workspace/settings", {}))["files"]
        for trusted in (True, False):
            wanted = {"folder": str(root), "trusted": trusted, "digest": shown["digest"]}
            await client.request("codelaw/workspace/trust", wanted)
        await client.notify("codelaw/workspace/editorTrust", {"trusted": False})
        await client.request("codelaw/chat/send", {"text": "go"})
        entries = (await client.request(AUDIT, {}))["entries"]
        made = [(one["kind"], one["decision"], one["folder"]) for one in reversed(entries) if one["kind"] == "trust"]
        withdrawn = ("trust", "withdraw", str(root))
        assert made == [("trust", "trust", str(root)), withdrawn, withdrawn]
        assert {one["chatId"] for one in entries if one["kind"] == "trust"} == {""}


async def test_a_stock_editor_is_shown_the_record_and_the_grants(start: Start, vendor: LoopbackVendor, root: Path):
    capabilities = {**EVERYTHING, "experimental": {}}
    async with start(capabilities, {"permissions": {"allow": ["Bash(ls:*)"]}}) as client:
        vendor.script = [bash("ls `id` \u202e"), bash("ls -a"), VendorReply(text=finish("ok"))]
        client.answers["window/showMessageRequest"] = None
        client.answers["window/showDocument"] = {"success": True}
        await client.request("codelaw/chat/send", {"text": "go"})
        for command, words in (("audit", "What was decided"), ("list", "What is allowed for good")):
            mark = len(client.messages)
            await client.command(f"codelaw.permission.{command}", {})
            shown = await client.method("window/showDocument", mark)
            text = Path(shown["uri"].removeprefix("file://")).read_text()
            assert words in text
            assert "\u202e" not in text
            if command == "audit":
                assert "**allow** by rule `Bash(ls:*)`: Bash `ls -a`" in text
                assert "``ls `id` " in text


async def test_a_record_that_cannot_be_written_fails_no_turn(start: Start, vendor: LoopbackVendor, home: Path):
    vendor.script = [bash("ls -1"), VendorReply(text=finish("ok"))]
    async with start(options={"permissions": {"allow": ["Bash(ls:*)"]}}) as client:
        await client.request("codelaw/chat/list", {})
        with closing(sqlite3.connect(home / "codelaw.db")) as connection, connection:
            connection.execute("ALTER TABLE audit RENAME TO elsewhere")
        sent = await client.request("codelaw/chat/send", {"text": "go"})
        assert sent["stopReason"] == "finished"
        with closing(sqlite3.connect(home / "codelaw.db")) as connection, connection:
            connection.execute("ALTER TABLE elsewhere RENAME TO audit")
        vendor.reset([bash("ls -2"), VendorReply(text=finish("ok"))])
        await client.request("codelaw/chat/send", {"text": "go"})
        entries = (await client.request(AUDIT, {}))["entries"]
        assert [one["detail"] for one in entries] == ["ls -2", "ls -1"], "it is written with the next"
