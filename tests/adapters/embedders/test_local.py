"""Models in folders: their vectors are those of a plain computation, and what cannot be run is told (B-5)."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from codelaw.adapters.embedders.encoders import BertEncoder, gelu
from codelaw.adapters.embedders.local import LocalEmbedder, bound_threads
from codelaw.domain.errors import EmbeddingFailure
from tests.adapters.embedders.folders import (
    BERT,
    VOCABULARY,
    WIDTH,
    bert_by_hand,
    bert_folder,
    bert_weights,
    static_folder,
    tokenizer,
    write,
)

REAL = os.environ.get("EMBEDDING_TEST_FOLDER")
"""A folder with all-MiniLM-L6-v2."""
TEXTS = [
    "The parser reads a file.",
    "retry",
    "",
    "a request error in the parser, and retry with backoff; the quick fox reads files of files of files!",
    "Größe 設定 \udc80",
    "reading files with errors",
]


def rows(vectors: list[bytes]) -> np.ndarray:
    return np.stack([np.frombuffer(vector, "<f4") for vector in vectors])


async def embedded(folder: Path, texts: list[str], **more: Any) -> np.ndarray:
    made = LocalEmbedder(folder, **more)
    try:
        return rows(await made.embed(texts))
    finally:
        await made.close()


async def reported(folder: Path | None, **more: Any) -> str:
    """Why this folder cannot be used."""
    made = LocalEmbedder(folder, **more)
    try:
        with pytest.raises(EmbeddingFailure) as caught:
            await made.embed(["x"])
    finally:
        await made.close()
    assert caught.value.lasting
    return caught.value.message


@pytest.mark.parametrize(("pooling", "prefix"), [("mean_tokens", ""), ("cls_token", "bert.")])
async def test_a_bert_gives_the_vectors_of_a_plain_computation(tmp_path: Path, pooling: str, prefix: str):
    folder = bert_folder(tmp_path / "model", pooling=pooling, prefix=prefix)
    expected = np.stack([bert_by_hand(text.replace("\udc80", "?"), pooling=pooling) for text in TEXTS])
    assert np.abs(await embedded(folder, TEXTS) - expected).max() < 2e-6


async def test_batches_and_padding_change_nothing(tmp_path: Path):
    folder = bert_folder(tmp_path / "model", length=40)
    chance = random.Random(5)
    texts = [" ".join(chance.choices(VOCABULARY[4:20], k=chance.randint(0, 60))) for _ in range(80)]
    together = await embedded(folder, texts)
    alone = np.concatenate([await embedded(folder, [text]) for text in texts[:20]])
    assert np.abs(together[:20] - alone).max() < 2e-6
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)


async def test_texts_are_cut_where_the_folder_says_and_where_the_places_end(tmp_path: Path):
    folder = bert_folder(tmp_path / "model", length=8)
    long = "the parser reads a file and a file and a request " * 10_000
    (vector,) = await embedded(folder, [long])
    assert np.abs(vector - bert_by_hand(long[:500], length=8)).max() < 2e-6
    write(folder / "sentence_bert_config.json", {"max_seq_length": 4000})
    (vector,) = await embedded(folder, [long])
    assert np.abs(vector - bert_by_hand(long[:500], length=40)).max() < 2e-6


def test_the_error_function_is_exact_enough():
    values = np.linspace(-9, 9, 100_001, dtype=np.float32)
    exact = np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in values.tolist()])
    gelu(values)
    assert np.abs(values - exact).max() < 2e-6


# ---------------------------------------------------------------------------------------------------------- static ones


def static_tensors() -> dict[str, np.ndarray]:
    return {"embeddings": np.random.default_rng(3).standard_normal((len(VOCABULARY), 24)).astype(np.float32)}


def mean_by_hand(text: str, tensors: dict[str, np.ndarray]) -> np.ndarray:
    ids = [token for token in tokenizer().encode(text, add_special_tokens=False).ids if token != 1]
    weights = tensors.get("weights", np.ones(len(VOCABULARY)))
    mapping = tensors.get("mapping", np.arange(len(VOCABULARY)))
    known = [tensors["embeddings"][mapping[token]].astype(float) * weights[token] for token in ids]
    mean = np.stack(known).mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("kind", ["half", "mapped"])
async def test_a_static_model_gives_the_mean_of_its_tokens(tmp_path: Path, kind: str):
    tensors = static_tensors()
    if kind == "half":
        tensors["embeddings"] = tensors["embeddings"].astype(np.float16)
    if kind in {"weighted", "mapped"}:
        tensors["weights"] = np.linspace(0.1, 2, len(VOCABULARY)).astype(np.float32)
    if kind == "mapped":
        tensors["embeddings"] = tensors["embeddings"][:10]
        tensors["mapping"] = np.arange(len(VOCABULARY), dtype=np.int64) % 10
    vectors = await embedded(static_folder(tmp_path / "model", tensors), [TEXTS[0], TEXTS[5]])
    assert np.abs(vectors[0] - mean_by_hand(TEXTS[0], tensors)).max() < 1e-6
    assert np.abs(vectors[1] - mean_by_hand(TEXTS[5], tensors)).max() < 1e-6


async def test_a_text_of_which_a_static_model_knows_nothing_is_like_nothing_else(tmp_path: Path):
    folder = static_folder(tmp_path / "model", static_tensors())
    vectors = await embedded(folder, ["設定", "", "", "the parser"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    alike = vectors @ vectors.T
    assert alike[1, 2] == pytest.approx(1)
    assert abs(alike[0, 3]) < 0.7
    assert abs(alike[0, 1]) < 0.9


# ------------------------------------------------------------------------------------------------------ what is refused


async def test_no_path_and_no_folder_are_told(tmp_path: Path):
    assert "set embedding.path" in await reported(None)
    assert f"{tmp_path / 'nowhere'} is not a folder" in await reported(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    assert "is not a folder" in await reported(tmp_path / "file")


async def test_missing_files_are_named(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    assert "model.safetensors and tokenizer.json missing" in await reported(tmp_path / "empty")
    (tmp_path / "empty" / "pytorch_model.bin").write_bytes(b"x")
    assert "pytorch_model.bin is not read" in await reported(tmp_path / "empty")


def without_layer(folder: Path) -> None:
    weights = {name: tensor for name, tensor in bert_weights().items() if "layer.1.output.dense" not in name}
    save_file(weights, folder / "model.safetensors")


def odd_shape(folder: Path) -> None:
    weights = bert_weights()
    weights["encoder.layer.0.attention.self.key.bias"] = np.zeros(7, np.float32)
    save_file(weights, folder / "model.safetensors")


def not_a_number(folder: Path) -> None:
    weights = bert_weights()
    weights["embeddings.LayerNorm.bias"][:] = np.nan
    save_file(weights, folder / "model.safetensors")


def with_modules(folder: Path, kind: str) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    write(folder / "modules.json", [*modules, {"path": "3_Dense", "type": f"sentence_transformers.models.{kind}"}])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda folder: write(folder / "config.json", BERT | {"model_type": "xlm-roberta"}),
            "model_type = 'xlm-roberta'",
        ),
        (
            lambda folder: write(folder / "config.json", BERT | {"position_embedding_type": "relative_key"}),
            "relative_key",
        ),
        (lambda folder: write(folder / "config.json", BERT | {"num_attention_heads": 5}), "do not fit"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json cannot be read"),
        (lambda folder: (folder / "config.json").write_bytes(b" " * (5 << 20)), "larger than"),
        (lambda folder: write(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True}), "max_tokens"),
        (lambda folder: with_modules(folder, "Dense"), "Dense"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0garbage!"), "cannot be read"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json cannot be read"),
        (without_layer, "encoder.layer.1.output.dense.weight is missing"),
        (odd_shape, "encoder.layer.0.attention.self.key"),
        (not_a_number, "its weights are broken"),
    ],
)
async def test_a_model_that_cannot_be_run_is_told(tmp_path: Path, spoil: Callable[[Path], Any], words: str):
    folder = bert_folder(tmp_path / "model")
    spoil(folder)
    assert words in await reported(folder)


@pytest.mark.parametrize("package", ["tokenizers", "safetensors"])
async def test_a_missing_extra_is_told_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str):
    monkeypatch.setitem(sys.modules, package, None)
    said = await reported(bert_folder(tmp_path / "model"))
    assert f"needs {package}. Add it with `" in said
    assert f"pip install '{package}>=" in said


async def test_another_dimension_than_set_is_told(tmp_path: Path):
    folder = bert_folder(tmp_path / "model")
    assert f"embedding.dimension is 512, but the model in {folder} gives {WIDTH}" in await reported(
        folder, dimension=512
    )
    assert (await embedded(folder, ["x"], dimension=WIDTH)).shape == (1, WIDTH)


# ------------------------------------------------------------------------------------------------------- how it is run


async def test_nothing_is_loaded_before_the_first_use_and_then_once(tmp_path: Path):
    made = LocalEmbedder(tmp_path / "model")
    assert made.name == "local/model"
    assert LocalEmbedder(tmp_path / "model", model="mine").name == "local/mine"
    bert_folder(tmp_path / "model")
    first = await made.embed(["the parser"])
    shutil.rmtree(tmp_path / "model")
    assert await made.embed(["the parser"]) == first
    await made.close()
    with pytest.raises(EmbeddingFailure, match="closed"):
        await made.embed(["the parser"])


class Slow:
    """A model whose passes last until they are let go; it notes what it was given."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        self.go = threading.Semaphore(0)
        self.began = threading.Semaphore(0)
        self.threads: set[int] = set()

    def encode(self, real: Callable[..., Any], encoder: BertEncoder, texts: Any, stopped: Callable[[], bool]) -> Any:
        self.threads.add(threading.get_ident())
        self.passes.append(len(texts))
        self.began.release()
        while not self.go.acquire(timeout=0.01):
            if stopped():
                return None
        return real(encoder, texts, stopped)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made, real = Slow(), BertEncoder.encode
    monkeypatch.setattr(BertEncoder, "encode", lambda self, texts, stopped: made.encode(real, self, texts, stopped))
    monkeypatch.setattr(BertEncoder, "at_once", 32)
    return made


