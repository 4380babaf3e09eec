import "../style/popup.css";
const PATHS = {
  add: "M8 3v10M3 8h10",
  send: "M8 13V3M4 7l4-4 4 4",
  stop: "M4.5 4.5h7v7h-7z",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  check: "M3 8.5l3.5 3.5L13 5",
  dash: "M4 8h8",
  blank: "",
  circle: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11z",
  half: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zM8 5.5v2.5l2 1.5",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  folder: "M2 4h4l1.5 1.5H14V13H2z",
  editor: "M2.5 3h11v10h-11zM2.5 6h11M8 3v3",
  edit: "M3 13l.7-2.9L11 2.8l2.2 2.2-7.3 7.3z",
  delete: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  export: "M8 10V2.5M5 5.5l3-3 3 3M3 9.5V13h10V9.5",
  back: "M13 8H3M7 4L3 8l4 4",
  warning: "M8 2.5l6 11H2zM8 6.5v3.5M8 11.5v.5",
  symbol: "M8 2l5 3v6l-5 3-5-3V5zM3 5l5 3 5-3M8 8v6",
  special: "M10.8 8a2.8 2.8 0 1 1-5.6 0a2.8 2.8 0 0 1 5.6 0zM10.8 5.2v3.6a1.6 1.6 0 0 0 3.2 0V8a6 6 0 1 0-2.4 4.8",
  terminal: "M2.5 3.5h11v9h-11zM5 6l2 2-2 2M8.5 10H11",
} as const;

export type IconName = keyof typeof PATHS;

/** A small picture beside a word, or on a button with a label; assistive technology does not see it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" data-icon={name} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
