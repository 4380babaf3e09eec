"""How a model is told to think: by its profile, the dialect, and the effort that somebody has chosen (P-6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codelaw.domain.chats import Dialect
from codelaw.domain.models import Display, Effort, ModelProfile, ModelRequest, Thinking

_DEEP: frozenset[Effort | None] = frozenset({"xhigh", "max"})
"""Efforts with which thinking is not switched off: models refuse both together, and nobody wants them."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a request says of thinking; where it says nothing, the model's own default holds."""

    thinking: Thinking | None = None
    display: Display | None = None
    effort: Effort | None = None
    thinks: bool = False
    """Whether the model thinks then, which counts in its output (W-7)."""

    def on(self, request: ModelRequest, room: int = 0) -> ModelRequest:
        """The request with it; where the model thinks then, its reply may have `room` tokens at least."""
        most = max(request.max_tokens, room) if self.thinks else request.max_tokens
        return replace(request, thinking=self.thinking, display=self.display, effort=self.effort, max_tokens=most)


def manner(profile: ModelProfile | None, dialect: Dialect, effort: Effort | None) -> Manner:
    """What is said to a model with that profile; `effort` is what was chosen, None is the vendor's.

    In the native dialect thinking goes back with the step it belongs to: a model that thinks adaptively does, and shows
    notes on its progress, or else a summary.

    In the text dialect it cannot go back, so that every step would pay for it anew. There thoughts are written, and
    what is written stays: a model thinks only where it does so unasked, and is told not to where that can be said. But
    one that may refuse to write its reasoning down has no other place for it: that one goes on thinking.

    An effort that is the model's own default is not said, which is the same to the vendor and to its cache. What a
    profile does not take is left out: whoever takes it from a person refuses it before (`app.efforts`).
    """
    if profile is None:
        return Manner(effort=effort)
    said = effort if effort in profile.efforts and effort != profile.effort else None
    off = _off(profile)
    unasked = profile.thinks in {"unasked", "always"}
    if dialect == "react":
        if off and profile.thinks == "unasked" and not profile.refuses_reasoning and said not in _DEEP:
            return Manner(off, effort=said)
        if not unasked:
            return Manner(effort=said)
    if "adaptive" not in profile.thinking:
        return Manner(effort=said, thinks=unasked)
    return Manner("adaptive", _display(profile), said, thinks=True)


def _off(profile: ModelProfile) -> Thinking | None:
    """How it is told not to think; without tools one that thinks between their calls alone does not."""
    if "between_tools" in profile.thinking:
        return "between_tools"
    return "disabled" if "disabled" in profile.thinking else None


def _display(profile: ModelProfile) -> Display | None:
    """What a person who waits wants to see of it: notes on the progress, else a summary."""
    if "updates" in profile.displays:
        return "updates"
    return "summarized" if "summarized" in profile.displays else None
