// A Markdown text, also while it grows.
import "../style/markdown.css";
import "../style/maths.css";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { NOTHING, split, type Cut } from "./blocks";
import { Code } from "./Code";
import { Html } from "./Html";
import { canShow, hasMaths, loadMaths } from "./maths";
import { htmlOf } from "./rendering";

/** `streaming` while more may come: the last block's code is not highlighted yet. */
export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const cut = useRef<Cut>(NOTHING);
  cut.current = split(text, cut.current);
  const { blocks } = cut.current;
  return (
    <div class="markdown">
      {blocks.map((block) =>
        block.kind === "code" ? (
          <Code
            key={block.start}
            code={block.code}
            language={block.language}
            growing={streaming && !block.closed && block === blocks[blocks.length - 1]}
          />
        ) : (
          <Text key={block.start} text={block.text} />
        ),
      )}
    </div>
  );
});

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
