"""A strict vendor of Responses on loopback: what it refuses, which reasoning it takes back, and how it streams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from tests.loopback.script import Event, VendorReply
from tests.loopback.scripted import Asked, Refusal, ScriptedVendor

_FIELDS = {
    "model", "input", "max_output_tokens", "stream", "store", "prompt_cache_key", "prompt_cache_options", "reasoning",
    "include", "tools", "temperature", "top_p", "text", "parallel_tool_calls",
}  # fmt: skip
_TEXT = {"type", "text", "prompt_cache_breakpoint"}
_PARTS = {
    "input_text": _TEXT,
    "output_text": {"type", "text", "annotations", "logprobs"},
    "input_image": {"type", "image_url", "detail", "prompt_cache_breakpoint"},
}
_ITEMS = {
    "message": {"type", "id", "role", "content", "phase", "status"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
}
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_LEAST = {"gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna"}
"""Those that take `none` as well."""
MOST_MARKS = 4


class ResponsesVendor(ScriptedVendor[VendorReply]):
    """Answers `/v1/responses` by its script; reasoning counts for one model, one account and one prefix (P-5)."""

    path = "/v1/responses"

    def __init__(
        self, *replies: VendorReply, account: str = "a", newer: bool = True, cached: Mapping[str, int] | None = None
    ) -> None:
        """`newer`: it knows breakpoints; `cached`: the `cached_tokens` and `cache_write_tokens` that it reports."""
        super().__init__(*replies)
        self._account, self._newer, self._cached = account, newer, cached or {}

    def judge(self, asked: Asked) -> Refusal | None:
        return malformed(asked.json, newer=self._newer) or self._unread(asked.json, asked)

    def error(self, refusal: Refusal) -> Any:
        status, message, code = refusal
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def error_row(self, reply: VendorReply) -> bytes:
        error = {"code": reply.error_type, "message": reply.error_message, "param": None}
        return _row("error", {"type": "error", **error}, 0)

    def is_text(self, row: bytes) -> bool:
        return b"text.delta" in row.partition(b"\n")[0]

    def rows(self, asked: Asked, reply: VendorReply) -> list[bytes]:
        events = self.events(asked, reply, len(self.requests))
        return [_row(name, data, place) for place, (name, data) in enumerate(events)]

    def sealed(self, model: str, items: Sequence[Any]) -> str:
        """The encrypted content of reasoning behind these items."""
        before = json.dumps([_bare(item) for item in items], sort_keys=True)
        return self._signed(".".join(_digest(text)[:16] for text in (model, before)))

    def _signed(self, content: str) -> str:
        return f"{content}.{_digest(f'{content}|{self._account}')}"

    def _unread(self, body: Mapping[str, Any], asked: Asked) -> Refusal | None:
        """Reasoning that was altered is refused; another model's, or what stands behind something else, is left out."""
        for place, item in enumerate(body["input"]):
            if item["type"] != "reasoning":
                continue
            sealed = item.get("encrypted_content")
            if not sealed:
                why = "Items are not persisted when `store` is set to false."
                return 404, f"Item with id '{item['id']}' not found. {why}", None
            if sealed != self._signed(sealed.rpartition(".")[0]):
                message = f"The encrypted content for item {item['id']} could not be verified."
                return 400, message, "invalid_encrypted_content"
            if sealed != self.sealed(body["model"], body["input"][:place]):
                asked.removed.append(item["id"])
        return None

    def events(self, asked: Asked, reply: VendorReply, number: int) -> Iterator[Event]:
        """Reasoning, then notes, then text, then calls, as the vendor streams them."""
        body = asked.json
        response = {
            "id": f"resp_{number:04}", "object": "response", "created_at": 1, "model": body["model"], "output": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
            "instructions": None, "metadata": {}, "temperature": None, "top_p": None, "status": "in_progress",
        }  # fmt: skip
        yield "response.created", {"type": "response.created", "response": response}
        output: list[dict[str, Any]] = []
        for item in _items(reply, number):
            if item["type"] == "reasoning":
                asks = "reasoning.encrypted_content" in body.get("include", ())
                item["encrypted_content"] = self.sealed(body["model"], [*body["input"], *output]) if asks else None
            yield from _item_events(item, len(output), reply.chunk)
            output.append(item)
        cached = {"cached_tokens": 0, "cache_write_tokens": 0} | dict(self._cached)
        usage = {
            "input_tokens": len(asked.body) // 4 + sum(cached.values()), "input_tokens_details": cached,
            "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 16}, "total_tokens": 1,
        }  # fmt: skip
        removed = [{"id": one, "action": "removed", "reason": "prefix_changed"} for one in asked.removed]
        response = {**response, "output": output, "usage": usage, "input_transformations": removed or None}
        match reply.stop_reason:
            case "max_tokens" | "refusal":
                why = "max_output_tokens" if reply.stop_reason == "max_tokens" else "content_filter"
                end = {**response, "status": "incomplete", "incomplete_details": {"reason": why}}
                yield "response.incomplete", {"type": "response.incomplete", "response": end}
            case "failed":
                error = {"code": reply.error_type, "message": reply.error_message}
                end = {**response, "status": "failed", "error": error}
                yield "response.failed", {"type": "response.failed", "response": end}
            case _:
                yield (
                    "response.completed",
                    {"type": "response.completed", "response": {**response, "status": "completed"}},
                )


