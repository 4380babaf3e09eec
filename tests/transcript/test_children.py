"""What a child turn said stands in the record beside its call, and in no view of the history (X-4)."""

from __future__ import annotations

from codelaw.agent.chat.crash_recovery import last_events, last_words
from codelaw.agent.recording.history import Past
from codelaw.domain.chats import Chat, StoredChat, StoredTurn
from codelaw.domain.events import ChatEvent, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.chat_file.markdown import transcript
from codelaw.transcript.chat_file.story import block_body, stories
from codelaw.transcript.repair.repairs import sanitised
from codelaw.transcript.transcript import own

TASK = Call("task_1", "Task", {"kind": "explore", "prompt": "look"})
GREP = Call("grep_1", "Grep", {"pattern": "x"})
SAID = (
    Message("ask_t", "t", "user", "what is it?"),
    Message("say_t_1", "t", "assistant", "I ask somebody.", Metadata(step=1, calls=(TASK,))),
    Message("ask_task_1", "t", "user", "look", Metadata(parent="task_1")),
    Message("say_task_1_7", "t", "assistant", "I search.", Metadata(step=7, calls=(GREP,), parent="task_1")),
)


def stored(*messages: Message) -> StoredChat:
    chat = Chat("c", "A chat", "panel", "agent", "m", "layered", 0.0, 0.0)
    return StoredChat(chat, messages, (StoredTurn("t", "c", "ended", "me", 0.0),))


def heard(*events: ToolCallEvent | TurnStarted) -> list[ChatEvent]:
    return [ChatEvent("c", "t", number, 0.0, event) for number, event in enumerate(events, 1)]


def test_the_history_of_a_chat_has_its_own_messages_only():
    past = Past("c", None)  # type: ignore[arg-type] - the store is not asked
    past.take(stored(*SAID), set())
    assert [message.id for message in past.transcript.messages][:2] == ["ask_t", "say_t_1"]
    assert not any(message.metadata.parent for message in past.transcript.messages)
    assert [message.id for message in own(SAID)] == ["ask_t", "say_t_1"]


def test_repair_leaves_the_parent_where_it_is():
    odd = Message("say", "t", "user", "look", Metadata(step=1, calls=(GREP,), parent="task_1"))
    mended, _ = sanitised((odd, *SAID))
    assert [message.metadata.parent for message in mended] == ["task_1", None, None, "task_1", "task_1"]
    assert sanitised(SAID)[0] is SAID


def test_a_crash_inside_a_child_closes_its_calls_and_its_task():
    turn = StoredTurn("t", "c", "running", "gone", 0.0)
    words = last_words(turn, SAID)
    assert [(message.metadata.call_id, message.metadata.parent) for message in words] == [
        ("task_1", None),
        ("grep_1", "task_1"),
        (None, None),
    ]
    assert all("interrupted" in message.content for message in words)
    reported_last = last_events(turn, SAID, heard(TurnStarted("what is it?")))
    calls = [event for event in reported_last if isinstance(event, ToolCallEvent)]
    assert [(event.call_id, event.parent, event.step, event.status) for event in calls] == [
        ("task_1", None, 1, "interrupted"),
        ("grep_1", "task_1", 7, "interrupted"),
    ]
    ended = reported_last[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.result.steps == 1


def test_a_chat_file_and_an_export_tell_the_calls_of_a_child_as_such():
    events = heard(
        TurnStarted("what is it?"),
        ToolCallEvent("task_1", "Task", "explore: look", "running", 1),
        ToolCallEvent("grep_1", "Grep", "Search x", "completed", 7, parent="task_1"),
        ToolCallEvent("task_1", "Task", "explore: look", "completed", 1, summary="It finished."),
    )
    story = stories(events)["t"]
    assert block_body(story).splitlines() == ["> - ↳ Search x", "> - explore: look: It finished."]
    chat = stored().chat
    text = transcript(chat, SAID, events)
    assert "#### ↳ Search x (completed)" in text
    assert "### Step 7" not in text
    assert text.count("what is it?") == 1
    without = transcript(chat, SAID, [])
    assert "I ask somebody." in without
    assert "I search." not in without
