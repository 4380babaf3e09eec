"""Settings that decide what may be done, damaged in every way: nothing is loosened and no rule taken away (S-1)."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.domain.errors import Refusal
from codelaw.settings.effective import EffectiveSettings, load_settings
from codelaw.settings.sources import line_of

GOOD = """# mine
[turn]
maxSteps = 7

[permissions]
deny = [
  "Read(secrets/**)",
  "Bash(curl:*)",
]
allow = ["Bash(ls:*)"]
default = "allow"

[tools.bash]
sandbox = "require"

[[hooks.PreToolUse]]
matcher = "Bash"
command = "./guard.sh"
"""


def text(old: str, new: str) -> Callable[[Path], None]:
    """Damage by an edit, as somebody types it."""
    assert old in GOOD
    return lambda file: (file.write_text(GOOD.replace(old, new, 1)), None)[1]


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Damage by something else in the file's place."""

    def damage(file: Path) -> None:
        file.unlink()
        make(file)

    return damage


def no_folder(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.write_text("not a folder")


def no_way(file: Path) -> None:
    folder = file.parent.rename(file.parent.with_name("elsewhere"))
    file.parent.symlink_to(folder.with_name("nowhere"))


DAMAGES: dict[str, tuple[Callable[[Path], object], int | None, str]] = {
    "a bracket is missing": (text("[permissions]", "[permissions"), 5, "not TOML: Expected ']'"),
    "the list is never closed": (lambda file: file.write_text(GOOD[: GOOD.index("]\nallow")]) and None, 8, "not TOML"),
    "nested without end": (text("# mine", "x = " + "[" * 5000), None, "cannot be understood"),
    "a byte": (lambda file: file.write_bytes(GOOD.encode() + b"# \xff\n") and None, 19, "not text in UTF-8"),
    "too large": (lambda file: file.write_text(GOOD + "#" * (1 << 20)) and None, None, "larger than 1048576 bytes"),
    "a pipe": (replaced(os.mkfifo), None, "it is not a file"),
    "a link to nowhere": (replaced(lambda file: file.symlink_to("gone")), None, "a link that leads nowhere"),
    "its folder is a file": (no_folder, None, "is not a folder"),
    "its folder leads nowhere": (no_way, None, "a link that leads nowhere"),
    "permissions is no table": (lambda file: file.write_text("permissions = 3") and None, 1, "a table of keys"),
    "an unknown key of permissions": (text("deny =", "denied ="), 6, "did you mean permissions.deny?"),
    "a misspelt group": (text("[permissions]", "[permisions]"), 5, "did you mean permissions?"),
    "a quoted path": (text("# mine", '"tools.bash.sandbox" = "require"'), 1, "no such setting"),
    "an entry that is no text": (text('"Bash(curl:*)"', "7"), 6, "permissions.deny[1]"),
    "a rule of no tool": (text("Bash(curl:*)", "Curl"), 8, "there is no tool Curl"),
    "a rule whose brace is open": (text("secrets/**", "*.{key,pem"), 7, "brace that is not closed"),
    "too many rules": (text('"Bash(curl:*)",', '"Bash(curl:*)",' * 500), 6, "at most 500"),
    "an unknown default": (text('"allow"', '"maybe"'), 11, "permissions.default"),
    "an unknown key of bash": (text("sandbox =", "sandbx ="), 14, "did you mean tools.bash.sandbox?"),
    "a hidden path that is a pattern": (text("sandbox =", 'hidden = ["*.key"]\nsandbox ='), 14, "is a pattern"),
    "an unknown moment": (text("hooks.PreToolUse", "hooks.PreTolUse"), 16, "did you mean hooks.PreToolUse?"),
    "a hook without a command": (text("command =", "comand ="), 16, "no `comand`"),
    "a hook whose matcher is none": (text('"Bash"', '"^Bash$"'), 16, "the matcher"),
    "a server without a command": (text("# mine", "mcp.servers.x = {args = []}"), 1, "neither `command` nor `url`"),
    "an unknown key of a server": (text("# mine", 'mcp.servers.x = {command = "x", tol = 1}'), 1, "`tol`"),
}
"""What is done to a file, the line that is named, and what is said."""

OF_EACH_KIND = (
    "a bracket is missing", "a byte", "too large", "a link to nowhere", "its folder is a file",
    "permissions is no table", "an unknown key of permissions", "a rule of no tool", "a hook without a command",
)  # fmt: skip
"""One for each way in which a source is found to be wrong."""

FILES = ("user", "workspace", "trusted workspace", "restricted workspace")


class Place:
    """One settings file and how it is read."""

    def __init__(self, tmp_path: Path, kind: str) -> None:
        self.kind, self.file = kind, tmp_path / "own" / "config.toml"
        self.file.parent.mkdir()
        self.file.write_text(GOOD)

    def load(self, **more: Any) -> EffectiveSettings:
        if self.kind == "user":
            return load_settings(environ={}, user_file=self.file, **more)
        first = load_settings(environ={}, workspace_files=[self.file])
        self.trusted = {one.path: one.digest for one in first.files} if not first.faults else self.trusted
        known = self.trusted if self.kind == "trusted workspace" else {}
        restricted = self.kind == "restricted workspace"
        return load_settings(environ={}, workspace_files=[self.file], trusted=known, restricted=restricted, **more)


@pytest.fixture(params=FILES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, request.param)


@pytest.mark.parametrize("how", DAMAGES)
def test_no_turn_begins_and_the_message_says_where_and_why(place: Place, how: str) -> None:
    damage, line, said = DAMAGES[how]
    place.load()
    damage(place.file)
    effective = place.load()
    with pytest.raises(Refusal) as refused:
        effective.for_a_turn()
    assert refused.value.code == "settings_unreadable"
    where = f"({place.file}" + (f", line {line})" if line else ")")
    assert where in refused.value.message
    assert said in refused.value.message
    assert "Mend the file" in refused.value.hint
    assert any(where in problem.message and problem.level == "error" for problem in effective.problems)
    value = effective.value
    assert {"Read", "Edit", "Bash"} <= set(value.permissions.deny), "what is denied is not known: nothing is read"
    assert (value.permissions.allow, value.permissions.default) == ([], "ask")
    assert (value.tools.bash.sandbox, value.tools.bash.network) == ("require", False)
    assert value.hooks.pre_tool_use == []


@pytest.mark.parametrize("how", OF_EACH_KIND)
def test_in_mid_chat_the_last_good_one_stays_until_it_is_mended(place: Place, how: str) -> None:
    good = place.load()
    kept = place.file.parent.with_name("kept")
    shutil.copytree(place.file.parent, kept)
    DAMAGES[how][0](place.file)
    later = place.load(before=good)
    again = place.load(before=later)
    for effective in (later, again):
        assert effective.for_a_turn() == good.for_a_turn()
        assert effective.files == good.files
        (problem,) = [one for one in effective.problems if "what was read there before stays" in one.message][:1]
        assert str(place.file) in problem.message
    for left in (place.file.parent, place.file.parent.with_name("elsewhere")):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        elif left.is_symlink() or left.exists():
            left.unlink()
    kept.rename(place.file.parent)
    place.file.write_text(GOOD.replace("secrets", "other"))
    mended = place.load(before=again)
    assert "Read(other/**)" in mended.for_a_turn().permissions.deny
    assert not any(problem.level == "error" for problem in mended.problems)


@pytest.mark.parametrize("how", OF_EACH_KIND)
def test_who_goes_on_without_it_is_allowed_nothing(place: Place, how: str) -> None:
    client = {"permissions": {"allow": ["Edit", "Bash"], "default": "allow"}, "tools": {"bash": {"sandbox": "off"}}}
    place.load()
    DAMAGES[how][0](place.file)
    effective = place.load(client=client, ignoring=True)
    value = effective.for_a_turn()
    assert effective.ignoring
    assert (value.permissions.allow, value.permissions.default) == ([], "ask")
    assert (value.tools.bash.sandbox, value.tools.bash.network) == ("require", False)
    assert all("It is left out of this run" in one.message for one in effective.problems if one.level == "error")


def test_who_goes_on_without_it_keeps_the_rules_that_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(GOOD.replace("Bash(curl:*)", "Curl"))
    effective = load_settings(environ={}, user_file=file, ignoring=True)
    assert effective.for_a_turn().permissions.deny == ["Read(secrets/**)"]
    assert effective.value.hooks.pre_tool_use[0]["command"] == "./guard.sh"
    file.write_text(GOOD)
    sound = load_settings(environ={}, user_file=file, ignoring=True)
    assert (sound.ignoring, sound.value.permissions.allow) == (False, ["Bash(ls:*)"]), "nothing is left out"


@pytest.mark.parametrize(
    "raw",
    [
        "[turn]\nmaxSteps = 0\n",
        "colour = 1\n",
        "turn = 3\n",
    ],
)
def test_what_is_wrong_elsewhere_is_told_and_the_default_stays(place: Place, raw: str) -> None:
    place.file.write_text(raw)
    effective = place.load()
    assert effective.for_a_turn().turn.max_steps == 50
    assert effective.faults == ()
    if place.kind != "restricted workspace":
        assert [problem.level for problem in effective.problems] == ["warning"]


def test_a_missing_file_is_no_fault(tmp_path: Path) -> None:
    gone = load_settings(environ={}, user_file=tmp_path / "a", workspace_files=[tmp_path / "w/.codelaw/config.toml"])
    assert (gone.problems, gone.faults) == ([], ())


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CODELAW_PERMISSIONS__DENY", "not json", "permissions.deny"),
        ("CODELAW_PERMISSIONS__DENY", '["Raed(a)"]', "there is no tool Raed"),
        ("CODELAW_PERMISSIONS", '{"deny": ["Read"]', "a table of keys"),
        ("CODELAW_PERMISIONS__DENY", '["Read"]', "did you mean permissions?"),
        ("CODELAW_TOOLS__BASH__SANDBOX", "yes", "tools.bash.sandbox"),
        ("CODELAW_HOOKS__PRE_TOOL_USE", "[]", "did you mean hooks.PreToolUse?"),
        ("CODELAW_MCP__SERVERS", '{"a": 1}', "mcp.servers"),
    ],
)
def test_a_variable_blocks_too(variable: str, value: str, said: str) -> None:
    effective = load_settings(environ={variable: value})
    with pytest.raises(Refusal) as refused:
        effective.for_a_turn()
    assert f"({variable})" in refused.value.message
    assert said in refused.value.message
    assert "variable" in refused.value.hint
    assert load_settings(environ={"CODELAW_TURN__MAX_STEPS": "many"}).faults == ()


