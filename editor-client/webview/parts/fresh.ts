// What a page shows of the server's, read again as long as it is looked at.
import { useEffect, useState } from "preact/hooks";

/** Files and programs change without a word of the server's. */
const PAUSE_MS = 3000;

/**
 * What `read` gives, and a way to put another one in its place. It is read when one of `causes` changes, when the user
 * comes to the page, and every few seconds while it is in sight; after a failure no more until the next cause.
 */
export function useFresh<T>(
  read: () => Promise<T | null>,
  ready: boolean,
  causes: readonly unknown[],
): [T | null, (found: T | null) => void] {
  const [shown, setShown] = useState<T | null>(null);
  const take = (found: T | null): void =>
    setShown((before) => (found === null || JSON.stringify(found) === JSON.stringify(before) ? before : found));
  useEffect(() => {
    if (!ready) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      clearTimeout(timer);
      const found = document.visibilityState === "hidden" ? undefined : await read();
      if (over || found === null) return;
      if (found !== undefined) take(found);
      clearTimeout(timer);
      timer = setTimeout(() => void look(), PAUSE_MS);
    };
    const come = (): void => void look();
    addEventListener("focus", come);
    void look();
    return () => {
      over = true;
      clearTimeout(timer);
      removeEventListener("focus", come);
    };
  }, [ready, ...causes]);
  return [shown, take];
}
