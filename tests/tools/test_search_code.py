"""search_code and Outline (X-5)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.context.observations.text import observation_text
from codelaw.context.shortening.compressor import compress
from codelaw.domain.code import CodePlace, NamedCode, Position, Span
from codelaw.domain.errors import ToolFailure
from codelaw.tools.toolbox import default_toolbox
from tests.fakes.desk import Desk, folder, make_desk
from tests.fakes.services import FakeServices

BASKET = "class Basket:\n    LIMIT = 3\n\n    def total_price(self):\n        return 0\n"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = make_desk(folder(tmp_path / "work"))
    index = WorkspaceIndex(tmp_path / "kept")
    made.environment = replace(made.environment, code=index)
    made.toolbox = default_toolbox(code=True)
    made.put("shop/basket.py", BASKET)
    made.put("README.md", "# Shop\n\nThe total price of a basket.\n")
    yield made
    await index.close()


def places(result: Any) -> list[tuple[str, int, int]]:
    assert result.error is None, result.error
    return [(one["file"], one["line"], one["end_line"]) for one in result.data["places"]]


async def test_a_place_has_its_file_range_symbol_and_lines(desk: Desk) -> None:
    result = await desk("search_code", query="total price")
    first = result.data["places"][0]
    assert places(result)[0] == ("shop/basket.py", 4, 5)
    assert (first["symbol"], first["kind"]) == ("total_price", "function")
    assert first["lines"] == ["    def total_price(self):", "        return 0"]
    assert "defines" in first["why"]


async def test_path_kind_and_limit_narrow_it(desk: Desk) -> None:
    assert [one[0] for one in places(await desk("search_code", query="total", path="README.md"))] == ["README.md"]
    assert [one[0] for one in places(await desk("search_code", query="total", kind="definition"))] == ["shop/basket.py"]
    assert len(places(await desk("search_code", query="total", limit=1))) == 1
    missing = await desk("search_code", query="total", path="nowhere")
    assert missing.error is not None
    assert missing.error.code == "NOT_FOUND"
    nothing = await desk("search_code", query="zebra")
    assert (nothing.status, nothing.data["total"]) == ("success", 0)
    assert "Grep" in nothing.text


async def test_the_other_name_is_taken(desk: Desk) -> None:
    assert places(await desk("search_knowledge_base", query="total_price"))[0][0] == "shop/basket.py"
    assert "search_knowledge_base" not in desk.toolbox.manual()
    assert "search_knowledge_base" not in desk.toolbox.names


async def test_the_outline_of_a_file_has_every_symbol(desk: Desk) -> None:
    result = await desk("Outline", path="shop/basket.py")
    rows = [(row["name"], row["line"], row["end_line"], row["level"]) for row in result.data["symbols"]]
    assert rows == [("Basket", 1, 5, 0), ("LIMIT", 2, 2, 1), ("total_price", 4, 5, 1)]
    cut = await desk("Outline", path="shop/basket.py", limit=1)
    assert (cut.status, cut.data["total"], len(cut.data["symbols"])) == ("partial", 3, 1)


async def test_the_outline_of_a_file_comes_from_the_editor_where_it_is_lent(desk: Desk) -> None:
    services = FakeServices(desk.root)
    desk.environment = replace(desk.environment, services=services)
    path = desk.root / "shop" / "basket.py"

    def symbol(name: str, kind: str, first: int, last: int, character: int = 1) -> NamedCode:
        span = Span(Position(first, 0), Position(last, character))
        return NamedCode(name, kind, CodePlace(path.as_uri(), str(path), span))

    services.named = [symbol("Basket", "class", 0, 5, 0), symbol("total\nprice", "method", 3, 4)]
    rows = (await desk("Outline", path="shop/basket.py")).data["symbols"]
    found = [(row["name"], row["kind"], row["line"], row["end_line"], row["level"]) for row in rows]
    assert found == [("Basket", "class", 1, 5, 0), ("total price", "method", 4, 5, 1)]
    services.named = []
    assert len((await desk("Outline", path="shop/basket.py")).data["symbols"]) == 3, "the grammar knows more"
    services.failure = ToolFailure("TIMEOUT", "The editor did not answer within 10 s.")
    assert len((await desk("Outline", path="shop/basket.py")).data["symbols"]) == 3
    asked = len(services.asked)
    await desk("Outline", path="shop")
    assert len(services.asked) == asked, "of a folder the editor is not asked"


async def test_the_outline_of_a_folder_has_the_outer_symbols(desk: Desk) -> None:
    result = await desk("Outline")
    assert {(row["file"], row["name"]) for row in result.data["symbols"]} == {
        ("shop/basket.py", "Basket"),
        ("README.md", "Shop"),
    }


async def test_without_an_index_the_model_is_told(tmp_path: Path) -> None:
    desk = make_desk(folder(tmp_path))
    desk.toolbox = default_toolbox(code=True)
    result = await desk("search_code", query="x")
    assert result.error is not None
    assert "Grep" in result.error.message


async def test_the_model_reads_places_grouped_by_file(desk: Desk) -> None:
    envelope = (await desk("search_code", query="total_price", limit=1)).envelope()
    found = observation_text("search_code", json.dumps(envelope))
    assert found.split("\n") == [
        "search_code total_price: 1 place",
        " shop/basket.py 4-5 function total_price (defines: total_price)",
        "4\t    def total_price(self):",
        "5\t        return 0",
    ]


async def test_the_history_keeps_the_first_places(desk: Desk) -> None:
    for number in range(40):
        desk.put(f"part{number}.py", f"def total_price_{number}():\n    pass\n")
    result = await desk("search_code", query="total price", limit=30)
    kept = compress("search_code", result.envelope(), "r1")
    assert kept["data"]["total"] == 30
    assert 0 < len(kept["data"]["places"]) < 30
