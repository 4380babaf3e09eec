import { useState } from "preact/hooks";
import type { ContextReport, Section } from "../../src/protocol/types";
import { amount, percent } from "../../src/amounts";
import { type Grouped, grouped, sectionTitle, TITLES } from "../text/sections";
import { Swatch } from "./ContextBar";
import { Exact } from "./Exact";
import { t } from "../language";

/** The id of a group's list, for whoever leads there. */
export const groupId = (group: string): string => `sections-${group}`;

/** Everything that would be sent, in order, with the exact text of each section. */
export function Sections({ report }: { report: ContextReport }) {
  return (
    <>
      {grouped(report)
        .filter(({ sections }) => sections.length > 0)
        .map((one) => (
          <Together key={one.group} one={one} whole={report.contextWindow} />
        ))}
    </>
  );
}

function Together({ one: { group, tokens, sections }, whole }: { one: Grouped; whole: number }) {
  return (
    <section class="section-group" data-layer={group} aria-labelledby={groupId(group)}>
      <h3 id={groupId(group)} tabIndex={-1}>
        <Swatch group={group} />
        <span class="section-title">{TITLES[group].title}</span>
        <span class="number">{amount(tokens)}</span>
        <span class="number share">{percent(tokens, whole)}</span>
      </h3>
      {sections.map((section, place) => (
        <Row key={`${place} ${section.name}`} section={section} whole={whole} />
      ))}
    </section>
  );
}

function Row({ section, whole }: { section: Section; whole: number }) {
  const [open, setOpen] = useState(false);
  const title = sectionTitle(section.name);
  return (
    <details
      class="section"
      data-section={section.name}
      data-layer={section.layer}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="section-title">
          {title}
          {section.cut && (
            <span class="badge" data-kind="cut" title={t.cutHint}>
              {t.cut}
            </span>
          )}
          {section.cached && (
            <span class="badge" title={t.cachedHint}>
              {t.cached}
            </span>
          )}
        </span>
        <span class="number">{amount(section.tokens)}</span>
        <span class="number share">{percent(section.tokens, whole)}</span>
      </summary>
      {open && <Exact text={section.text} label={t.exactText(title)} />}
    </details>
  );
}
