"""What the messages of commits say of files (X-5)."""

from __future__ import annotations

from codelaw.ranking.code.digest import digested
from codelaw.ranking.code.frame import framed
from codelaw.ranking.code.hints import MOST_FILES, CommitHistory, recorded, reported
from codelaw.ranking.code.question import Hints, asked
from codelaw.ranking.code.scoring import best_files, places

FILES = {
    "a.py": "def run(job):\n    return job.state\n",
    "b.py": "def walk(job):\n    return job.state\n",
    "c.py": "def draw(job):\n    return job.state\n",
}
FRAME = framed({path: digested(path, text) for path, text in FILES.items()})


def test_a_file_is_found_by_what_was_said_when_it_changed() -> None:
    history = recorded([("Draw nothing twice", ("c.py",)), ("Retry what timed out", ("b.py",))], FILES)
    question = asked("job state when it timed out")
    assert best_files(FRAME, asked("job state"), 1) == ["a.py"]
    assert best_files(FRAME, question, 1, Hints(reported(history, question))) == ["b.py"]
    assert places(FRAME, question, limit=3, hints=Hints(reported(history, question)))[0].path == "b.py"


def test_sweeping_commits_files_that_are_gone_and_trailers_say_nothing() -> None:
    many = tuple(f"{n}.py" for n in range(MOST_FILES + 1))
    changes = [
        ("Retry everywhere", (*many, "a.py")),
        ("Retry here", ("gone.py",)),
        ("Walk\n\nSigned-off-by: Retry <retry@example.org>", ("b.py",)),
    ]
    assert reported(recorded(changes, FILES), asked("retry")) == {}
    assert reported(CommitHistory(), asked("retry")) == {}


def test_what_a_small_frame_lies_over_is_told_of_the_same_commits() -> None:
    edited = framed({"a.py": digested("a.py", "def run(job):\n    return 1\n")}, FRAME)
    question = asked("job state when it timed out")
    said = reported(recorded([("Retry what timed out", ("b.py",))], FILES), question)
    assert places(edited, question, limit=3, hints=Hints(said))[0].path == "b.py"
