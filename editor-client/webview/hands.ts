// How a part gets at the panel: `const { panel, actions } = useHands()`.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { InHand } from "./panel";

export const Hands = createContext<InHand | null>(null);

export function useHands(): InHand {
  const hands = useContext(Hands);
  if (hands === null) throw new Error("a part of the panel stands outside of the panel");
  return hands;
}
