"""Encoders of local models in float32, with numpy and nothing else: static ones (model2vec) and BERT (B-5).

This module imports numpy: it is itself only imported where a local model is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from codelaw.adapters.embedders.folder import ModelFolder, wrong_shape

if TYPE_CHECKING:
    from codelaw.adapters.embedders.folder import Weights

Matrix = NDArray[np.float32]
Pair = tuple[Matrix, Matrix]


class StaticEncoder:
    """Token ids → one vector each."""

    def __init__(self, folder: ModelFolder, weights: Weights) -> None:
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
    """Tokens of one pass, padding included: about a tenth of a second, and nobody waits longer for his turn."""

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


_MASKED = np.float32(-1e9)
_ROWS = 64
"""Rows of the widest layer that are worked on at once, so that they stay in the processor's cache."""


class _Layer(NamedTuple):
    """One block of the encoder, each part with its bias; matrices stand input × output."""

    attend: Pair
    """Queries, keys and values side by side; the queries are scaled already."""
    project: Pair
    first_norm: Pair
    widen: Pair
    narrow: Pair
    second_norm: Pair


class BertEncoder:
    """Token ids → one vector each."""

    def __init__(self, folder: ModelFolder, weights: Weights) -> None:
        named = {name.removeprefix("bert."): tensor for name, tensor in weights.items()}
        config = folder.config
        self._pooling = folder.pooling
        self._epsilon = np.float32(config.get("layer_norm_eps", 1e-12))
        try:
            self._words = named["embeddings.word_embeddings.weight"]
            self._heads = int(config["num_attention_heads"])
            layers = int(config["num_hidden_layers"])
            first = named["embeddings.token_type_embeddings.weight"][0]
            self._places = named["embeddings.position_embeddings.weight"] + first
            self._norm = _norm(named, "embeddings.LayerNorm")
            width = self._words.shape[1]
            if width % self._heads or self._places.shape[1] != width:
                raise wrong_shape(f"{width} numbers a token for {self._heads} heads")
            self._layers = [_layer(named, number, width // self._heads) for number in range(layers)]
        except KeyError as error:
            raise wrong_shape(f"{error.args[0]} is missing") from error
        except (ValueError, TypeError, IndexError) as error:
            raise wrong_shape(str(error)[:200]) from error
        self._width = width
        self.length = min(folder.length, self._places.shape[0])

    at_once = 256

    @property
    def dimension(self) -> int:
        return self._width

    def encode(self, texts: Sequence[Sequence[int]], stopped: Callable[[], bool] = lambda: False) -> Matrix | None:
        """A row of length 1 for each text; None when `stopped` says so in between. Texts of like length go together."""
        longest = max(len(text) for text in texts)
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros((len(texts), longest), np.float32)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = np.minimum(np.asarray(text, np.int64), self._words.shape[0] - 1)
            mask[row, : len(text)] = 1
        state = (self._words[ids] + self._places[:longest]).reshape(-1, self._width)
        self._normalise(state, self._norm)
        # Padding is only told apart where there is some.
        hidden = None if mask.all() else ((1 - mask) * _MASKED)[:, None, None, :]
        for layer in self._layers:
            if stopped():
                return None
            state = self._block(layer, state, len(texts), longest, hidden)
        state = state.reshape(len(texts), longest, self._width)
        if self._pooling == "cls":
            pooled = np.ascontiguousarray(state[:, 0])
        else:
            pooled = np.einsum("btw,bt->bw", state, mask) / mask.sum(1, keepdims=True)
        return pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)

    def _block(self, layer: _Layer, state: Matrix, texts: int, longest: int, hidden: Matrix | None) -> Matrix:
        mixed = _through(state, layer.attend)
        # texts, three, heads, tokens, numbers
        split = mixed.reshape(texts, longest, 3, self._heads, -1).transpose(0, 2, 3, 1, 4)
        scores: Matrix = np.matmul(split[:, 0], split[:, 1].transpose(0, 1, 3, 2))
        if hidden is not None:
            scores += hidden
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = np.matmul(scores, split[:, 2]).transpose(0, 2, 1, 3).reshape(-1, self._width)
        attended = _through(seen, layer.project)
        attended += state
        self._normalise(attended, layer.first_norm)
        wide = _through(attended, layer.widen)
        for start in range(0, len(wide), _ROWS):
            gelu(wide[start : start + _ROWS])
        out = _through(wide, layer.narrow)
        out += attended
        self._normalise(out, layer.second_norm)
        return out

    def _normalise(self, state: Matrix, norm: Pair) -> None:
        """To mean 0 and variance 1, row by row and in place, then scaled and shifted."""
        state -= state.mean(axis=-1, keepdims=True)
        variance = np.einsum("rw,rw->r", state, state)[:, None] / np.float32(self._width)
        state /= np.sqrt(variance + self._epsilon)
        state *= norm[0]
        state += norm[1]


def gelu(values: Matrix) -> None:
    """`x · Φ(x)` in place; the error function by Abramowitz and Stegun 7.1.26, wrong by less than 1.5e-7."""
    size = np.abs(values)
    size *= np.float32(0.7071067811865476)
    step = size * np.float32(0.3275911)
    step += np.float32(1)
    np.reciprocal(step, out=step)
    rest = step * np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        rest += np.float32(factor)
        rest *= step
    np.multiply(size, size, out=size)
    np.negative(size, out=size)
    np.exp(size, out=size)
    rest *= size
    # 1 - erf(|x|) is known now: x·Φ(x) is x - x·rest/2 above zero and x·rest/2 below.
    rest *= np.float32(0.5)
    rest *= values
    np.maximum(values, 0, out=values)
    values -= np.abs(rest)


def _through(state: Matrix, linear: Pair) -> Matrix:
    out = state @ linear[0]
    out += linear[1]
    return out


def _layer(named: Mapping[str, Matrix], number: int, head: int) -> _Layer:
    at = f"encoder.layer.{number}."
    query, *others = (_linear(named, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
    scale = np.float32(1 / np.sqrt(head))
    weights, biases = zip((query[0] * scale, query[1] * scale), *others, strict=True)
    return _Layer(
        attend=(np.ascontiguousarray(np.concatenate(weights, axis=1)), np.concatenate(biases)),
        project=_linear(named, f"{at}attention.output.dense"),
        first_norm=_norm(named, f"{at}attention.output.LayerNorm"),
        widen=_linear(named, f"{at}intermediate.dense"),
        narrow=_linear(named, f"{at}output.dense"),
        second_norm=_norm(named, f"{at}output.LayerNorm"),
    )


def _linear(named: Mapping[str, Any], name: str) -> Pair:
    weight, bias = named[f"{name}.weight"], named[f"{name}.bias"]
    if weight.ndim != 2 or bias.shape != weight.shape[:1]:
        raise wrong_shape(f"{name} is {weight.shape} and {bias.shape}")
    return weight.T, bias


def _norm(named: Mapping[str, Matrix], name: str) -> Pair:
    return named[f"{name}.weight"], named[f"{name}.bias"]
