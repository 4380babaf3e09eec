"""The rules of today's models, one row each: what is taken, what is refused and in which words, what is forgotten."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.loopback.claude import BOUND, Account
from tests.loopback.rules import FALLBACK, UPDATES
from tests.loopback.script import VendorReply, events, received

MODEL = "claude-sonnet-5-5"
TOOLS = [{"name": "Read", "description": "d", "input_schema": {"type": "object"}}]


def asked(*messages: dict[str, Any], model: str = MODEL, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": 1000,
        "stream": True,
        "system": [{"type": "text", "text": "Be terse."}],
        "tools": TOOLS,
        "messages": [{"role": "user", "content": "q"}, *messages],
        **more,
    }


def judged(body: dict[str, Any], account: Account, *betas: str) -> str | None:
    return account.judge(body, {"anthropic-beta": ",".join(betas)}).refusal


def answer(account: Account, body: dict[str, Any], *blocks: dict[str, Any]) -> dict[str, Any]:
    """What a client that keeps everything makes of the stream of an answer with one call."""
    call = {"name": "Read", "input": {"path": "a"}, "id": f"t{len(body['messages'])}"}
    reply = VendorReply(blocks=blocks, text="so", calls=(call,))
    return {"role": "assistant", "content": streamed(reply, body, account)}


def streamed(reply: VendorReply, body: dict[str, Any], account: Account) -> list[dict[str, Any]]:
    return received(events(reply, body, {"input_tokens": 1, "output_tokens": 1}, 1, account=account))


def result(body: dict[str, Any], text: str = "found") -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": f"t{len(body['messages'])}", "content": text}],
    }


def session(account: Account, steps: int = 3, **more: Any) -> dict[str, Any]:
    body = asked(**more)
    for _ in range(steps):
        reply = answer(account, body)
        body = {**body, "messages": [*body["messages"], reply, result(body)]}
    return body


def thinking(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for m in body["messages"] if isinstance(m["content"], list) for block in m["content"]
            if block["type"] in {"thinking", "redacted_thinking"}]  # fmt: skip


def test_what_is_sent_back_whole_is_taken() -> None:
    account = Account()
    body = session(account)
    assert len(thinking(body)) == 3
    assert judged(body, account) is None
    assert account.lost(body) == []


def edited(body: dict[str, Any], how: str) -> dict[str, Any]:
    body = copy.deepcopy(body)
    messages = body["messages"]
    match how:
        case "shorter result":
            messages[2]["content"][0]["content"] = "f"
        case "system":
            body["system"][0]["text"] = "Be long."
        case "tools":
            body["tools"] = [*TOOLS, {"name": "LS", "description": "d", "input_schema": {"type": "object"}}]
        case "a gap":
            messages[3]["content"] = messages[3]["content"][1:]
        case "spelling":
            messages[0]["content"] = [{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}]
        case "front":
            messages[1]["content"] = messages[1]["content"][1:]
        case _:
            raise AssertionError(how)
    return body


@pytest.mark.parametrize("how", ["shorter result", "system", "tools", "a gap"])
def test_an_edit_is_refused(how: str) -> None:
    account = Account()
    body = edited(session(account), how)
    assert BOUND in (judged(body, account) or "")
    assert account.judge(body | {"model": "claude-opus-5"}, {}).refusal is None  # which checks no prefix


@pytest.mark.parametrize("how", ["spelling", "front"])
def test_no_edit(how: str) -> None:
    account = Account()
    assert judged(edited(session(account), how), account) is None


THINK = {"type": "thinking", "thinking": "", "signature": "x"}
SAID = {"role": "system", "content": [{"type": "text", "text": "Be kind."}]}
DONE = {"role": "assistant", "content": "done"}
NEXT = {"role": "user", "content": "next"}


def marks(*spans: str, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": "t", "cache_control": {"type": "ephemeral", "ttl": one}} for one in spans]
    return {"messages": [{"role": "user", "content": blocks}], **more}


def marked(block: dict[str, Any]) -> dict[str, Any]:
    content = [{**block, "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "t"}]
    return {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}, NEXT]}


def talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "q"}, *messages], **more}


def on(model: str, **more: Any) -> dict[str, Any]:
    return {"model": model, **more}


EFFORT = {"output_config": {"effort": "max"}}
ROWS: list[tuple[str, dict[str, Any], tuple[str, ...], str | None]] = [
    ("_fields", {"history": []}, (), "history: Extra inputs are not permitted"),
    ("_fields", {"fallbacks": "default"}, (), "fallbacks: Extra inputs"),
    ("_fields", {"fallbacks": "default"}, (FALLBACK,), None),
    ("_fields", on("some-other-model", **talk(DONE, NEXT, SAID)), (), "Input should be 'user' or 'assistant'"),
    ("_fields", on("some-other-model", **marks("1h")), (), "ttl: Extra inputs"),
    ("_warming", {"max_tokens": 0}, (), "max_tokens: 0 is not supported with stream"),
    ("_kind", {"thinking": {"type": "enabled", "budget_tokens": 2000}}, (), '"thinking.type.enabled" is not supported'),
    ("_kind", on("claude-sonnet-4-5", thinking={"type": "adaptive"}), (), "adaptive thinking is not supported on this"),
    ("_thinking_fields", {"thinking": {"type": "adaptive", "budget_tokens": 2000}}, (), "Extra inputs are not"),
    ("_display", {"thinking": {"type": "adaptive", "display": "updates"}}, (), "thinking.display"),
    ("_display", {"thinking": {"type": "adaptive", "display": "updates"}}, (UPDATES,), None),
    ("_budget", on("claude-opus-4-6", thinking={"type": "enabled", "budget_tokens": 2000}), (), "must be greater than"),
    ("_effort", {**EFFORT, "thinking": {"type": "between_tools"}}, (), "not supported when thinking is disabled on"),
    ("_effort", on("claude-opus-4-6", output_config={"effort": "xhigh"}), (), "not support effort level 'xhigh'"),
    ("_effort", on("claude-haiku-4-5", **EFFORT), (), "does not support the effort parameter"),
    ("_end", talk({"role": "assistant", "content": [THINK]}, NEXT), (), "The final block in an assistant message cann"),
    ("_system_role", talk(SAID), (), None),
    ("_system_role", on("claude-sonnet-5", **talk(SAID)), (), "role 'system' is not supported on this model"),
    ("_system_role", talk(DONE, SAID, NEXT), (), "messages.2: role 'system' must follow a 'user' message"),
    ("_system_role", talk(SAID, NEXT), (), "must precede an 'assistant' message or end the array"),
    ("_marks", marks("5m", "1h"), (), "a ttl='1h' cache_control block must not come after a ttl='5m'"),
    ("_marks", marked(THINK), (), "messages.1.content.0.cache_control: Extra inputs"),
    ("_marks", marked({"type": "text", "text": " "}), (), "cannot be set for empty text blocks"),
]
"""A rule, a request, its betas, and what the refusal says; None: it is taken."""


@pytest.mark.parametrize(("rule", "more", "betas", "said"), ROWS)
def test_a_rule(rule: str, more: dict[str, Any], betas: tuple[str, ...], said: str | None) -> None:
    refusal = judged(asked() | more, Account(), *betas)
    assert refusal is None if said is None else said in (refusal or "")


def test_signatures_are_checked() -> None:
    account = Account()
    body = session(account, 1)
    forged = copy.deepcopy(body)
    forged["messages"][1]["content"][0]["signature"] = "Zm9v"
    assert judged(forged, account) == "messages.1.content.0: Invalid `signature` in `thinking` block."
    changed = copy.deepcopy(body)
    changed["messages"][1]["content"][0]["thinking"] = "other"
    assert "latest assistant message cannot be modified" in (judged(changed, account) or "")
