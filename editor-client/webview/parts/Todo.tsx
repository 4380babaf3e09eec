import "../style/todo.css";
import type { TodoItem } from "../../src/protocol/types";
import { Icon, type IconName } from "./Icon";

const STATUS: Record<TodoItem["status"], { icon: IconName; word: string }> = {
  completed: { icon: "check", word: "Done" },
  in_progress: { icon: "half", word: "In progress" },
  pending: { icon: "circle", word: "To do" },
  cancelled: { icon: "dash", word: "Dropped" },
};

/** The chat's todo list: one line that unfolds. */
export function TodoList({ items }: { items: readonly TodoItem[] }) {
  const counted = items.filter((item) => item.status !== "cancelled");
  const done = counted.filter((item) => item.status === "completed");
  const next =
    counted.find((item) => item.status === "in_progress") ?? counted.find((item) => item.status === "pending");
  if (counted.length === 0) return null;
  return (
    <details class="todo">
      <summary>
        <Icon name="down" />
        <span class="todo-count">
          {done.length}/{counted.length}
        </span>
        <span class="visually-hidden"> done. </span>
        <bdi class="todo-next">{next?.content ?? "All done"}</bdi>
      </summary>
      <ol class="todo-items" tabIndex={0} aria-label="Todo list">
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
