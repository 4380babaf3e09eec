"""TodoWrite: the task list of the chat (T-7)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codelaw.domain.chats import Todo
from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.todo_list import recap

MAX_ITEMS = 20
MAX_CONTENT = 200


class TodoArguments(Arguments):
    content: str = Field(min_length=1, max_length=MAX_CONTENT)
    status: Literal["pending", "in_progress", "completed", "cancelled"]


class TodoWriteArguments(Arguments):
    todos: list[TodoArguments] = Field(max_length=MAX_ITEMS)


class TodoWrite(Tool[TodoWriteArguments]):
    """Data: `todos, recap`."""

    name = "TodoWrite"
    description = "Replace the task list; at most one item in progress."
    arguments = TodoWriteArguments
    effect = "state"

    def title(self, args: TodoWriteArguments) -> str:
        return f"Plan {len(args.todos)} tasks"

    async def run(self, args: TodoWriteArguments, env: ToolEnvironment) -> ToolResult:
        todos = tuple(Todo(item.content, item.status) for item in args.todos)
        active = sum(todo.status == "in_progress" for todo in todos)
        if active > 1:
            raise ToolFailure("INVALID_PARAM", f"todos: {active} items are in_progress; at most 1 may be.")
        blank = [index for index, todo in enumerate(todos) if not todo.content.strip()]
        if blank:
            raise ToolFailure("INVALID_PARAM", f"todos[{blank[0]}].content is blank; it must say something.")
        env.todos.now = todos
        data = {
            "todos": [{"content": todo.content, "status": todo.status} for todo in todos],
            "recap": recap(todos),
        }
        return ToolResult("success", data, "The list is replaced.")
