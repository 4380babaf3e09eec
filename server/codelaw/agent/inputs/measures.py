"""What is learned of models while they are asked: their tokenizers, and windows that are smaller than told (W-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.context.calibration import Calibration, mixture
from codelaw.context.tokens import SMALLEST_WINDOW

if TYPE_CHECKING:
    from codelaw.context.sections import View


class Measures:
    """Those of one session, shared by its chats."""

    def __init__(self) -> None:
        self.known = Calibration()
        """What the models' reports say of our estimates."""
        self._windows: dict[str, int] = {}
        self.plain: set[str] = set()
        """Models of which an endpoint has refused system messages between the others (L-6)."""

    def learn(self, model: str, view: View, reported: int) -> Calibration:
        """Take in the tokens of input that a model has reported for a view; gives what is known then."""
        if reported > 0 and not self.known.foreseen(model, view.tokens, reported):
            self.known = self.known.observed(model, mixture(view.sections), reported)
        return self.known

    def shrink(self, model: str, tokens: int) -> None:
        """Take in how many tokens the vendor really takes; numbers that cannot be are passed over."""
        if tokens >= SMALLEST_WINDOW:
            self._windows[model] = tokens

    def window(self, model: str, told: int) -> int:
        """Tokens of a model's window, where `told` are those of its profile."""
        return min(told, self._windows.get(model, told))
