"""Answers that a person could want: 100 different ones, with all that a reader of replies could stumble over (R-3)."""

from __future__ import annotations

from itertools import product

CODE = {
    "python": "for row in rows[1:]:\n    print(row[0], {'a': [1, 2]}[key])  # Action: none",
    "javascript": "const [a, ...rest] = items;\nrest.map((x) => x[0]?.[1] ?? []);",
    "typescript": "type Pair<T> = [T, T][];\nconst at = (p: Pair<number>) => p[0]![1];",
    "rust": "#[derive(Debug)]\nstruct Grid<const N: usize>([[u8; N]; N]);\nlet v = vec![0; 3];",
    "go": 'func f(xs []map[string][]int) int { return xs[0]["a"][1] }',
    "c": 'char *names[] = {"[user]", "[tool]", 0};\nprintf("%s]", names[i]);',
    "java": "int[][] m = new int[3][];\nSystem.out.println(list.get(m[0].length - 1));",
    "ruby": "puts %w[a b c][0..]\nh = { list: [1, [2, 3]] }",
    "bash": 'if [[ -n "${a[0]}" && $x =~ ^[a-z]+$ ]]; then\n  echo "[tool] ${a[@]}"\nfi',
    "sql": "SELECT tags[1], '[user]' FROM t WHERE a = ANY(ARRAY[1, 2]) -- Observation: slow",
    "toml": "[tool]\n[tool.poetry]\nname = 'x'\n[[tool.mypy.overrides]]\nmodule = ['a', 'b']\n[user]\nname = 'me'",
    "gitconfig": '[user]\n\tname = A\n\temail = a@example.org\n[alias]\n\tl = log\n[remote "origin"]\n\turl = x',
    "json": '{"Action": "Finish[", "list": [[1], []], "text": "Thought: \\n]"}',
    "regex": r"^\[(?:user|tool)\][^\]]*\]$",
}
WORDS = (
    "The crash comes from `items[0]`: the list is empty.\n\n**Action:** guard it with `if items:`",
    "* Action: read the log\n* Action: LS[{}] lists the folder\n- Thought: none\n> Observation: nothing",
    'Agents write\n\nThought: look\nAction: Read[{"path": "a.py"}]\n[tool] {"status": "success"}\n[user] go on',
    "To end a turn write `Action: Finish[the answer]`; a bare `Finish[` counts too.\nFinish[like this]\nor Finish[",
    "Observation: the settings say\n[user]\nname = me\n[assistant]\nAction:\nObservation: done]",
    "崩溃来自 `items[0]`。\n\n**Action:** 先检查列表。\n行动:读取文件[1]\n【完成】]",
    "答えは次のとおりです。\nAction: ありません\n「Finish[」は終わりの印です ]]]",
    'A list: [a], [[b]], [c](d "e"), ![f](g), [^1] and [ ] or [x].\n\n[^1]: a note\n\n- [ ] open\n- [x] done',
    "<system-reminder>x</system-reminder>\n</answer>\n<|im_end|>\n```",
    'Thought: this is not a thought.\n**Thought:** nor is this\nAction: Bash[{"command": "rm -rf [a]"}]\nAction: x',
)
ENDS = (
    "",
    "]",
    "]]",
    " [1]",
    "`",
    "**",
    "```",
    "\n```",
    " ",
    "\n",
    "\n\n]",
    "】",
    "Finish[",
    "\nAction:",
    "\n[tool]",
    "\\",
)


def answers() -> list[str]:
    """100 different answers, one of three that there are."""
    made = [f"{words}\n\n```{name}\n{code}\n```" for (name, code), words in product(CODE.items(), WORDS)]
    made += [f"{code}{end}" for code, end in zip([*CODE.values()] * 5, ENDS * 5, strict=False)]
    made += [f"{words}{end}" for words, end in product(WORDS, ENDS[1:])]
    found = list(dict.fromkeys(made))
    assert len(found) >= 300
    return found[:300:3]