@pytest.mark.parametrize(
    "raw",
    [
        {"permissions": {"deny": "Read(a)"}},
        {"permissions": {"denied": []}},
        {"hooks": {"PreToolUse": [{"command": ""}]}},
        {"mcp": {"servers": []}},
    ],
)
def test_a_client_blocks_too_and_half_a_configuration_changes_nothing(raw: dict[str, Any]) -> None:
    good: dict[str, Any] = {"permissions": {"deny": ["Read(a)"]}, "turn": {"maxSteps": 3}}

    def loaded(values: dict[str, Any], before: EffectiveSettings | None = None) -> EffectiveSettings:
        return load_settings(environ={}, client=values, before=before)

    with pytest.raises(Refusal, match="No turn begins"):
        loaded(raw).for_a_turn()
    before = loaded(good)
    later = loaded({**raw, "turn": {"maxSteps": 9}}, before)
    assert later.for_a_turn() == before.value
    assert "stays in force" in later.problems[0].message
    mended = loaded({"turn": {"maxSteps": 9}}, later)
    assert (mended.for_a_turn().turn.max_steps, mended.value.permissions.deny) == (9, [])


@pytest.mark.parametrize("raw", ["deny", [1]])
def test_what_is_no_table_from_a_client_blocks(raw: object) -> None:
    with pytest.raises(Refusal, match="settings: a table of keys is expected"):
        load_settings(environ={}, client=raw).for_a_turn()  # type: ignore[arg-type]


