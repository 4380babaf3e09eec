"""A model in a folder on this disk, run here; nothing is ever downloaded (B-5)."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from codelaw.adapters.embedders.folder import ModelFolder, load_tokenizer, load_weights, look_into
from codelaw.adapters.embedders.hashing import arbitrary
from codelaw.domain.errors import EmbeddingFailure
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from codelaw.adapters.embedders.encoders import BertEncoder, StaticEncoder

_log = logging.getLogger(__name__)
T = TypeVar("T")
_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)
CHARACTERS_A_TOKEN = 24
"""Characters of a text that are looked at for each token that the model takes; a tokenizer holds Python's lock."""


@dataclass(frozen=True, slots=True)
class _Model:
    folder: ModelFolder
    tokenizer: Tokenizer
    encoder: BertEncoder | StaticEncoder
    unknown: int | None
    """The token of what a static model does not know."""

    def tokens(self, text: str) -> list[int]:
        """The ids that the model is given, cut where it takes no more."""
        text = text[: self.encoder.length * CHARACTERS_A_TOKEN].encode("utf-8", "replace").decode()
        if self.folder.lower:
            text = text.lower()
        # One by one: the tokenizer's own threads would stay behind, and complain about forks.
        if self.folder.kind == "bert":
            return self.tokenizer.encode(text).ids
        found = self.tokenizer.encode(text, add_special_tokens=False).ids
        return [token for token in found if token != self.unknown]


class LocalEmbedder:
    """An `Embedder` on a sentence-transformers folder with a BERT, or on a static (model2vec) one.

    It works in one thread of its own, pass by pass, so that a question waits for one pass of a long list at most. The
    model is loaded at the first use. `dimension` is only checked.
    """

    def __init__(self, path: Path | None, *, model: str | None = None, dimension: int | None = None) -> None:
        self._path = None if path is None else Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - it never raises
        self._name = model or (path.name if path is not None else "")
        self._wanted = dimension
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="codelaw-embedder")
        self._closed = threading.Event()
        self._loaded: _Model | None = None

    @property
    def name(self) -> str:
        return f"local/{self._name}"

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text (see `Embedder`). When the caller is cancelled, the thread stops after one layer.

        Raises:
            EmbeddingFailure: lasting; no such model, or none that can be run here.
        """
        if not texts:
            return []
        if self._path is None:
            message = "The embedding provider `local` has no model: set embedding.path to the folder of one."
            raise EmbeddingFailure(message, lasting=True)
        path = self._path
        given_up = threading.Event()
        try:
            model, tokens = await self._in_thread(lambda: self._prepared(path, texts, given_up.is_set))
            vectors: dict[int, Vector] = {}
            for batch in batches([len(one) for one in tokens], model.encoder.at_once):
                chosen = [tokens[place] for place in batch]
                made = await self._in_thread(lambda chosen=chosen: self._pass(model, chosen, given_up.is_set))
                vectors.update(zip(batch, made, strict=True))
        finally:
            given_up.set()
        return [vectors[place] or arbitrary(text, model.encoder.dimension) for place, text in enumerate(texts)]

    async def close(self) -> None:
        """Stop after the layer at hand, and give the model's memory back."""
        self._closed.set()
        self._thread.shutdown(wait=False)
        self._loaded = None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._closed.is_set():
            raise _closed()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _prepared(
        self, path: Path, texts: Sequence[str], given_up: Callable[[], bool]
    ) -> tuple[_Model, list[list[int]]]:
        model = self._loaded
        tokens: list[list[int]] = []
        for text in texts:
            if given_up() or self._closed.is_set():
                raise _closed()
            if model is None:
                model = self._loaded = self._load(path)
            tokens.append(model.tokens(text))
        assert model is not None  # noqa: S101 - there are texts
        return model, tokens

    def _load(self, path: Path) -> _Model:
        folder = look_into(path)
        tokenizer = load_tokenizer(folder)
        weights = load_weights(folder.path / "model.safetensors")
        bound_threads()
        from codelaw.adapters.embedders.encoders import BertEncoder, StaticEncoder  # noqa: PLC0415 - numpy

        encoder = (BertEncoder if folder.kind == "bert" else StaticEncoder)(folder, weights)
        if self._wanted is not None and self._wanted != encoder.dimension:
            message = f"embedding.dimension is {self._wanted}, but the model in {path} gives {encoder.dimension}."
            raise EmbeddingFailure(f"{message} Leave embedding.dimension unset.", lasting=True)
        if encoder.length < folder.length:
            tokenizer.enable_truncation(encoder.length)  # pyright: ignore[reportUnknownMemberType]
        unknown = getattr(tokenizer.model, "unk_token", None)
        return _Model(folder, tokenizer, encoder, tokenizer.token_to_id(unknown) if isinstance(unknown, str) else None)

    def _pass(self, model: _Model, tokens: Sequence[Sequence[int]], given_up: Callable[[], bool]) -> list[Vector]:
        """The vectors of one pass; empty ones for texts of which the model knows nothing."""
        rows = model.encoder.encode(tokens, lambda: given_up() or self._closed.is_set())
        if rows is None:
            raise _closed()
        if not (rows * 0 == 0).all():
            message = f"The model in {self._path} gives numbers that are none; its weights are broken."
            raise EmbeddingFailure(message, lasting=True)
        little = rows.astype("<f4")
        return [row.tobytes() if row.any() else b"" for row in little]


def batches(lengths: Sequence[int], at_once: int) -> list[list[int]]:
    """Places of texts of like length, so that little is padded; a batch has at most `at_once` tokens, or one text."""
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        # The first of a batch is its longest.
        if found and (len(found[-1]) + 1) * max(1, lengths[found[-1][0]]) <= at_once:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def _closed() -> EmbeddingFailure:
    return EmbeddingFailure("The embedder was closed, or nobody waits for it any more.")


def bound_threads(most: int | None = None) -> int | None:
    """Leave half of the processors to the editor and the turns; gives the number set, None where that cannot be done.

    Only the OpenBLAS that comes with numpy is known here; another library keeps its own number.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    number = most or max(1, (os.cpu_count() or 2) // 2)
    for file in sorted(Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*")):
        try:
            library = ctypes.CDLL(str(file))
        except OSError as error:
            _log.debug("%s: %s", file.name, error)
            continue
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(number)
                return number
    return None
