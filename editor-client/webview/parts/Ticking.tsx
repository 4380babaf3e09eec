import { useEffect, useState } from "preact/hooks";
import { span } from "../text/words";

/** The time since then (seconds since the epoch), while it goes on. */
export function Ticking({ since, class: name }: { since: number; class?: string }) {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor(Math.max(0, now - since));
  return (
    <span class={name} aria-hidden="true">
      {seconds < 10 ? `${seconds} s` : span(seconds)}
    </span>
  );
}
