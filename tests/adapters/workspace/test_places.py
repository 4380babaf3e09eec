"""Nothing leaves the workspace (T-2)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.domain.errors import ToolFailure
from tests.fakes.desk import folder
from tests.fakes.documents import FakeDocuments


@pytest.fixture
def workspace(tmp_path: Path) -> DiskWorkspace:
    return DiskWorkspace((folder(tmp_path / "work"),), FakeDocuments())


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a.py", "a.py"), ("./a/../b.py", "b.py"), (".", "."), ("", "."), ("a//b/", "a/b"), ("ünï/x y", "ünï/x y")],
)
def test_inside(workspace: DiskWorkspace, path: str, shown: str):
    located = workspace.locate(path)
    assert located.shown == shown
    assert located.path == Path(os.path.normpath(workspace.folders[0].root / shown))
    assert workspace.locate(str(located.path)) == located


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "/", "/etc/passwd", "out/x", "loop/x/../../../etc/passwd"])
def test_outside(workspace: DiskWorkspace, path: str):
    root = workspace.folders[0].root
    (root / "out").symlink_to(root.parent)
    (root / "loop").symlink_to(root)
    with pytest.raises(ToolFailure) as refused:
        workspace.locate(path)
    assert refused.value.code == "ACCESS_DENIED"


@pytest.mark.parametrize("path", ["a\0b", "x" * 256, "a/" * 2001, "\ud800"])
def test_what_no_file_can_be_called(workspace: DiskWorkspace, path: str):
    with pytest.raises(ToolFailure) as refused:
        workspace.locate(path)
    assert refused.value.code == "INVALID_PARAM"


async def test_a_symlink_put_there_after_the_check_is_not_followed(workspace: DiskWorkspace, tmp_path: Path):
    from codelaw.tools.paths import located

    (tmp_path / "secret").write_text("secret")
    root = workspace.folders[0].root
    place, below = await located(workspace, "a"), await located(workspace, "sub/secret")
    (root / "a").symlink_to(tmp_path / "secret")
    (root / "sub").symlink_to(tmp_path)
    for one in (place, below):
        with pytest.raises(ToolFailure) as refused:
            await workspace.read(one)
        assert refused.value.code == "ACCESS_DENIED"
        with pytest.raises(ToolFailure):
            await workspace.write(one, "x", over=None)
    assert (tmp_path / "secret").read_text() == "secret"


def test_the_innermost_folder_holds_a_path(tmp_path: Path):
    outer, inner = folder(tmp_path / "outer"), folder(tmp_path / "outer/inner")
    workspace = DiskWorkspace((outer, inner), FakeDocuments())
    assert workspace.locate(str(inner.root / "x")).shown == "inner/x"
    assert workspace.locate("outer/inner/x").shown == "inner/x"
    assert workspace.locate("outer").shown == "outer"
    with pytest.raises(ToolFailure) as refused:
        workspace.locate("../x")
    assert refused.value.code == "ACCESS_DENIED"


@given(st.text(max_size=30))
def test_any_path_is_inside_or_refused(tmp_path_factory: pytest.TempPathFactory, path: str):
    root = folder(tmp_path_factory.getbasetemp() / "any")
    workspace = DiskWorkspace((root,), FakeDocuments())
    located = None
    with suppress(ToolFailure):
        located = workspace.locate(path)
    assert located is None or located.path == root.root or root.root in located.path.parents
