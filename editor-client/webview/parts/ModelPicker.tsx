import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ids";
import type { Model } from "../../src/protocol/types";
import { useHands } from "../hands";
import { amount, cost } from "../../src/amounts";
import { Icon } from "./Icon";
import { choiceId, Listbox, moved } from "./Listbox";
import { Visible } from "./Visible";
import { t } from "../language";

interface Props {
  models: readonly Model[];
  /** Empty where no model is known yet. */
  value: string;
  /** Tokens of the chat that another model would have to read. */
  held: number;
  open: boolean;
  onOpen: (wanted: boolean) => void;
  onChoose: (name: string) => void;
}

interface Line {
  name: string;
  /** What it stands under: its provider, or that the editor lends it. */
  group: string;
  hint: string;
}

/** A button that opens the models with a field above them: typing filters, and any other name may be typed. */
export function ModelPicker({ models, value, held, open, onOpen, onChoose }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const shown = value === "" ? "default" : value;
  const close = (): void => {
    onOpen(false);
    button.current?.focus();
  };
  return (
    <div
      class="picker picker-model"
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (open && !(to instanceof Node && event.currentTarget.contains(to))) onOpen(false);
      }}
    >
      <button
        ref={button}
        type="button"
        class="picker-button"
        aria-label={t.modelIs(shown)}
        title={t.modelIs(shown)}
        aria-haspopup="dialog"
        aria-expanded={open}
        onMouseDown={(event) => {
          if (open) event.preventDefault();
        }}
        onClick={() => (open ? close() : onOpen(true))}
        onKeyDown={(event) => {
          if (open || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
          event.preventDefault();
          onOpen(true);
        }}
      >
        <span class="picker-what">{t.model}</span>
        <span class="picker-value">{shown}</span>
        <Icon name="down" />
      </button>
      {open && (
        <ModelList
          models={models}
          value={value}
          held={held}
          onClose={close}
          onChoose={(name) => {
            close();
            if (name !== value) onChoose(name);
          }}
        />
      )}
    </div>
  );
}

interface ListProps {
  models: readonly Model[];
  value: string;
  held: number;
  onClose: () => void;
  onChoose: (name: string) => void;
}

function ModelList({ models, value, held, onClose, onChoose }: ListProps) {
  const { panel } = useHands();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState<number | null>(null);
  const [failed, setFailed] = useState("");
  const [problems, setProblems] = useState<readonly string[]>([]);

  useEffect(() => {
    field.current?.focus();
    let gone = false;
    const asked = panel.request("codelaw/model/list", { discover: true });
    asked.then(
      ({ models: list, problems: told = [] }) => {
        panel.dispatch({ kind: "models", models: list });
        if (!gone) setProblems(told);
      },
      (problem: unknown) => {
        if (!gone) setFailed(problem instanceof Error ? problem.message : t.modelsUnknown);
      },
    );
    return () => {
      gone = true;
    };
  }, [panel]);

  const chosen = models.find((model) => model.name === value);
  const lines = linesOf(models, typed, (model) => (model.name === value ? 0 : held));
  const several = new Set(lines.map(({ group }) => group)).size > 1;
  const current = lines.findIndex((line) => line.name === value);
  const at = Math.min(active ?? Math.max(0, current), lines.length - 1);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") {
      const line = lines[at];
      if (line !== undefined) onChoose(line.name);
    } else {
      const next = moved(event.key, at, lines.length);
      if (next === null) return;
      setActive(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="popup" role="dialog" aria-label={t.model}>
      <input
        ref={field}
        class="picker-field"
        type="text"
        role="combobox"
        aria-label={t.findModel}
        placeholder={t.findOrType}
        aria-expanded={lines.length > 0}
        aria-autocomplete="list"
        aria-controls={lines.length > 0 ? id : undefined}
        aria-activedescendant={lines.length > 0 ? choiceId(id, at) : undefined}
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(event.currentTarget.value.trim() === "" ? null : 0);
        }}
        onKeyDown={onKeyDown}
      />
      {failed !== "" && (
        <p class="popup-hint" role="status">
          {t.modelsUnlisted(failed)}
        </p>
      )}
      {lines.length > 0 && (
        <Listbox
          id={id}
          label={t.models}
          active={at}
          onChoose={(index) => {
            const line = lines[index];
            if (line !== undefined) onChoose(line.name);
          }}
          choices={lines.map((line, index) => ({
            key: line.name,
            selected: line.name === value,
            ...(several && line.group !== lines[index - 1]?.group ? { heading: line.group } : {}),
            content: (
              <>
                <Icon name={line.name === value ? "check" : "blank"} />
                <span class="choice-text">
                  <bdi class="choice-title">{line.name}</bdi>
                  <span class="choice-hint">{line.hint}</span>
                </span>
              </>
            ),
          }))}
        />
      )}
      {problems.length > 0 && (
        <details class="popup-hint">
          <summary>{t.notesOnLists(problems.length)}</summary>
          {problems.map((problem) => (
            <p key={problem}>
              <Visible text={problem} />
            </p>
          ))}
        </details>
      )}
      {chosen?.largestWindow !== undefined && (
        <button
          type="button"
          class="link-button raise-window"
          title={t.raiseWindowHint}
          onClick={() => {
            panel.tell({ kind: "raiseWindow", model: chosen.name });
            onClose();
          }}
        >
          {t.raiseWindow(
            amount(chosen.contextWindow),
            amount(chosen.largestWindow),
            priceOf(chosen, chosen.largestWindow),
          )}
        </button>
      )}
    </div>
  );
}