def test_lists_that_are_too_long_only_together_block(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.toml", tmp_path / "theirs.toml"
    mine.write_text(f"permissions.deny = {[f'Read(a{number})' for number in range(300)]}")
    theirs.write_text(f"permissions.deny = {[f'Read(b{number})' for number in range(300)]}")
    effective = load_settings(environ={}, user_file=mine, workspace_files=[theirs])
    with pytest.raises(Refusal, match="at most 500") as refused:
        effective.for_a_turn()
    assert "one of the settings files" in refused.value.hint
    hooks = [f"[[hooks.Stop]]\ncommand = '{number}'\n" for number in range(15)]
    mine.write_text("".join(hooks))
    theirs.write_text("".join(hooks).replace("= '", "= 'x"))
    seen = load_settings(environ={}, workspace_files=[theirs]).files[0]
    trusted = {theirs: seen.digest}
    with pytest.raises(Refusal, match="at most 20 hooks"):
        load_settings(environ={}, user_file=mine, workspace_files=[theirs], trusted=trusted).for_a_turn()


def test_what_a_hostile_file_says_is_short_and_seen_whole(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for text in (
        f'permissions.deny = ["{"x" * 4000}"]',
        'permissions."\\u001b[2J\\u202e" = 1',
        f'"{"y" * 9000}.permissions" = 1',
    ):
        file.write_text(text)
        problems = load_settings(environ={}, workspace_files=[file]).problems
        assert problems
        assert all(len(one.message) < 800 and one.message.isprintable() for one in problems)


def test_more_than_one_fault_is_counted_and_secrets_are_not_shown() -> None:
    raw = {"permissions": {"deny": 1, "allow": 2}, "mcp": {"servers": {"x": {"command": "c", "env": {"K": ["sec"]}}}}}
    effective = load_settings(environ={}, client=raw)
    with pytest.raises(Refusal, match=r"2 more: `codelaw doctor` lists them"):
        effective.for_a_turn()
    assert "sec'" not in str(effective.problems)


@given(st.data())
def test_whatever_happens_to_a_file_no_rule_is_lost(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    """A file that is still TOML says what it says; any other blocks, or counts as it did."""
    file = tmp_path_factory.mktemp("s") / "config.toml"
    file.write_text(GOOD)
    good = load_settings(environ={}, user_file=file)
    content = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 12)))
        content[start:end] = data.draw(st.binary(max_size=6) | st.sampled_from([b"[", b"]", b'"', b"\n", b"=", b"'''"]))
    file.write_bytes(content)
    at_start = load_settings(environ={}, user_file=file)
    later = load_settings(environ={}, user_file=file, before=good)
    left_out = load_settings(environ={}, user_file=file, ignoring=True)
    try:
        said: Any = tomllib.loads(content.decode("utf-8-sig"))
    except ValueError:
        said = None
    if said is not None and at_start.faults == ():
        permissions, bash = said.get("permissions", {}), said.get("tools", {}).get("bash", {})
        assert at_start.value.permissions.deny == permissions.get("deny", [])
        assert at_start.value.tools.bash.sandbox == bash.get("sandbox", "auto")
        assert len(at_start.value.hooks.pre_tool_use) == len(said.get("hooks", {}).get("PreToolUse", []))
        return
    with pytest.raises(Refusal):
        at_start.for_a_turn()
    assert {"Read", "Edit", "Bash"} <= set(at_start.value.permissions.deny)
    assert later.for_a_turn() == good.value
    assert left_out.value.tools.bash.sandbox == "require"
    assert left_out.value.permissions.allow == []


@pytest.mark.parametrize(
    ("path", "line"), [(("a", "b"), 5), (("a", "x y"), 6), (("c", "d", "e"), 8), (("c", "f"), 7), (("z",), None)]
)
def test_lines_of_keys(path: tuple[str, ...], line: int | None) -> None:
    written = "q = '''\n[a]\nb = 1\n'''\na.b = 1\na.'x y' = 2\n[c]\n  d.e = 3\n"
    assert tomllib.loads(written)
    assert line_of(written, path) == line