def _items(reply: VendorReply, number: int) -> Iterator[dict[str, Any]]:
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    for place, block in enumerate(reply.blocks):
        yield _message(f"msg_{number}_{place}", str(block["text"]), "commentary")
    if reply.text:
        yield _message(f"msg_{number}", reply.text, "final_answer" if not reply.calls else None)
    for place, call in enumerate(reply.calls):
        arguments = call["json"] if "json" in call else json.dumps(call["input"])
        name = call.get("id", f"call_{number}_{place}")
        yield {
            "type": "function_call", "id": f"fc_{number}_{place}", "call_id": name, "name": call["name"],
            "arguments": arguments, "status": "completed",
        }  # fmt: skip


def _message(name: str, text: str, phase: str | None) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {
        "type": "message",
        "id": name,
        "role": "assistant",
        "status": "completed",
        "content": content,
        "phase": phase,
    }


def _item_events(item: Mapping[str, Any], index: int, chunk: int) -> Iterator[Event]:
    at: dict[str, Any] = {"output_index": index, "item_id": item["id"]}
    empty: Mapping[str, Any] = {
        "reasoning": {"summary": []},
        "message": {"content": []},
        "function_call": {"arguments": ""},
    }
    yield _event("response.output_item.added", output_index=index, item={**item, **empty[item["type"]]})
    match item["type"]:
        case "reasoning":
            for piece in _pieces(item["summary"][0]["text"], chunk):
                yield _event("response.reasoning_summary_text.delta", **at, summary_index=0, delta=piece)
        case "message":
            for piece in _pieces(item["content"][0]["text"], chunk):
                yield _event("response.output_text.delta", **at, content_index=0, delta=piece, logprobs=[])
        case _:
            for piece in _pieces(item["arguments"], chunk):
                yield _event("response.function_call_arguments.delta", **at, delta=piece)
    yield _event("response.output_item.done", output_index=index, item=item)


def _event(kind: str, **fields: Any) -> Event:
    return kind, {"type": kind, **fields}


def _pieces(text: str, chunk: int) -> Iterator[str]:
    return (text[place : place + chunk] for place in range(0, len(text), chunk))


def _bare(item: Mapping[str, Any]) -> Any:
    """An item as the prefix has it: without ids of output items, marks, and other spellings of the same."""
    if item["type"] == "message":
        said = [(part.get("text"), part.get("image_url")) for part in item["content"]]
        return [item["role"], item.get("phase"), said]
    if item["type"] == "function_call_output" and isinstance(item["output"], list):
        output = [{name: part[name] for name in part.keys() - {"prompt_cache_breakpoint"}} for part in item["output"]]
        return [item["call_id"], output]
    return {name: value for name, value in item.items() if name not in {"id", "status"}}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _row(name: str, data: Mapping[str, Any], place: int) -> bytes:
    return f"event: {name}\ndata: {json.dumps({**data, 'sequence_number': place})}\n\n".encode()


def malformed(body: Mapping[str, Any], *, newer: bool = True) -> Refusal | None:
    """What the vendor says of a request that it does not take; None where it takes it."""

    def refused(message: str) -> Refusal:
        return 400, message, None

    for name in body.keys() - _FIELDS:
        return refused(f"Unknown parameter: '{name}'.")
    if not newer and "prompt_cache_breakpoint" in json.dumps(body):
        return refused("Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.")
    if body.get("store") is not False or not body.get("stream"):
        return refused("This fake wants `store` false and `stream` true.")
    if not isinstance(most := body.get("max_output_tokens"), int) or most < 16:
        return refused("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.")
    effort = body.get("reasoning", {}).get("effort")
    if effort not in {None, *_EFFORTS, *(["none"] if body["model"] in _LEAST else [])}:
        return refused(f"Unsupported value: '{effort}' is not supported with the '{body['model']}' model.")
    if "temperature" in body or "top_p" in body:
        return refused("Unsupported parameter: 'temperature' is not supported with this model.")
    explicit = body.get("prompt_cache_options", {}).get("mode") == "explicit"
    if explicit != ("prompt_cache_breakpoint" in json.dumps(body["input"])):
        return refused(
            "This fake wants `prompt_cache_options.mode` explicit where there are breakpoints, and only there."
        )
    for tool in body.get("tools", ()):
        if tool.keys() != {"type", "name", "description", "parameters", "strict"} or tool["type"] != "function":
            return refused("Invalid value for 'tools'.")
        parameters = tool["parameters"]
        whole = {*parameters.get("properties", {})} == {*parameters.get("required", ())}
        if tool["strict"] and not (whole and parameters.get("additionalProperties") is False):
            return refused(f"Invalid schema for function '{tool['name']}'.")
    return next((refused(message) for message in _faults(body["input"])), None)


def _faults(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    calls: dict[str, bool] = {}
    marks = 0
    for place, item in enumerate(items):
        kind = item.get("type", "")
        for name in item.keys() - _ITEMS.get(kind, set()):
            yield f"Unknown parameter: 'input[{place}].{name}'."
        if kind == "message":
            for part in item["content"]:
                wanted = "output_text" if item["role"] == "assistant" else "input_"
                if not part["type"].startswith(wanted) or part.keys() - _PARTS[part["type"]]:
                    yield f"Invalid value: '{part['type']}' in 'input[{place}].content'."
                marks += "prompt_cache_breakpoint" in part
        if kind == "function_call":
            calls[item["call_id"]] = False
            json.loads(item["arguments"])
        if kind == "function_call_output":
            if item["call_id"] not in calls:
                yield f"No tool call found for function call output with call_id {item['call_id']}."
            calls[item["call_id"]] = True
            marks += json.dumps(item["output"]).count('"prompt_cache_breakpoint"')
    for name, answered in calls.items():
        if not answered:
            yield f"No tool output found for function call {name}."
    if marks > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} prompt cache breakpoints may be written. Found {marks}."
