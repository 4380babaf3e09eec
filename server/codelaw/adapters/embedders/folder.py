"""What lies in a model's folder, checked before anything is computed (B-5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from codelaw.adapters.extras import adding
from codelaw.domain.errors import EmbeddingFailure

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Weights = Mapping[str, NDArray[float32]]

LARGEST_CONFIG = 4 << 20
"""Bytes of a file of settings; tokenizers are larger and read by their own library."""
SHORTEST, LONGEST = 8, 8192
"""Tokens of a text that a model may be set to take."""
USUAL_LENGTH = 512
Pooling = Literal["mean", "cls"]
_RUN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""What the settings of a BERT that can be run here say, or leave out."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds a model which can be run here."""

    kind: Literal["bert", "static"]
    path: Path
    config: Mapping[str, Any]
    length: int
    """Most tokens of a text."""
    pooling: Pooling = "mean"
    lower: bool = False
    """Texts are put into lower case before the tokenizer."""


def look_into(path: Path) -> ModelFolder:
    """What kind of model lies in `path`.

    Raises:
        EmbeddingFailure: lasting; there is none, or one that cannot be run here.
    """
    if not path.is_dir():
        raise _wrong(f"embedding.path: {path} is not a folder. Set it to the folder of a model.")
    missing = [name for name in ("model.safetensors", "tokenizer.json") if not (path / name).is_file()]
    if missing:
        message = f"{path} is not a model that codelaw can run: {' and '.join(missing)} missing."
        if (path / "pytorch_model.bin").exists():
            message += " A pytorch_model.bin is not read, because it may hold programs; convert it to safetensors."
        raise _wrong(message)
    config, steps = _read(path / "config.json"), _steps(path / "modules.json")
    if "StaticEmbedding" in steps or config.get("model_type", "model2vec") == "model2vec":
        return ModelFolder("static", path, config, _bounded(config.get("seq_length"), None))
    for key, known in _RUN.items():
        if config.get(key, known) != known:
            runs = "codelaw runs BERT and static (model2vec) models"
            raise _wrong(f"{path}: config.json has {key} = {config.get(key)!r}; {runs}.")
    if unknown := sorted(steps - {"Transformer", "Pooling", "Normalize"}):
        raise _wrong(f"{path}: modules.json asks for {', '.join(unknown)}, which codelaw cannot run.")
    own = _read(path / "sentence_bert_config.json")
    length = _bounded(own.get("max_seq_length"), config.get("max_position_embeddings"))
    pooling = _pooling(path / "1_Pooling" / "config.json")
    return ModelFolder("bert", path, config, length, pooling, lower=own.get("do_lower_case") is True)


def load_weights(file: Path) -> Weights:
    """All tensors of a file, as float32.

    Raises:
        EmbeddingFailure: lasting; the file is broken, or the extra is not installed.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    try:
        from safetensors import SafetensorError, safe_open  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing_extra(error) from error
    try:
        # Its types are not known: it is written in another language.
        opened: Any = safe_open(file, framework="numpy")
        with opened:
            tensors: dict[str, NDArray[Any]] = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, AttributeError, ValueError) as error:
        raise _wrong(f"{file} cannot be read: {_brief(error)}. Fetch the model's folder again.") from error
    return {
        name: np.ascontiguousarray(tensor, dtype=np.float32)
        for name, tensor in tensors.items()
        if np.issubdtype(tensor.dtype, np.floating) or np.issubdtype(tensor.dtype, np.integer)
    }


def load_tokenizer(folder: ModelFolder) -> Tokenizer:
    """The folder's tokenizer, which cuts at the length that the model takes.

    Raises:
        EmbeddingFailure: lasting; the file is broken, or the extra is not installed.
    """
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing_extra(error) from error
    file = folder.path / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(folder.length)  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:  # the library raises bare Exception
        raise _wrong(f"{file} cannot be read: {_brief(error)}. Fetch the model's folder again.") from error
    return tokenizer


def wrong_shape(what: str) -> EmbeddingFailure:
    """The weights are not what the folder's settings promise."""
    return _wrong(f"The model's weights do not fit its config.json: {what}.")


def _steps(file: Path) -> set[str]:
    """The kinds of modules; none where the folder does not say."""
    listed: Any = _json(file) if file.is_file() else []
    if not isinstance(listed, list):
        raise _wrong(f"{file} cannot be read: a list is expected.")
    kinds = (cast("dict[str, Any]", one).get("type") for one in cast("list[Any]", listed) if isinstance(one, dict))
    return {str(kind).rpartition(".")[2] for kind in kinds}


def _pooling(file: Path) -> Pooling:
    config = _read(file)
    modes = [mode for mode in config if mode.startswith("pooling_mode_") and config[mode] is True]
    known = {"mean_tokens": "mean", "mean": "mean", "cls_token": "cls", "cls": "cls"}
    chosen = [mode.removeprefix("pooling_mode_") for mode in modes] or [str(config.get("pooling_mode", "mean"))]
    if len(chosen) > 1 or chosen[0] not in known:
        raise _wrong(f"{file}: pooling by {' and '.join(chosen)} is not known; mean and cls are.")
    return cast("Pooling", known[chosen[0]])


def _read(file: Path) -> Mapping[str, Any]:
    """A JSON object; a missing file is an empty one."""
    if not file.is_file():
        return {}
    content = _json(file)
    if not isinstance(content, dict):
        raise _wrong(f"{file} cannot be read: an object is expected.")
    return cast("dict[str, Any]", content)


def _json(file: Path) -> Any:
    try:
        if file.stat().st_size > LARGEST_CONFIG:
            raise _wrong(f"{file} is larger than {LARGEST_CONFIG} bytes.")
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _wrong(f"{file} cannot be read: {_brief(error)}.") from error


def _bounded(value: object, otherwise: object) -> int:
    """The first of the two that is a length, or the usual one, within bounds."""
    said = (one for one in (value, otherwise) if isinstance(one, int) and one > 0)
    return max(SHORTEST, min(next(said, USUAL_LENGTH), LONGEST))


def _wrong(message: str) -> EmbeddingFailure:
    return EmbeddingFailure(message, lasting=True)


def _missing_extra(error: ImportError) -> EmbeddingFailure:
    message = f"The embedding provider `local` needs {error.name or 'a package'}. Add it with `{adding('local')}`."
    return EmbeddingFailure(message, lasting=True)


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]
