"""The rules of today's models, one row each: what is taken, what is refused and in which words, what is forgotten."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.loopback.claude import BINDING, BOUND, PREFILL, UPDATES, Account
from tests.loopback.script import VendorReply, events

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
    made: dict[int, dict[str, Any]] = {}
    usage = {"input_tokens": 1, "output_tokens": 1}
    for name, event in events(reply, body, usage, 1, account=account):
        if name == "content_block_start":
            made[event["index"]] = dict(event["content_block"])
        elif name == "content_block_delta":
            delta = event["delta"]
            field = {"thinking_delta": "thinking", "signature_delta": "signature", "text_delta": "text"}
            if delta["type"] in field:
                part = field[delta["type"]]
                made[event["index"]][part] += delta[part]
    content = [made[place] for place in sorted(made)]
    content[-1]["input"] = call["input"]
    return {"role": "assistant", "content": content}


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


def test_thinking_without_text_is_the_default_and_updates_show_notes_alone() -> None:
    account = Account()
    plain, note = {"type": "thinking", "thinking": "hm"}, {"type": "thinking", "thinking": "I look.", "note": True}
    told = asked(thinking={"type": "adaptive", "display": "updates"})
    assert [one["thinking"] for one in thinking({"messages": [answer(account, asked(), plain, note)]})] == ["", ""]
    assert [one["thinking"] for one in thinking({"messages": [answer(account, told, plain, note)]})] == ["", "I look."]


def edited(body: dict[str, Any], how: str) -> dict[str, Any]:
    body = copy.deepcopy(body)
    messages = body["messages"]
    match how:
        case "shorter result":
            messages[2]["content"][0]["content"] = "f"
        case "other input":
            messages[1]["content"][-1]["input"] = {"path": "b"}
        case "system":
            body["system"][0]["text"] = "Be long."
        case "tools":
            body["tools"] = [*TOOLS, {"name": "LS", "description": "d", "input_schema": {"type": "object"}}]
        case "text added to an earlier turn":
            messages[0]["content"] = "q, please"
        case "a gap":
            messages[3]["content"] = messages[3]["content"][1:]
        case "spelling":
            messages[0]["content"] = [{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}]
        case "front":
            messages[1]["content"] = messages[1]["content"][1:]
        case "all":
            for message in messages[1::2]:
                message["content"] = message["content"][1:]
        case "end":
            messages[5]["content"] = messages[5]["content"][1:]
        case _:
            raise AssertionError(how)
    return body


@pytest.mark.parametrize("how", ["shorter result", "other input", "system", "tools", "text added to an earlier turn"])
def test_an_edit_is_refused_or_costs_the_thinking_behind_it(how: str) -> None:
    account = Account()
    body = edited(session(account), how)
    assert BOUND in (judged(body, account) or "")
    drops = {**body, "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
    done = account.judge(drops, {"anthropic-beta": BINDING})
    assert done.refusal is None
    assert {one["reason"] for one in done.transformed} == {"prefix_binding_mismatch"}
    assert account.judge(body | {"model": "claude-opus-5"}, {}).refusal is None  # which checks no prefix


@pytest.mark.parametrize("how", ["spelling", "front", "all", "end"])
def test_no_edit(how: str) -> None:
    account = Account()
    assert judged(edited(session(account), how), account) is None


def test_a_gap_in_the_chain_is_one_and_so_is_thinking_that_comes_back() -> None:
    account = Account()
    body = session(account)
    assert BOUND in (judged(edited(body, "a gap"), account) or "")
    bare = edited(body, "all")
    later = {**bare, "messages": [*bare["messages"], answer(account, bare), result(bare)]}
    assert judged(later, account) is None
    back = {**later, "messages": [*body["messages"], *later["messages"][-2:]]}
    assert BOUND in (judged(back, account) or "")


def test_what_could_have_come_back_and_does_not_is_known() -> None:
    account = Account()
    assert account.lost(edited(session(account), "front")) == ["messages.1"]


@pytest.mark.parametrize(
    ("more", "betas", "said"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, (), '"thinking.type.enabled" is not supported'),
        ({"thinking": {"type": "disabled"}}, (), '"thinking.type.disabled" is not supported'),
        ({"model": "claude-sonnet-4-5", "thinking": {"type": "adaptive"}}, (), "adaptive thinking is not supported"),
        ({"thinking": {"type": "between_tools", "display": "omitted"}}, (), "Extra inputs are not permitted"),
        ({"thinking": {"type": "adaptive", "display": "updates"}}, (), "thinking.display"),
        ({"thinking": {"type": "adaptive", "display": "updates"}}, (UPDATES,), None),
        ({"thinking": {"type": "adaptive", "block_binding": {}}}, (), "block_binding: Extra inputs"),
        ({"output_config": {"effort": "max"}}, (), None),
        ({"output_config": {"effort": "max"}, "thinking": {"type": "between_tools"}}, (), "thinking is disabled"),
        ({"model": "claude-opus-4-6", "output_config": {"effort": "xhigh"}}, (), "not supported for this model"),
        ({"tool_choice": {"type": "any"}}, (), 'type "tool" and "any" are not supported'),
        ({"model": "claude-opus-5", "tool_choice": {"type": "any"}}, (), None),
        ({"max_tokens": 128_001}, (), "maximum allowed number of output tokens"),
        ({"model": "some-other-model", "output_config": {"effort": "low"}}, (), "output_config: Extra inputs"),
    ],
)
def test_parameters(more: dict[str, Any], betas: tuple[str, ...], said: str | None) -> None:
    refusal = judged(asked(**more), Account(), *betas)
    assert refusal is None if said is None else said in (refusal or "")


def test_the_end_of_a_conversation() -> None:
    body = asked({"role": "assistant", "content": "I begin"})
    assert judged(body, Account()) == PREFILL
    assert judged(body | {"model": "claude-sonnet-4-5"}, Account()) is None


def test_marks_of_the_cache() -> None:
    def marked(*spans: str) -> dict[str, Any]:
        blocks = [{"type": "text", "text": "t", "cache_control": {"type": "ephemeral", "ttl": one}} for one in spans]
        return asked(messages=[{"role": "user", "content": blocks}])

    assert judged(marked("1h", "5m"), Account()) is None
    assert "must not come after" in (judged(marked("5m", "1h"), Account()) or "")
    assert "'5m' or '1h'" in (judged(marked("2h"), Account()) or "")
    assert "Found 5" in (judged(marked(*["5m"] * 5), Account()) or "")


def test_signatures_are_checked() -> None:
    account = Account()
    body = session(account, 1)
    forged = copy.deepcopy(body)
    forged["messages"][1]["content"][0]["signature"] = "Zm9v"
    assert judged(forged, account) == "messages.1.content.0: Invalid `signature` in `thinking` block."
    changed = copy.deepcopy(body)
    changed["messages"][1]["content"][0]["thinking"] = "other"
    assert "latest assistant message cannot be modified" in (judged(changed, account) or "")


def test_who_reads_whose_thinking() -> None:
    account = Account()
    body = session(account, 1)
    dropped = account.judge(body | {"model": "claude-haiku-5-5"}, {}).transformed
    assert [one["reason"] for one in dropped] == ["model_binding_mismatch"]
    assert account.judge(body | {"model": "claude-opus-5-5"}, {}).transformed == ()
    others = Account("org-2").judge(body, {}).transformed
    assert [one["reason"] for one in others] == ["organization_binding_mismatch"]
