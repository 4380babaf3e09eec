"""`codelaw skills` against the real server (X-2)."""

from __future__ import annotations

import json

from tests.cli.test_commands import codelaw

HOSTILE = "\x1b[31mred"


def test_skills_are_listed_with_what_is_wrong_and_the_prompt_is_the_same_in_every_process(tmp_path):
    home, work = tmp_path / "user", tmp_path / "work"
    for root, path, text in (
        (work, ".codelaw/skills/pdf", "---\nname: pdf\ndescription: Fills forms\n---\nx"),
        (work, ".github/skills/pdf", "---\nname: pdf\ndescription: Fills forms\n---\nx"),
        (work, ".codelaw/skills/odd", f"---\na: [\n---\nOdd {HOSTILE}"),
        (home, ".agents/skills/mine", "---\nname: mine\ndescription: My own\n---\nx"),
    ):
        (root / path).mkdir(parents=True)
        (root / path / "SKILL.md").write_text(text)
    reported = codelaw("skills", workspace=work, HOME=str(home))
    assert reported.returncode == 0, reported.stderr
    assert reported.stdout.splitlines() == [
        "mine                 My own",
        f"    {home}/.agents/skills/mine/SKILL.md",
        "odd                  Odd [31mred",
        "    .codelaw/skills/odd/SKILL.md",
        "    Its head is not YAML in line 3. It has no description: a model cannot tell when to use it.",
        "pdf                  Fills forms",
        "    .codelaw/skills/pdf/SKILL.md",
        "pdf                  Fills forms",
        "    .github/skills/pdf/SKILL.md",
        "    does not count: .codelaw/skills/pdf/SKILL.md does",
    ]
    listed = codelaw("skills", "--json", workspace=work, HOME=str(home)).stdout.splitlines()
    assert [json.loads(line)["name"] for line in listed] == ["mine", "odd", "pdf", "pdf"]
    texts = {
        codelaw("context", "x", "--json", workspace=work, HOME=str(home), PYTHONHASHSEED=seed).stdout.partition("L2")[0]
        for seed in ("1", "2")
    }
    (sections,) = texts
    assert "- pdf: Fills forms" in sections


def test_where_there_are_none_it_says_what_one_is(tmp_path):
    reported = codelaw("skills", workspace=tmp_path, HOME=str(tmp_path))
    assert (reported.returncode, reported.stdout) == (0, ""), "the list is empty"
    assert "a folder with a SKILL.md in .codelaw/skills is one" in reported.stderr
    assert codelaw("skills", "--json", workspace=tmp_path, HOME=str(tmp_path)).stdout == ""
