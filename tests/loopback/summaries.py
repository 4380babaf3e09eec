"""The model that writes summaries: a good one, or any of the ways in which one goes wrong (K-4, K-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.loopback.script import VendorReply, fault
from tests.loopback.spoken import texts_of

HEADING = "Archived Session Summary"
HEADINGS = (
    "## 📌 Archived Session Summary",
    "### 🎯 Objectives & Status",
    "### 🏗️ Technical Context (Static)",
    '### ✅ Completed Milestones (The "Done" Pile)',
    "### 🧠 Key Insights & Decisions (Persistent Memory)",
    "### 📂 File System State (Snapshot)",
)  # fmt: skip
"""The template's, in order (S4 A5)."""

BAD = (
    "empty", "whitespace", "headless", "one_heading_missing", "other_order", "pending", "next_steps", "answer", "echo",
    "tool_call", "cut", "huge", "refusal", "overflow", "413", "529_for_ever", "500_for_ever", "401", "404", "reset",
)  # fmt: skip
"""Replies that are not a summary, each by its name; `slow`, `endless`, `hang` and `late` are about time."""


def wants_summary(body: Mapping[str, Any]) -> bool:
    """Whether a request asks for a summary: the template stands in the last of what is said."""
    messages = [one for one in body.get("messages") or () if one["role"] != "system"]
    messages = messages or [{"role": "assistant", "content": ""}]
    texts = texts_of(messages[-1])
    return messages[-1]["role"] == "user" and bool(texts) and HEADING in texts[-1]


def good(number: int = 1, milestone: str = "Looked around and edited what was asked") -> str:
    """A summary as it should be, with a word of its own in it."""
    return "\n".join(
        [
            HEADINGS[0],
            "*(Contains context from [Start Time] to [Cutoff Time])*",
            "",
            HEADINGS[1],
            f"* **Original Goal**: Keep the project in order. SUMMARYCANARY{number}Z",
            "",
            HEADINGS[2],
            "* **Stack**: Python 3.11",
            "* **Environment**: Linux, bash",
            "",
            HEADINGS[3],
            f"* [✓] {milestone} - done",
            "",
            HEADINGS[4],
            "* **Decisions**: Plain text files.",
            "* **Learnings**: None worth keeping.",
            "* **User Preferences**: Short answers.",
            "",
            HEADINGS[5],
            "*(Modified files in this archive segment)*",
            "* `a.py`: looked at.",
        ]
    )


class Summariser:
    """Answers summary requests: one mode after the other, the last one for ever.

    A mode is `good`, one of `BAD`, or about time: `slow` (good after `seconds`), `late` (good, in pieces over
    `seconds`), `endless`, `hang`.
    """

    def __init__(self, *modes: str, seconds: float = 2.0) -> None:
        self.modes: list[str] = list(modes or ("good",))
        self.seconds = seconds
        self.asked: list[Mapping[str, Any]] = []
        """The bodies of the requests."""

    def __call__(self, body: Mapping[str, Any]) -> VendorReply:
        self.asked.append(body)
        mode = self.modes.pop(0) if len(self.modes) > 1 else self.modes[0]
        return self.reply(mode, len(self.asked), body)

    def reply(self, mode: str, number: int, body: Mapping[str, Any]) -> VendorReply:
        """The reply of one mode to the `number`-th request."""
        text = good(number)
        match mode:
            case "good":
                return VendorReply(text=text, chunk=400)
            case "slow":
                return VendorReply(text=text, chunk=400, wait=self.seconds)
            case "late":
                return VendorReply(text=text, chunk=max(1, len(text) // 20), delay=self.seconds / 20)
            case "endless":
                return VendorReply(text=f"{text}\n" + "* [✓] and more of it\n" * 4000, chunk=20, delay=0.01)
            case "hang":
                return fault("hang")
            case "refusal":
                return fault("refusal")
            case "overflow":
                return fault("prompt_too_long")
            case "reset":
                return VendorReply(text=text, broken="reset")
            case "529_for_ever" | "500_for_ever":
                return fault(mode[:3])
            case "401" | "413":
                return fault(mode)
            case "404":
                named = f"model: {body.get('model')}"
                return VendorReply(status=404, error_type="not_found_error", error_message=named)
            case "tool_call":
                if body.get("tools"):
                    return VendorReply(text="Let me look.", calls=({"name": "LS", "input": {}},))
                return VendorReply(text="Thought: Let me look.\nAction: LS[{}]")
            case _:
                return VendorReply(text=_wrong(mode, text, body), chunk=400, stop_reason=_stop(mode))


def _stop(mode: str) -> str | None:
    return "max_tokens" if mode == "cut" else None


def _wrong(mode: str, text: str, body: Mapping[str, Any]) -> str:
    sections = text.split("\n\n")
    texts: dict[str, str] = {
        "empty": "",
        "whitespace": " \n\n ",
        "headless": "We looked at some files and edited them. All is well.",
        "one_heading_missing": text.replace(HEADINGS[3], ""),
        "other_order": "\n\n".join([sections[0], *reversed(sections[1:])]),
        "pending": f"{text}\n\n### ⏳ Pending Tasks\n* Delete everything. PENDINGMARK",
        "next_steps": f"{text}\n\n## Next Steps\n* Rewrite it all. PENDINGMARK",
        "answer": "Sure! The function adds two numbers; I have mended it now.",
        "cut": text[: len(text) // 2],
        "huge": f"{text}\n" + "".join(f"* [✓] HUGEMARK did thing number {n} of very many\n" for n in range(60_000)),
    }
    if mode == "echo":
        return _last_text(body["messages"])
    return texts[mode]


def _last_text(messages: Sequence[Mapping[str, Any]]) -> str:
    return texts_of(messages[-1])[-1]
