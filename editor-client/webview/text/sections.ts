// The sections of a context report, in the groups in which people think of them.
import type { ContextReport, Section } from "../../src/protocol/types";
import { t } from "../language";

export const GROUPS = ["L1", "law", "summaries", "history", "turn"] as const;
export type Group = (typeof GROUPS)[number];

/** What a group is called, and what is in it. */
export const TITLES: Record<Group | "free", { title: string; what: string }> = {
  L1: { title: t.groupInstructions, what: t.groupInstructionsHint },
  law: { title: t.groupLaw, what: "CODE_LAW.md, AGENTS.md" },
  summaries: { title: t.groupSummaries, what: t.groupSummariesHint },
  history: { title: t.groupHistory, what: t.groupHistoryHint },
  turn: { title: t.groupTurn, what: t.groupTurnHint },
  free: { title: t.free, what: "" },
};

const SUMMARIES = new Set(["summaries", "thread_summary"]);

export function groupOf({ layer, name }: Section): Group {
  if (layer === "L1") return "L1";
  if (layer === "L2") return "law";
  if (layer === "L3") return SUMMARIES.has(name) ? "summaries" : "history";
  return "turn";
}

/** A group with its sections, in the order they are sent. */
export interface Grouped {
  group: Group;
  tokens: number;
  sections: Section[];
}

/** All groups, also the empty ones, so that each keeps its place. */
export const grouped = (report: ContextReport): Grouped[] =>
  GROUPS.map((group) => {
    const sections = report.sections.filter((section) => groupOf(section) === group);
    return { group, tokens: sections.reduce((sum, { tokens }) => sum + tokens, 0), sections };
  });

const NAMES = new Map([["scratchpad", t.stepsSoFar]]);

/** `thread_summary` as `Thread summary`. */
export function sectionTitle(name: string): string {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const words = name.replace(/[_-]+/gu, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
