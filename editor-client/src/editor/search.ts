// Finds places in the workspace by what they are about, while the user types, and opens the one that is chosen.
import { CancellationTokenSource, type QuickPick, type QuickPickItem, window } from "vscode";
import { visible } from "../hidden";
import { t } from "../language";
import type { FoundPlace } from "../protocol/types";
import type { Wire } from "../server/wire";
import { isFields } from "../chat/incoming";
import { open } from "./opening";

/** Milliseconds without a key before the server is asked. */
const PAUSE = 250;
const LIMIT = 20;

interface Item extends QuickPickItem {
  place: FoundPlace;
}

/** Ask what is looked for; ends when a place was opened or the box is closed. */
export function searchCode(wire: Wire): Promise<void> {
  const picker = window.createQuickPick<Item>();
  picker.title = t.searchTitle;
  picker.placeholder = t.searchHint;
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  const search = new Search(wire, picker);
  return new Promise((resolve, reject) => {
    picker.onDidChangeValue((value) => search.ask(value));
    picker.onDidHide(() => {
      search.dispose();
      picker.dispose();
      resolve();
    });
    picker.onDidAccept(() => {
      const [item] = picker.selectedItems;
      if (item === undefined) return;
      const { uri, range } = item.place;
      const line = range.start.line + 1;
      picker.hide();
      open({ uri, line, endLine: Math.max(line, range.end.line) }).catch(reject);
    });
    picker.show();
  });
}

/** One box: the newest words count, and what was asked before is taken back. */
class Search {
  #asked = new CancellationTokenSource();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly wire: Wire,
    private readonly picker: QuickPick<Item>,
  ) {}

  ask(value: string): void {
    this.#stop();
    const query = value.trim();
    if (query === "") {
      this.#show([], "");
      return;
    }
    this.picker.busy = true;
    this.#timer = setTimeout(() => void this.#find(query), PAUSE);
  }

  dispose(): void {
    this.#stop();
    this.#asked.dispose();
  }

  async #find(query: string): Promise<void> {
    const { token } = this.#asked;
    try {
      const { places } = await this.wire.request("codelaw/search", { query, limit: LIMIT }, token);
      if (!token.isCancellationRequested) this.#show(places.map(itemOf), places.length === 0 ? t.nothingFound : "");
    } catch (error) {
      if (!token.isCancellationRequested) this.#show([], isFields(error) ? String(error["message"]) : String(error));
    }
  }

  #show(items: Item[], title: string): void {
    this.picker.busy = false;
    this.picker.items = items;
    this.picker.title = title === "" ? t.searchTitle : shown(title);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#asked.cancel();
    this.#asked.dispose();
    this.#asked = new CancellationTokenSource();
  }
}

function itemOf(place: FoundPlace): Item {
  const where = `${place.path}:${place.range.start.line + 1}`;
  const label = place.symbol === undefined ? where : place.symbol;
  const description = place.symbol === undefined ? place.why : `${where}  ${place.why}`;
  const detail = place.lines.map((line) => line.trim()).join("  ");
  // What is found was ranked by the server; the box is not to leave any of it out by its own rules.
  return { label: shown(label), description: shown(description), detail: shown(detail), alwaysShow: true, place };
}

/** Words of files: `$(name)` would be drawn as an icon, and hidden characters are made visible. */
const shown = (text: string): string => visible(text).replaceAll("$(", "$ (");
