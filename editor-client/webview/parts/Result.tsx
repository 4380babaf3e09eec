import { useMemo, useState } from "preact/hooks";
import type { ToolCall } from "../../src/protocol/types";
import { useHands } from "../hands";
import { ansiHtml, plain } from "../text/ansi";
import { Growing } from "../text/Growing";
import { Html } from "../text/Html";
import { partsOf } from "../text/toolResult";
import { Visible } from "./Visible";
import { t } from "../language";

/** Of a longer text only the beginning is shown at first. */
const CHARACTERS = 20_000;

/** From so many lines on a text is offered as a document of its own. */
const LINES = 20;

/** Facts for programs. */
const DULL = new Set(["mtime", "size", "source", "applied", "replacements", "changed_lines", "sandboxed"]);

/** What a tool gave, without what its call or its diff says already. */
export function Result({ content, call }: { content: string; call: ToolCall }) {
  const { error, text, bodies, facts: all } = useMemo(() => partsOf(content), [content]);
  const facts = all.filter(({ name, value }) => !DULL.has(name) && call.args?.[name] !== value);
  return (
    <div class="result">
      {error !== "" && (
        <p class="error" dir="auto">
          <Visible text={error} />
        </p>
      )}
      {text !== "" && text !== error && (
        <p dir="auto">
          <Visible text={text} />
        </p>
      )}
      {bodies.map(({ name, text: body }) =>
        (name === "diff" && call.diff !== undefined) || call.args?.[name] === body ? null : (
          <Output key={name} name={name} text={body} title={call.title} />
        ),
      )}
      {facts.length > 0 && (
        <dl class="facts">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="ltr">
                <Visible text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

function Output({ name, text, title }: { name: string; text: string; title: string }) {
  const { panel } = useHands();
  const [whole, setWhole] = useState(false);
  const shown = whole || text.length <= CHARACTERS ? text : text.slice(0, CHARACTERS);
  const html = useMemo(() => ansiHtml(shown), [shown]);
  return (
    <figure class="output" dir="ltr">
      <figcaption>{name}</figcaption>
      <pre tabIndex={0}>
        {html === null ? <Growing as="code" text={plain(shown)} /> : <Html as="code" html={html} />}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="link-button show-all" onClick={() => setWhole(true)}>
          {t.showAllCharacters(text.length)}
        </button>
      )}
      {text.split("\n", LINES).length === LINES && (
        <button
          type="button"
          class="link-button show-all"
          onClick={() => panel.tell({ kind: "showText", title: `${title} ${name}`, text: plain(text) })}
        >
          {t.openWhole}
        </button>
      )}
    </figure>
  );
}
