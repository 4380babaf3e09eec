"""Tiny models in folders, with random weights, and what they compute, written down plainly in float64."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

KNOWN = "the a parser reads file files error in of and request retry with backoff ##s ##ing ##er quick fox"
WORDS = KNOWN.split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *"abcdefghijklmnopqrstuvwxyz", *"0123456789.,!?()_"]
WIDTH, HEADS, LAYERS, INNER, PLACES = 32, 4, 2, 64, 40
BERT: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": PLACES,
}


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordPiece({word: place for place, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def bert_weights(seed: int = 7) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": matrix(len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": matrix(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": matrix(2, WIDTH),
        "embeddings.LayerNorm.weight": 1 + matrix(WIDTH),
        "embeddings.LayerNorm.bias": matrix(WIDTH),
        "pooler.dense.weight": matrix(WIDTH, WIDTH),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for name, out, into in [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ]:
            weights[f"{at}{name}.weight"] = matrix(out, into)
            weights[f"{at}{name}.bias"] = matrix(out)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            weights[f"{at}{name}.weight"] = 1 + matrix(WIDTH)
            weights[f"{at}{name}.bias"] = matrix(WIDTH)
    return weights


def bert_folder(folder: Path, *, length: int = 16, pooling: str = "mean_tokens", prefix: str = "") -> Path:
    """As sentence-transformers writes one."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({prefix + name: tensor for name, tensor in bert_weights().items()}, folder / "model.safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    write(folder / "config.json", BERT)
    write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    modes = {f"pooling_mode_{mode}": mode == pooling for mode in ("cls_token", "mean_tokens", "max_tokens")}
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, **modes})
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds)
    ]
    write(folder / "modules.json", modules)
    return folder


def static_folder(folder: Path, tensors: dict[str, np.ndarray]) -> Path:
    """As model2vec writes one."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    write(folder / "config.json", {"model_type": "model2vec", "normalize": True, "seq_length": 64})
    return folder


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def bert_by_hand(text: str, *, length: int = 16, pooling: str = "mean_tokens") -> np.ndarray:
    """One text without batches, padding or float32."""
    weights = {name: tensor.astype(np.float64) for name, tensor in bert_weights().items()}
    made = tokenizer()
    made.enable_truncation(length)
    ids = made.encode(text).ids

    def linear(state, name):
        return state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(state, name):
        centred = state - state.mean(1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    words = np.stack([weights["embeddings.word_embeddings.weight"][token] for token in ids])
    state = words + weights["embeddings.position_embeddings.weight"][: len(ids)]
    state = normal(state + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        query, key, value = (linear(state, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
        seen = np.zeros_like(state)
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            seen[:, part] = scores / scores.sum(1, keepdims=True) @ value[:, part]
        state = normal(state + linear(seen, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
        wide = linear(state, f"{at}intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        state = normal(state + linear(wide, f"{at}output.dense"), f"{at}output.LayerNorm")
    pooled = state[0] if pooling == "cls_token" else state.mean(0)
    return pooled / np.linalg.norm(pooled)