async def test_a_question_waits_for_one_pass_of_a_long_list_and_one_thread_does_all(tmp_path: Path, slow: Slow):
    made = LocalEmbedder(bert_folder(tmp_path / "model"))
    long = asyncio.create_task(made.embed(["the parser reads a file and a file"] * 30))
    await asyncio.to_thread(slow.began.acquire)
    question = asyncio.create_task(made.embed(["retry"]))
    await asyncio.sleep(0.05)
    for _ in range(3):
        slow.go.release()
    await asyncio.wait_for(question, 150)
    assert not long.done()
    assert slow.passes[0] > 1
    assert 1 in slow.passes[:3], "the question came in between"
    for _ in range(50):
        slow.go.release()
    assert len(await long) == 30
    assert len(slow.threads) == 1
    assert threading.get_ident() not in slow.threads
    await made.close()


async def test_who_is_cancelled_stops_the_work_and_closing_takes_no_time(tmp_path: Path, slow: Slow):
    made = LocalEmbedder(bert_folder(tmp_path / "model"))
    waiting = asyncio.create_task(made.embed(["the parser reads a file"] * 100))
    await asyncio.to_thread(slow.began.acquire)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    slow.go.release(2)
    assert len(await made.embed(["retry"])) == 1, "the thread is free again"
    last = asyncio.create_task(made.embed(["retry"]))
    await asyncio.to_thread(slow.began.acquire)
    began = time.monotonic()
    await made.close()
    with pytest.raises(EmbeddingFailure, match="closed"):
        await last
    assert time.monotonic() - began < 120


def test_matrix_products_leave_processors_to_others():
    assert bound_threads(1) in {1, None}


@pytest.mark.skipif(REAL is None, reason="EMBEDDING_TEST_FOLDER names no folder with all-MiniLM-L6-v2")
async def test_the_real_model_gives_the_vectors_of_its_makers():
    assert REAL is not None
    vectors = await embedded(
        Path(REAL),
        [
            "def parse_config(path): read a toml file and validate it",
            "HTTP retry with exponential backoff and jitter",
            "the quick brown fox",
            "select top k rows by cosine distance",
            "retrying failed web requests with backoff",
        ],
    )
    assert vectors.shape == (5, 384)
    assert vectors[0, :4] == pytest.approx([-0.07352, 0.00445, -0.04369, -0.04334], abs=2e-5)
    assert vectors[:4] @ vectors[4] == pytest.approx([-0.016, 0.710, 0.019, 0.013], abs=1e-3)
