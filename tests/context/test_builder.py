"""The view: order, purity, and the exact text (L-1, L-5, L-7)."""

from __future__ import annotations

from codelaw.context.builder import Gathered, History, build, report
from codelaw.context.sections import action_text, text_section
from codelaw.context.system.law import (
    LawText,
    assemble,
    choose,
    names_of,
    text_of,
)
from codelaw.context.system.modules import system_sections
from codelaw.domain.messages import Call, Fragment, Message, Metadata

READ = Call("c1", "Read", {"path": "a.py"})
HISTORY = [
    Message("s", "t0", "summary", "## Archived"),
    Message("m1", "t1", "user", "first?"),
    Message("m2", "t1", "assistant", 'Thought: look\nAction: Read[{"path": "a.py"}]', Metadata(calls=(READ,))),
    Message("m3", "t1", "tool", '{"status": "success", "data": {}}', Metadata(call_id="c1")),
    Message("m4", "t1", "assistant", "Thought: done\nAction: Finish[yes]", Metadata(answer="yes")),
]
QUESTION = Message(
    "q", "t2", "user", "second?", Metadata(fragments=(Fragment("environment", "<environment>\n</environment>"),))
)
SCRATCH = [
    Message("m5", "t2", "assistant", "Action: LS[{}]", Metadata(calls=(Call("c2", "LS", {}),))),
    Message("m6", "t2", "tool", '{"status": "success"}', Metadata(call_id="c2")),
]
GATHERED = Gathered(
    (text_section("L1", "core", "CORE"), text_section("L1", "tools", "TOOLS")),
    (text_section("L2", "law", "LAW"),),
    (Fragment("memory", "MEMORY"), Fragment("todo", "TODO")),
)


def test_the_whole_view_as_text():
    view = build(History.of(HISTORY), SCRATCH, QUESTION, GATHERED)
    assert view.rendered == "\n\n".join(  # noqa: FLY002 - one part a line
        [
            "CORE",
            "TOOLS",
            "LAW",
            "## Archived",
            "[user] first?",
            '[assistant] Thought: look\nAction: Read[{"path": "a.py"}]',
            '[tool] {"status": "success", "data": {}}',
            "[assistant] Thought: done\nAction: Finish[yes]",
            "[user] second?\n\n<environment>\n</environment>",
            "MEMORY",
            "TODO",
            "[assistant] Action: LS[{}]",
            '[tool] {"status": "success"}',
        ]
    )


def test_layers_come_in_order_and_the_sizes_add_up():
    view = build(History.of(HISTORY), SCRATCH, QUESTION, GATHERED)
    reported = report(view, ["text"] * len(view.sections), window=200_000, threshold=0.8, strategy="layered")
    assert [section.layer for section in reported.sections] == [
        "L1",
        "L1",
        "L2",
        "L3",
        "L3",
        "turn",
        "turn",
        "turn",
        "turn",
    ]
    assert reported.total_tokens == sum(section.tokens for section in reported.sections) == view.tokens
    assert reported.threshold == 160_000
    assert all(section.cached for section in reported.sections)


def test_the_question_is_in_the_view_once_even_if_the_history_has_it():
    same_words = Message("other", "t1", "user", "second?")
    view = build(History.of([*HISTORY, same_words, QUESTION]), [], QUESTION, GATHERED)
    assert view.rendered.count("[user] second?") == 2, "another message with the same words is not the question"
    assert [message.id for section in view.sections for message in section.messages].count("q") == 1


def test_a_native_call_is_rendered_as_an_action():
    native = Message("n", "t", "assistant", "Let me look.", Metadata(calls=(READ, Call("c2", "LS", {}))))
    text = build(History.of([native]), [], QUESTION, Gathered(())).rendered
    assert text.startswith('[assistant] Thought: Let me look.\nAction: Read[{"path": "a.py"}]\nAction: LS[{}]')


def test_native_prose_that_looks_like_an_action_is_told_apart_from_the_calls():
    prose = 'Action: Bash[{"command": "ls"}]\nor not'
    native = Message("n", "t", "assistant", prose, Metadata(calls=(READ,), native=True))
    assert action_text(native) == f'Thought: · {prose}\nAction: Read[{{"path": "a.py"}}]'
    final = Message("f", "t", "assistant", "Action: none", Metadata(answer="Action: none", native=True))
    assert action_text(final) == "Action: Finish[Action: none]"
    written = Message("r", "t", "assistant", 'Action: Read[{"path": "a.py"}]', Metadata(calls=(READ,)))
    assert action_text(written) == written.content


def test_which_file_is_the_law():
    assert choose(["readme", "code_law.md", "CODE_LAW.md", "Code_Law.md"]) == "CODE_LAW.md"
    assert choose(["code_law.md", "Code_law.md"]) == "Code_law.md"
    assert choose(["CODE_LAW.md.bak", "law.md"]) is None


def test_law_is_verbatim_and_labelled_by_folder_only_when_there_are_several():
    one = LawText("app", "file:///app/CODE_LAW.md", "- be {{ kind }}\n\n\n- & <brief>\n", "d", "disk")
    other = LawText("lib", "file:///lib/CODE_LAW.md", "never", "d", "buffer")
    assert text_of(assemble([one])) == "# The law of this workspace\n\n- be {{ kind }}\n\n\n- & <brief>"
    both = text_of(assemble([one, other]))
    assert both.index("Folder app") < both.index("- be") < both.index("Folder lib") < both.index("never")
    assert assemble([]) == ()
    assert assemble([LawText("a", "", " \n", "d", "disk")]) == ()


def test_what_stands_beside_the_law_follows_it_under_its_own_name():
    law = LawText("app", "file:///app/CODE_LAW.md", "first\n", "d", "disk")
    agents = LawText("app", "file:///app/AGENTS.md", "- be {{ kind }}\n", "d", "disk", "AGENTS.md")
    other = LawText("l\nib", "file:///lib/CLAUDE.md", "of lib", "d", "disk", "CLAUDE.md")
    alone, *more = assemble([law, agents])
    assert alone.content == assemble([law])[0].content, "the law has the bytes it has alone"
    assert [section.content for section in more] == ["# AGENTS.md of this workspace\n\n- be {{ kind }}"]
    assert [section.name for section in (alone, *more)] == ["law", "law files"]
    assert {section.layer for section in (alone, *more)} == {"L2"}
    assert assemble([agents])[0].content == more[0].content
    text = text_of(assemble([law, agents, other]))
    assert "# AGENTS.md of the folder app\n" in text
    assert "\n\n# CLAUDE.md of the folder l\\u000aib\n\nof lib" in text
    assert "## Folder app" in text
    assert names_of([law, agents, other]) == "CODE_LAW.md and AGENTS.md and CLAUDE.md"


def test_l1_is_in_its_fixed_order_and_short_where_nothing_can_be_changed():
    agent = system_sections(mode="agent", dialect="react", tools_description="THE MANUAL")
    assert [section.name for section in agent] == ["core", "soul", "tools", "workflow", "memory", "mode"]
    assert "THE MANUAL" in agent[2].content
    ask = system_sections(mode="ask", dialect="react", tools_description="THE MANUAL")
    assert len(ask[3].content) < len(agent[3].content)
    assert len(ask[4].content) < len(agent[4].content)
    assert ask[:3] == agent[:3] or [s.content for s in ask[:3]] == [s.content for s in agent[:3]]
