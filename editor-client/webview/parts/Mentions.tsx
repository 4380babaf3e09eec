import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useId } from "../ids";
import type { MentionItem } from "../../src/protocol/types";
import "../style/completion.css";
import { useHands } from "../hands";
import type { Asked } from "../panel";
import {
  type Begun,
  type Typed,
  canBeMentioned,
  commandAt,
  complete,
  completeCommand,
  goesOn,
  mentionAt,
} from "../text/mention";
import { Icon } from "./Icon";
import { choiceId, Listbox, moved } from "./Listbox";
import { t } from "../language";

const PAUSE = 80;
const LIMIT = 30;

/** What may be chosen: a file, a folder, or a command, whose name is its path. */
type Item = Omit<MentionItem, "kind"> & { kind: MentionItem["kind"] | "command" };

interface Found {
  /** What was asked for; of commands all are listed. */
  prefix: string | null;
  items: Item[];
  failed: string;
}

/** The completion of mentions in a text field: what the field has to call, and what it has to show. */
export interface Completion {
  id: string;
  begun: Begun | null;
  items: Item[];
  active: number;
  /** Why there is no list, when asking for it failed. */
  failed: string;
  /** To be called when the text or the caret changed; only typing opens the list. */
  follow: (typed: boolean) => void;
  close: () => void;
  /** Takes the key when it is meant for the list. */
  onKey: (event: KeyboardEvent) => boolean;
  choose: (index: number) => void;
}

/** Watch a field for mentions that are being typed; `write` puts a completed text in it. */
export function useCompletion(field: RefObject<HTMLTextAreaElement>, write: (typed: Typed) => void): Completion {
  const { panel } = useHands();
  const [begun, setBegun] = useState<Begun | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  const [active, setActive] = useState(0);
  const command = begun?.command === true;
  const prefix = begun === null ? null : command ? "" : begun.prefix;
  const id = useId();

  useEffect(() => {
    if (prefix === null) {
      setFound(null);
      return;
    }
    let asked: Asked<unknown> | null = null;
    let stale = false;
    const listed = (): Promise<Item[]> => {
      if (command) {
        return called((request) => {
          asked = request;
        });
      }
      const request = panel.request("codelaw/context/mentions", { prefix, limit: LIMIT });
      asked = request;
      return request.then(({ items }) => items.filter((item) => canBeMentioned(item.path)));
    };
    /** Commands, and behind them the skills whose names none of them has; `wait` is told what is asked. */
    const called = async (wait: (request: Asked<unknown>) => void): Promise<Item[]> => {
      const first = panel.request("codelaw/command/list", {});
      wait(first);
      const { commands } = await first;
      if (stale) return [];
      const second = panel.request("codelaw/skill/list", {});
      wait(second);
      const names = new Set(commands.map((one) => one.name));
      const skills = (await second).skills.filter(
        (one) => one.shadowed === undefined && one.unreadable !== true && !names.has(one.name),
      );
      return [...commands, ...skills].map((one) => ({ kind: "command", path: one.name, detail: one.description }));
    };
    const ask = (): void => {
      listed().then(
        (items) => {
          asked = null;
          if (stale) return;
          setActive(0);
          setFound({ prefix: command ? null : prefix, items, failed: "" });
        },
        (problem: unknown) => {
          asked = null;
          const failed = problem instanceof Error ? problem.message : "";
          if (!stale) setFound({ prefix: command ? null : prefix, items: [], failed });
        },
      );
    };
    const timer = setTimeout(ask, PAUSE);
    return () => {
      stale = true;
      clearTimeout(timer);
      if (asked !== null) panel.tell({ kind: "withdraw", id: asked.id });
    };
  }, [prefix, command, panel]);

  const items = begun === null || found === null ? [] : fitting(found, begun.prefix);
  const close = (): void => setBegun(null);

  const choose = (index: number): void => {
    const item = items[index];
    const text = field.current?.value;
    if (item === undefined || begun === null || text === undefined) return;
    const typed =
      item.kind === "command"
        ? completeCommand(text, begun, item.path)
        : complete(text, begun, { path: item.path, kind: item.kind });
    write(typed);
    setActive(0);
    const more = item.kind === "folder" || (item.kind !== "command" && goesOn({ path: item.path, kind: item.kind }));
    setBegun(more ? mentionAt(typed.text, typed.caret) : null);
  };

  const follow = (typed: boolean): void => {
    const at = field.current;
    if (at === null || (!typed && begun === null)) return;
    const next = at.selectionStart === at.selectionEnd ? begunAt(at.value, at.selectionStart) : null;
    if (next !== null && (typed || next.start === begun?.start)) setBegun(next);
    else close();
  };

  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key === " " && event.ctrlKey) {
      follow(true);
      return true;
    }
    if (begun === null || (items.length === 0 && found?.failed === undefined)) return false;
    if (event.key === "Escape") {
      close();
      return true;
    }
    if (items.length === 0 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
    if (event.key === "Enter" || event.key === "Tab") {
      choose(Math.min(active, items.length - 1));
      return true;
    }
    const next = moved(event.key, active, items.length);
    if (next === null) return false;
    setActive(next);
    return true;
  };

  return {
    id,
    begun,
    items,
    active,
    failed: begun === null ? "" : (found?.failed ?? ""),
    follow,
    close,
    onKey,
    choose,
  };
}

