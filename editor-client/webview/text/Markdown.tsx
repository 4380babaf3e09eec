// A Markdown text, also while it grows.
import "../style/markdown.css";
import "../style/maths.css";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { NOTHING, split, type Block, type Cut } from "./blocks";
import { Code } from "./Code";
import { Html } from "./Html";
import { canShow, hasMaths, loadMaths } from "./maths";
import { htmlOf } from "./rendering";

/** So many blocks make a stretch: while an answer grows, those before its end are neither compared nor drawn. */
const STRETCH = 32;

/** `streaming` while more may come: the last block's code is not highlighted yet. */
export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const cut = useRef<Cut>(NOTHING);
  cut.current = split(text, cut.current);
  const { blocks } = cut.current;
  const first = Array.from({ length: Math.ceil(blocks.length / STRETCH) }, (_, place) => place * STRETCH);
  return (
    <div class="markdown">
      {first.map((from) => (
        <Stretch
          key={from}
          blocks={blocks.slice(from, from + STRETCH)}
          growing={streaming && from + STRETCH >= blocks.length}
        />
      ))}
    </div>
  );
});

interface StretchProps {
  blocks: readonly Block[];
  /** Its last block may still grow. */
  growing: boolean;
}

const Stretch = memo(
  function Stretch({ blocks, growing }: StretchProps) {
    // Only of what has grown in sight the browser knows how high it is.
    const grew = useRef(growing);
    return (
      <div class={grew.current && !growing ? "stretch settled" : "stretch"}>
        {blocks.map((block) =>
          block.kind === "code" ? (
            <Code
              key={block.start}
              code={block.code}
              language={block.language}
              growing={growing && !block.closed && block === blocks[blocks.length - 1]}
            />
          ) : (
            <Text key={block.start} text={block.text} />
          ),
        )}
      </div>
    );
  },
  (before: StretchProps, after: StretchProps) =>
    before.growing === after.growing &&
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, place) => block === after.blocks[place]),
);

const Text = memo(function Text({ text }: { text: string }) {
  const ready = useMaths(text);
  const html = useMemo(() => htmlOf(text), [text, ready]);
  return <Html html={html} />;
});

/** Whether formulas are shown as such; a text that may have one gets what shows them. */
function useMaths(text: string): boolean {
  const [ready, setReady] = useState(canShow);
  const wanted = !ready && hasMaths(text);
  useEffect(() => {
    if (wanted) void loadMaths().then(() => setReady(true));
  }, [wanted]);
  return ready;
}
