import type { ToolOffer } from "../../src/protocol/types";
import { Visible } from "./Visible";
import { t } from "../language";

/** Whether each tool is offered to the model, and why, by category. */
export function Offered({ tools }: { tools: readonly ToolOffer[] }) {
  const categories = [...new Set(tools.map(({ category }) => category))];
  const offered = tools.filter((tool) => tool.offered).length;
  return (
    <section aria-labelledby="tools-title">
      <h2 id="tools-title">
        {t.toolsOffered} <span class="hint">{t.toolsOfAll(offered, tools.length)}</span>
      </h2>
      <dl class="offered">
        {categories.map((category) => (
          <div key={category}>
            <dt>{category}</dt>
            {tools
              .filter((tool) => tool.category === category)
              .map((tool) => (
                <dd key={tool.name} data-offered={tool.offered}>
                  <code dir="ltr">
                    <Visible text={tool.name} />
                  </code>{" "}
                  <span class="hint">
                    {tool.offered ? t.toolOffered : t.toolNotOffered}: <Visible text={tool.reason} />
                  </span>
                </dd>
              ))}
          </div>
        ))}
      </dl>
    </section>
  );
}
