// The item in the status bar: how the server is, and how full the window of the shown chat.
import { Disposable, MarkdownString, StatusBarAlignment, type StatusBarItem, ThemeColor, window } from "vscode";
import { amount, cost, percent } from "./amounts";
import type { Known, Shown } from "./chat/shown";
import type { Approvals } from "./editor/approvals";
import { t } from "./language";
import type { ServerState } from "./messages";
import type { Wire } from "./server/wire";

/** What the item shows. */
export interface Told {
  text: string;
  /** What a screen reader says. */
  label: string;
  /** Lines of the tooltip. */
  lines: string[];
  alert: "none" | "warning" | "error";
}

const ICONS: Record<ServerState["phase"], string> = {
  searching: "sync~spin",
  missing: "warning",
  installing: "sync~spin",
  starting: "sync~spin",
  ready: "law",
  crashed: "error",
  stopped: "circle-slash",
};

/** Keeps the item as the server, the questions and the shown chat are. */
export function showStatus(wire: Wire, shown: Shown, approvals: Approvals): Disposable {
  const item = window.createStatusBarItem("codelaw.status", StatusBarAlignment.Right, 100);
  item.name = "codelaw";
  item.command = "codelaw.open";
  const draw = (): void => {
    put(item, tellStatus(wire.state, approvals.open.length, shown.known));
  };
  draw();
  item.show();
  return Disposable.from(
    item,
    wire.onState(draw),
    shown.onChange(draw),
    approvals.onOpen(draw),
    approvals.onClose(draw),
  );
}

/** In words what is to be shown. */
export function tellStatus(server: ServerState, questions: number, known: Readonly<Known> | null): Told {
  const parts = ["codelaw"];
  const lines: string[] = [];
  let icon = ICONS[server.phase];
  let words = t.phases[server.phase];
  let alert: Told["alert"] = server.phase === "crashed" ? "error" : server.phase === "missing" ? "warning" : "none";
  if (server.phase === "ready") {
    if (questions > 0) {
      icon = "question";
      words = t.asks(questions);
      parts.push(words);
      alert = "warning";
    } else if (known?.running === true) {
      icon = "loading~spin";
      words = t.running;
    } else if (server.offline && (known?.chat?.model ?? "offline") === "offline") {
      words = t.offline;
      parts.push(words);
      lines.push(t.offlineModel);
    }
    const use = known?.usage;
    if (use && use.contextWindow > 0) {
      const share = percent(use.contextTokens, use.contextWindow);
      parts.push(share);
      words += `, ${t.windowUsed(share)}`;
      lines.push(t.contextOf(amount(use.contextTokens), amount(use.contextWindow), share));
    }
    if (known?.chat) lines.unshift(t.modelAndMode(known.chat.model, known.chat.mode));
    if (known?.turn) {
      const { totalTokens, costUsd } = known.turn;
      lines.push(`${t.lastTurn(amount(totalTokens))}${costUsd === undefined ? "" : ` · ${cost(costUsd)}`}`);
    }
  } else if (server.message !== "") lines.push(server.message);
  return {
    text: `$(${icon}) ${parts.join(" · ")}`,
    label: `codelaw: ${words}`,
    lines: [`codelaw${server.version === undefined ? "" : ` ${server.version}`}: ${words}`, ...lines],
    alert,
  };
}

function put(item: StatusBarItem, { text, label, lines, alert }: Told): void {
  item.text = text;
  item.accessibilityInformation = { label, role: "button" };
  const tooltip = new MarkdownString();
  // Names of models and messages are plain text here.
  for (const line of lines) tooltip.appendText(line).appendMarkdown("\n\n");
  item.tooltip = tooltip;
  item.backgroundColor = alert === "none" ? undefined : new ThemeColor(`statusBarItem.${alert}Background`);
}
