import { useState } from "preact/hooks";
import { useHands } from "../hands";
import type { Steer } from "../state";
import { focusComposer } from "./focus";
import { t } from "../language";

const LABELS: Record<Steer["state"], string> = {
  waiting: t.addedWaits,
  told: t.added,
  returned: t.addedLate,
};

/** What the user said to a running turn, where the model read it. */
export function SteerLine({ item }: { item: Steer }) {
  return (
    <div class="steer" data-item={item.id} data-state={item.state} dir="auto">
      <span class="steer-label">{LABELS[item.state]}</span>
      <p>{item.text}</p>
    </div>
  );
}

/** The same before the model has read it: it can be sent at once, mended, or taken back. */
export function WaitingSteer({ item }: { item: Steer }) {
  const { actions } = useHands();
  const [busy, setBusy] = useState(false);
  const run = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await act();
    setBusy(false);
    focusComposer();
  };
  return (
    <section class="steer" data-item={item.id} data-state="waiting" aria-label={t.addedWaits}>
      <span class="steer-label">{t.addedWaits}</span>
      <p dir="auto">{item.text}</p>
      <div class="steer-buttons">
        <button
          type="button"
          class="link-button"
          title={t.sendNowHint}
          disabled={busy}
          onClick={() => void run(() => actions.sendSteerNow(item))}
        >
          {t.sendNow}
        </button>
        <button
          type="button"
          class="link-button"
          disabled={busy}
          onClick={() => void run(() => actions.editSteer(item))}
        >
          {t.editIt}
        </button>
        <button
          type="button"
          class="link-button"
          disabled={busy}
          onClick={() => void run(() => actions.withdrawSteer(item))}
        >
          {t.withdraw}
        </button>
      </div>
    </section>
  );
}
