"""Static models (model2vec): a vector for each token, and a text is their weighted mean (B-5).

This module imports numpy: it is itself only imported where a local model is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codelaw.adapters.embedders.folder import Folder, wrong_shape

if TYPE_CHECKING:
    from codelaw.adapters.embedders.folder import Weights

Matrix = NDArray[np.float32]


class StaticEncoder:
    """Token ids → one vector each."""

    def __init__(self, folder: Folder, weights: Weights) -> None:
        rows = weights.get("embeddings", weights.get("embedding.weight"))
        if rows is None or rows.ndim != 2:
            raise wrong_shape("a matrix `embeddings` is expected")
        self._rows = rows
        self._mapping = weights["mapping"].astype(np.int64) if "mapping" in weights else None
        self._weights = weights.get("weights")
        tokens = len(rows) if self._mapping is None else len(self._mapping)
        if self._mapping is not None and (self._mapping.min() < 0 or self._mapping.max() >= len(rows)):
            raise wrong_shape("`mapping` leads out of `embeddings`")
        if self._weights is not None and self._weights.shape != (tokens,):
            raise wrong_shape(f"there are {tokens} tokens and weights of shape {self._weights.shape}")
        self._tokens = tokens
        self.length = folder.length

    at_once = 16384

    @property
    def dimension(self) -> int:
        return self._rows.shape[1]

    def encode(self, texts: Sequence[Sequence[int]], stopped: Callable[[], bool] = lambda: False) -> Matrix | None:
        """A row of length 1 for each text, zeros where no token is known; None when `stopped` says so in between."""
        means = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if stopped():
                return None
            ids = np.asarray([token for token in text if token < self._tokens], np.int64)
            if not len(ids):
                continue
            found = self._rows[ids if self._mapping is None else self._mapping[ids]]
            means[row] = (found if self._weights is None else found * self._weights[ids, None]).mean(0)
        return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
