// What the panel asks the server about what the user looks at.
import { describe, expect, test } from "vitest";
import type { Looking } from "../../src/messages";
import { sentLooking, unsentOf } from "../../webview/looking";
import { kept } from "../../webview/draft";
import { initial, reduce } from "../../webview/store";
import { READY, type Rig, rig } from "./extension";

const METHOD = "codelaw/context/editor";
const SERVER = { ...READY, methods: ["codelaw/chat/send", "codelaw/model/list", METHOD] };
const looking = (name: string): Looking => ({ uri: `file:///w/${name}`, label: name, version: 1 });
const settle = () => new Promise((resolve) => setTimeout(resolve));

function panel(server = SERVER): Rig {
  const made = rig(reduce(initial(null), { kind: "server", server }));
  made.answers[METHOD] = ({ uri }) =>
    uri === "file:///w/.env" ? { path: ".env", unsent: "hidden" } : { path: "a.py" };
  return made;
}
const look = async (made: Rig, name: string): Promise<void> => {
  made.receive({ kind: "looking", looking: looking(name) });
  await settle();
};
const uris = (made: Rig) => made.requests(METHOD).map(({ params }) => params["uri"]);

describe("the server's word about a document", () => {
  test("is asked once for each, and decides whether it is sent", async () => {
    const made = panel();
    await look(made, "a.py");
    await look(made, "a.py");
    expect(sentLooking(made.state())?.uri).toBe("file:///w/a.py");
    await look(made, ".env");
    expect(sentLooking(made.state())).toBeNull();
    expect(unsentOf(made.state())).toBe("hidden or ignored");
    expect(uris(made)).toEqual(["file:///w/a.py", "file:///w/.env"]);
  });

  test("is asked again of another server and when the user comes to the panel", async () => {
    const made = panel();
    await look(made, "a.py");
    made.receive({ kind: "server", server: { ...SERVER, session: 2 } });
    await settle();
    made.habits.focused();
    await settle();
    expect(uris(made)).toHaveLength(3);
    made.answers[METHOD] = () => ({ path: "a.py", unsent: "denied" });
    made.habits.focused();
    await settle();
    expect(sentLooking(made.state())).toBeNull();
  });

  test("that comes late is not taken for another document's", async () => {
    const made = panel();
    const wait: (() => void)[] = [];
    made.answers[METHOD] = ({ uri }) =>
      new Promise((answer) =>
        wait.push(() => answer(uri === "file:///w/.env" ? { unsent: "hidden" } : { path: "a.py" })),
      );
    await look(made, ".env");
    await look(made, "a.py");
    for (const answer of wait.reverse()) answer();
    await settle();
    expect(made.state().looking.verdict).toEqual({ uri: "file:///w/a.py", path: "a.py" });
  });

  test("is not asked of a server that is not ready or too old, and without it nothing is shown as unsent", async () => {
    for (const server of [{ ...SERVER, phase: "starting" as const }, READY]) {
      const made = panel(server);
      await look(made, "a.py");
      expect(uris(made)).toEqual([]);
    }
    const failing = panel();
    Reflect.deleteProperty(failing.answers, METHOD);
    await look(failing, "a.py");
    expect(failing.state().problem).toBeNull();
    expect(sentLooking(failing.state())?.uri).toBe("file:///w/a.py");
  });
});

test("what the user has taken out stays out when the panel is made anew, also before the editor is there", async () => {
  const made = panel();
  await look(made, "a.py");
  made.panel.dispatch({ kind: "lookingRemoved" });
  const again = rig(reduce(initial(kept(made.state())), { kind: "server", server: SERVER }));
  again.answers[METHOD] = () => ({ path: "a.py" });
  again.receive({ kind: "looking", looking: null });
  await look(again, "a.py");
  expect(sentLooking(again.state())).toBeNull();
  await look(again, "b.py");
  expect(sentLooking(again.state())?.uri).toBe("file:///w/b.py");
});
