import "../style/pickers.css";
import { useEffect, useState } from "preact/hooks";
import type { Chat, Model } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { EffortChoice, State } from "../state";
import { windowUse } from "../text/bill";
import { modelOf } from "../text/seeing";
import { ModelPicker } from "./ModelPicker";
import { Picker, type PickerOption } from "./Picker";
import { t } from "../language";

const MODES: PickerOption<Chat["mode"]>[] = [
  { value: "agent", title: t.modeAgent, hint: t.modeAgentHint },
  { value: "ask", title: t.modeAsk, hint: t.modeAskHint },
  { value: "plan", title: t.modePlan, hint: t.modePlanHint },
];

const STRATEGIES: PickerOption<Chat["strategy"]>[] = [
  { value: "layered", title: "layered", hint: t.strategyLayered },
  { value: "full", title: "full", hint: t.strategyFull },
  { value: "last-n", title: "last-n", hint: t.strategyLast },
  { value: "summary+recent", title: "summary+recent", hint: t.strategyRecent },
  {
    value: "span-retrieval",
    title: "span-retrieval",
    hint: t.strategySpans,
  },
  {
    value: "sliding-window",
    title: "sliding-window",
    hint: t.strategySliding,
  },
  { value: "auto", title: "auto", hint: t.strategyAuto },
];

/** What most chats have. */
const USUAL: Chat["strategy"] = "layered";

const EFFORTS: Record<NonNullable<Chat["effort"]>, string> = {
  low: t.effortLow,
  medium: t.effortMedium,
  high: t.effortHigh,
  xhigh: t.effortXhigh,
  max: t.effortMax,
};

/** What a model takes; empty where nothing can be said of it. */
function effortsOf({ effort = [], defaultEffort }: Model): PickerOption<EffortChoice>[] {
  if (effort.length === 0) return [];
  const usual = { value: "default", title: t.default, hint: t.effortDefault(defaultEffort ?? "") } as const;
  return [usual, ...effort.map((value) => ({ value, title: value, hint: EFFORTS[value] }))];
}

/** The mode, the model, the effort and the strategy of the chat at hand, or of the next one. */
export function Pickers({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const chat = state.chat?.chat;
  const mode = chat?.mode ?? state.next.mode ?? "agent";
  const strategy = chat?.strategy ?? state.next.strategy;
  // It is for those who ask for it: by the command, on the page of the context, or by having chosen one.
  const [wanted, setWanted] = useState(false);
  const choosing = state.choosing === "strategy";
  useEffect(() => {
    if (choosing) setWanted(true);
  }, [choosing]);
  const special = strategy !== null && strategy !== USUAL;
  const model = state.models.find(({ name }) => name === modelOf(state));
  const efforts = model === undefined ? [] : effortsOf(model);
  const open = (what: State["choosing"]): void => panel.dispatch({ kind: "choosing", what });

  return (
    <div class="pickers" role="group" aria-label={t.howToAnswer}>
      <Picker
        what={t.mode}
        options={MODES}
        value={mode}
        open={state.choosing === "mode"}
        onOpen={(wanted) => open(wanted ? "mode" : null)}
        onChoose={(value) => void actions.setMode(value)}
      />
      <ModelPicker
        models={state.models}
        value={modelOf(state)}
        held={windowUse(state.chat, state.context)?.tokens ?? 0}
        open={state.choosing === "model"}
        onOpen={(wanted) => open(wanted ? "model" : null)}
        onChoose={(value) => void actions.setModel(value)}
      />
      {efforts.length > 0 && (
        <Picker
          what={t.effort}
          options={efforts}
          value={(chat === undefined ? state.next.effort : chat.effort) ?? "default"}
          open={state.choosing === "effort"}
          onOpen={(wanted) => open(wanted ? "effort" : null)}
          onChoose={(value) => void actions.setEffort(value)}
        />
      )}
      {(choosing || wanted || special) && (
        <Picker
          what={t.strategy}
          options={STRATEGIES}
          value={strategy}
          open={choosing}
          onOpen={(opened) => open(opened ? "strategy" : null)}
          onChoose={(value) => void actions.setStrategy(value)}
        />
      )}
    </div>
  );
}
