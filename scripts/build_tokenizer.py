# ruff: noqa: INP001
"""Make server/codelaw/data/o200k_base.tiktoken.xz from a folder of the npm package `tiktoken` (MIT).

npm pack tiktoken && tar xzf tiktoken-*.tgz && python scripts/build_tokenizer.py package
"""

from __future__ import annotations

import json
import lzma
import sys
from hashlib import sha256
from pathlib import Path

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
TARGET = Path(__file__).parents[1] / "server" / "codelaw" / "data" / "o200k_base.tiktoken.xz"


def ranks(encoder: Path) -> bytes:
    """The ranks in the `.tiktoken` format: a base64 token and its rank on each line."""
    rows: list[tuple[int, str]] = []
    for line in json.loads(encoder.read_text(encoding="utf-8"))["bpe_ranks"].split("\n"):
        _, offset, *tokens = line.split(" ")
        rows += [(int(offset) + place, token) for place, token in enumerate(tokens)]
    return "".join(f"{token} {rank}\n" for rank, token in sorted(rows)).encode()


def main(package: Path) -> int:
    """Write the data if it is what tiktoken itself would load."""
    data = ranks(package / "encoders" / "o200k_base.json")
    if sha256(data).hexdigest() != SHA256:
        print("these are not the ranks of o200k_base", file=sys.stderr)  # noqa: T201
        return 1
    TARGET.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