/** What a request of so many tokens costs, from the cache and anew; empty where nobody knows. */
function priceOf(model: Model, tokens: number): string {
  const { priceIn, priceRead } = model;
  if (priceIn === undefined || priceRead === undefined) return "";
  return t.fullRequest(costOf(model, tokens, priceRead), costOf(model, tokens, priceIn));
}

function costOf({ priceSteps = [] }: Model, tokens: number, price: number): string {
  const times = priceSteps.findLast(({ above }) => tokens > above)?.input ?? 1;
  return cost((tokens * price * times) / 1_000_000);
}

/** Sizes, prices and effort of a model, as far as they are known, and what it costs to have it read `held` tokens. */
function hintOf(model: Model, held: number): string {
  const { contextWindow, priceIn, priceOut, effort = [], current } = model;
  return [
    t.tokens(amount(contextWindow)),
    ...(priceIn === undefined || priceOut === undefined ? [] : [t.pricesOf(cost(priceIn), cost(priceOut))]),
    ...(effort.length > 1 ? [t.effortOf(`${effort[0]} – ${effort[effort.length - 1]}`)] : []),
    ...(current ? [t.default] : []),
    ...(held === 0 || priceIn === undefined ? [] : [t.readsAnew(costOf(model, held, priceIn))]),
  ].join(" · ");
}

/** The models that a typed text fits, those that can answer without more in front, and the text itself as a name where it is none of theirs. */
function linesOf(models: readonly Model[], typed: string, heldBy: (model: Model) => number): Line[] {
  const name = typed.trim();
  const lines = models
    .filter((model) => model.name.toLowerCase().includes(name.toLowerCase()))
    .map((model) => ({
      name: model.name,
      group: model.source === "editor" ? t.fromEditor : model.provider,
      hint: hintOf(model, heldBy(model)),
    }));
  if (name !== "" && !models.some((model) => model.name === name))
    lines.push({ name, group: t.ownName, hint: t.useName });
  const lends = ({ group }: Line): boolean => group === t.fromEditor;
  const unable = models.some(({ current, provider }) => current && provider === "offline");
  const first = unable
    ? (line: Line): boolean => lends(line) || line.name.startsWith(`${line.group}/`)
    : (line: Line): boolean => !lends(line);
  return [...lines.filter(first), ...lines.filter((line) => !first(line))];
}
