// A Markdown text, also while it grows.
import "../style/markdown.css";
import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";
import { NOTHING, split, type Cut } from "./blocks";
import { Code } from "./Code";
import { Html } from "./Html";
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
  const html = useMemo(() => htmlOf(text), [text]);
  return <Html html={html} />;
});
