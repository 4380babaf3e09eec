"""What a search knows of files beside their text (X-5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Hints:
    """By path."""

    said: Mapping[str, float] = field(default_factory=dict[str, float])
    """What commits say of files (`history.told`)."""
    near: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict[str, npt.NDArray[np.float32]])
    """What each of their chunks is worth by its vector, 0 to 1 (`nearness.nearest`)."""


NONE = Hints()
