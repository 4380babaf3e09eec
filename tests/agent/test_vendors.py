"""What works with each vendor, tried out; `docs/models.md` has the same table (P-4 to P-6)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.media.images import Picture, image_of
from codelaw.domain.presets import PRESETS
from tests.agent.conftest import Bench, open_session
from tests.agent.test_control import quick  # noqa: F401 - a fixture
from tests.agent.test_every_wire import WIRES
from tests.domain.pictures import png
from tests.loopback.claude import Account
from tests.loopback.completion_rules import FLAVOURS
from tests.loopback.completions import CompletionsVendor
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply, fault
from tests.loopback.server import LoopbackVendor

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
COLUMNS = ("text", "tools", "in parallel", "thinking kept", "cache", "pictures", "too long", "429", "cut reply")
PICTURE = Picture(image_of(png(20, 20)), png(20, 20))
THOUGHT = "THOUGHTCANARY"
READS = [{"name": "Read", "input": {"path": path}} for path in ("a.py", "b.py")]


def vendor_of(provider: str) -> Any:
    match PRESETS[provider].wire:
        case "messages":
            return LoopbackVendor(account=Account() if provider == "anthropic" else None)
        case "responses":
            return ResponsesVendor(cached={"cached_tokens": 100, "cache_write_tokens": 50})
        case "completions":
            return CompletionsVendor(provider if provider in FLAVOURS else "openai")


async def tried(bench: Bench, too_long: str) -> list[str]:
    """What there was to see, by column."""

    def sent() -> str:
        return bench.vendor.messages[-1].body.decode()

    def thought(text: str, **more: Any) -> VendorReply:
        return VendorReply(text=text, thinking=THOUGHT, blocks=[{"type": "thinking", "thinking": THOUGHT}], **more)

    is_signed = isinstance(bench.vendor, LoopbackVendor) and bench.vendor.account is not None
    openai = isinstance(bench.vendor, ResponsesVendor)
    looking = thought("", calls=READS) if is_signed else VendorReply(thinking=THOUGHT, calls=READS)
    first = await bench.turn("compare", replies=[looking, bench.finish("They differ.")])
    body = sent()
    called = body.count("x = 0") + body.count("x = 1")
    kept = any(one in body for one in (THOUGHT, "thought_signature", '"signature"', '"encrypted_content"'))
    marked = "cache_control" in body or "prompt_cache_breakpoint" in body
    follow = await bench.turn("and this?", first.chat_id, attachments=[PICTURE], replies=[bench.finish("A square.")])
    seen = base64.b64encode(PICTURE.content).decode() in sent()
    limited = await bench.turn("again", first.chat_id, replies=[fault("429"), bench.finish("Now.")])
    halves = [VendorReply(text="One half", stop_reason="max_tokens"), VendorReply(text=" and another.")]
    cut = await bench.turn("on", first.chat_id, replies=halves)
    full = await bench.turn("go", replies=[fault("prompt_too_long", error_message=too_long, times=0)])
    told = full.error is not None and full.error.code == "context_overflow"
    assert openai or is_signed or not bench.vendor.refused or "Extra inputs" in str(bench.vendor.refused)
    return [
        "yes" if first.answer == "They differ." and follow.answer == "A square." else "no",
        "yes" if called else "no",
        "yes" if called == 2 else "no",
        "yes" if kept else "no" if _is_wanted(bench.vendor) else "not wanted",
        "marked" if marked else "its own",
        "yes" if seen else "in words",
        "told" if told else "no",
        "waited for" if limited.answer == "Now." and bench.kinds("retry") else "no",
        "goes on" if cut.answer == "One half and another." else "no",
    ]


def _is_wanted(vendor: Any) -> bool:
    """Whether the vendor takes thinking back."""
    if not isinstance(vendor, CompletionsVendor):
        return True
    how = vendor.flavour
    return (
        how.signed or how.thinks == "parts" or bool(how.said & {"reasoning", "reasoning_content", "reasoning_details"})
    )


@pytest.mark.parametrize("provider", PRESETS)
async def test_the_page_says_what_works_with_each_vendor(provider: str, tmp_path: Path, home: Path, quick: None):  # noqa: F811
    root = tmp_path / "work"
    root.mkdir()
    for number, path in enumerate(("a.py", "b.py")):
        (root / path).write_text(f"x = {number}\n")
    wire = {"messages": "messages", "responses": "responses"}.get(PRESETS[provider].wire, "gemini")
    async with vendor_of(provider) as vendor:
        bench = Bench("native", root, home, vendor, None, model=PRESETS[provider].model or "some-model")  # type: ignore[arg-type]
        bench.session = await open_session(bench, {"model": {"provider": provider}})
        row = await tried(bench, WIRES[wire][1])
        await bench.session.close()
    said = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{provider}` | yes"))
    assert said == f"| `{provider}` | {' | '.join(row)} |", json.dumps(vendor.refused)


def test_the_page_has_the_columns():
    assert f"| | {' | '.join(COLUMNS)} |" in PAGE.read_text()
