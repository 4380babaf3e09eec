import "../style/todo.css";
import type { TodoItem } from "../../src/protocol/types";
import { Icon, type IconName } from "./Icon";
import { t } from "../language";

const STATUS: Record<TodoItem["status"], { icon: IconName; word: string }> = {
  completed: { icon: "check", word: t.done },
  in_progress: { icon: "half", word: t.inProgress },
  pending: { icon: "circle", word: t.toDo },
  cancelled: { icon: "dash", word: t.dropped },
};

/** The chat's todo list: one line that unfolds. */
export function TodoList({ items }: { items: readonly TodoItem[] }) {
  const counted = items.filter((item) => item.status !== "cancelled");
  const done = counted.filter((item) => item.status === "completed");
  const next =
    counted.find((item) => item.status === "in_progress") ?? counted.find((item) => item.status === "pending");
  if (counted.length === 0) return null;
  return (
    <details key={next === undefined ? "done" : "open"} class="todo">
      <summary>
        <Icon name="down" />
        <span class="todo-count">
          {done.length}/{counted.length}
        </span>
        <span class="visually-hidden">{t.doneOf}</span>
        <bdi class="todo-next">{next?.content ?? t.allDone}</bdi>
      </summary>
      <ol class="todo-items" tabIndex={0} aria-label={t.todoList}>
        {items.map((item, index) => (
          <li key={`${index} ${item.content}`} class="todo-item" data-status={item.status}>
            <Icon name={STATUS[item.status].icon} />
            <span class="visually-hidden">{STATUS[item.status].word}: </span>
            <bdi>{item.content}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}
