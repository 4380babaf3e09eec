import "../style/pickers.css";
import type { Chat } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { ModelPicker } from "./ModelPicker";
import { Picker, type PickerOption } from "./Picker";

const MODES: PickerOption<Chat["mode"]>[] = [
  { value: "agent", title: "Agent", hint: "Reads, edits and runs commands; asks before it changes something" },
  { value: "ask", title: "Ask", hint: "Reads and answers; changes nothing" },
  { value: "plan", title: "Plan", hint: "Reads and writes a plan; changes nothing" },
];

const STRATEGIES: PickerOption<Chat["strategy"]>[] = [
  { value: "layered", title: "layered", hint: "Everything, older rounds as summaries once the window fills" },
  { value: "full", title: "full", hint: "Everything, word for word; refused when it does not fit" },
  { value: "last-n", title: "last-n", hint: "The newest 30 messages" },
  { value: "summary+recent", title: "summary+recent", hint: "A rolling summary and the newest messages" },
  {
    value: "span-retrieval",
    title: "span-retrieval",
    hint: "The newest messages, and earlier ones that answer the question",
  },
  {
    value: "sliding-window",
    title: "sliding-window",
    hint: "A rolling summary and the newest rounds, within fixed shares",
  },
  { value: "auto", title: "auto", hint: "Chosen by the length of the chat" },
];

/** The mode, the model and the strategy of the chat at hand, or of the next one. */
export function Pickers({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const chat = state.chat?.chat;
  const mode = chat?.mode ?? state.next.mode ?? "agent";
  const model = chat?.model ?? state.next.model ?? state.models.find((one) => one.current)?.name ?? "";
  const strategy = chat?.strategy ?? state.next.strategy;
  const open = (what: State["choosing"]): void => panel.dispatch({ kind: "choosing", what });

  return (
    <div class="pickers" role="group" aria-label="How to answer">
      <Picker
        what="Mode"
        options={MODES}
        value={mode}
        open={state.choosing === "mode"}
        onOpen={(wanted) => open(wanted ? "mode" : null)}
        onChoose={(value) => void actions.setMode(value)}
      />
      <ModelPicker
        models={state.models}
        value={model}
        open={state.choosing === "model"}
        onOpen={(wanted) => open(wanted ? "model" : null)}
        onChoose={(value) => void actions.setModel(value)}
      />
      <Picker
        what="Strategy"
        options={STRATEGIES}
        value={strategy}
        open={state.choosing === "strategy"}
        onOpen={(wanted) => open(wanted ? "strategy" : null)}
        onChoose={(value) => void actions.setStrategy(value)}
      />
    </div>
  );
}