const begunAt = (text: string, caret: number): Begun | null => commandAt(text, caret) ?? mentionAt(text, caret);

/** What was found, as far as it still fits; nothing when all that is left is what stands there already. */
function fitting(found: Found, prefix: string): Item[] {
  const wanted = prefix.toLowerCase();
  const items =
    found.prefix === prefix
      ? found.items
      : found.items.filter(({ path }) => {
          const lower = path.toLowerCase();
          const named = lower.slice(lower.lastIndexOf("/") + 1).startsWith(wanted);
          // Among several folders of the workspace a path may be typed without the folder's name.
          return named || lower.startsWith(wanted) || (wanted.includes("/") && lower.includes(`/${wanted}`));
        });
  const only = items.length === 1 ? items[0] : undefined;
  return only !== undefined && only.kind !== "folder" && only.path === prefix ? [] : items;
}

/** The list of files and folders that a mention may become. */
export function Mentions({ completion }: { completion: Completion }) {
  const { id, begun, items, active, failed, choose } = completion;
  const open = items.length > 0;
  const command = begun?.command === true;
  return (
    <>
      <div class="visually-hidden" role="status">
        {open ? (command ? t.commandsFound : t.filesFound)(items.length) : ""}
      </div>
      {failed !== "" && (
        <p class="popup popup-hint completion">{(command ? t.commandsUnlisted : t.filesUnlisted)(failed)}</p>
      )}
      {open && (
        <div class="popup completion">
          <Listbox
            id={id}
            label={command ? t.commands : t.files}
            active={Math.min(active, items.length - 1)}
            onChoose={choose}
            choices={items.map((item) => ({ key: item.path, content: <Path item={item} /> }))}
          />
        </div>
      )}
    </>
  );
}

function Path({ item }: { item: Item }) {
  if (item.kind === "command")
    return (
      <>
        <Icon name="terminal" />
        <bdi class="completion-name">/{item.path}</bdi>
        {item.detail !== undefined && <bdi class="completion-folder">{item.detail}</bdi>}
      </>
    );
  const cut = isPath(item.kind) ? item.path.replace(/\/$/u, "").lastIndexOf("/") + 1 : 0;
  const folder = item.path.slice(0, cut).replace(/\/$/u, "");
  return (
    <>
      <Icon name={item.kind === "resource" ? "terminal" : item.kind} />
      <bdi class="completion-name">
        {item.path.slice(cut)}
        {item.kind === "folder" && !item.path.endsWith("/") && "/"}
      </bdi>
      {folder !== "" && <bdi class="completion-folder">{folder}</bdi>}
      {item.detail !== undefined && <span class="completion-folder">{item.detail}</span>}
    </>
  );
}

const isPath = (kind: Item["kind"]): boolean => kind === "file" || kind === "folder";

/** The id of the line that the keys are at, for the field's `aria-activedescendant`. */
export const activeChoice = ({ id, items, active }: Completion): string | undefined =>
  items.length === 0 ? undefined : choiceId(id, Math.min(active, items.length - 1));
