// The commands of the palette, the menus and the keys.
import { commands, type Disposable, type ExtensionContext, Uri, window } from "vscode";
import { attach, selected } from "./chat/files";
import { isFields } from "./chat/incoming";
import type { Shown } from "./chat/shown";
import type { ChatView } from "./chat/view";
import { askSelection, explain, fix, test } from "./editor/asking";
import { writeCommitMessage } from "./editor/commitMessage";
import type { Edits } from "./editor/edits";
import { showLaw } from "./editor/law";
import { mendSettings } from "./editor/mending";
import { searchCode } from "./editor/search";
import { t } from "./language";
import type { CommandId, ToPanel } from "./messages";
import { unlinked } from "./plain";
import type { Server } from "./server/server";
import { showError } from "./told";

type Act = (one?: unknown, several?: unknown) => unknown;
/** Commands that the title bar of the side bar's view has as well; there they are meant for that view. */
const OF_THE_SIDE = [
  "codelaw.newChat",
  "codelaw.showChats",
  "codelaw.openInEditor",
  "codelaw.showContext",
  "codelaw.compact",
  "codelaw.showPermissions",
  "codelaw.showAudit",
] as const;

type Choice = Extract<ToPanel, { kind: "choose" }>["what"];

/** Register every command of the manifest; each deals with its own failure. */
export function registerCommands(
  context: ExtensionContext,
  server: Server,
  view: ChatView,
  shown: Shown,
  edits: Edits,
): Disposable[] {
  /** What needs the server, with a word about what is missing when it is not there. */
  const withServer = (act: () => unknown) => async (): Promise<void> => {
    if (await isThere(server)) await act();
  };
  const choose = (what: Choice) => withServer(() => view.tell({ kind: "choose", what }));
  const all = {
    "codelaw.open": () => view.reveal(),
    "codelaw.openInEditor": () => view.openTab(shown.chatId),
    "codelaw.newChatInEditor": () => view.openTab(null),
    "codelaw.newChat": () => view.tell({ kind: "show", page: "chat", chatId: null }),
    "codelaw.showChats": withServer(() => view.tell({ kind: "show", page: "chats" })),
    "codelaw.showContext": withServer(() => view.tell({ kind: "show", page: "context" })),
    "codelaw.showPermissions": withServer(() => view.tell({ kind: "show", page: "permissions" })),
    "codelaw.showAudit": withServer(() => view.tell({ kind: "show", page: "audit" })),
    "codelaw.manageTrust": () => commands.executeCommand("workbench.trust.manage"),
    "codelaw.askSelection": withServer(() => askSelection(view, shown)),
    "codelaw.explain": withServer(() => explain(server, view)),
    "codelaw.fix": withServer(() => fix(server, view)),
    "codelaw.edit": withServer(() => edits.begin()),
    "codelaw.edit.accept": (where?: unknown) => edits.accept(where),
    "codelaw.edit.reject": (where?: unknown) => edits.reject(where),
    "codelaw.edit.again": (where?: unknown) => edits.again(where),
    "codelaw.edit.compare": (where?: unknown) => edits.compare(where),
    "codelaw.edit.openChat": (where?: unknown) => edits.openChat(where),
    "codelaw.test": withServer(() => test(server, view)),
    "codelaw.commitMessage": async (where?: unknown) => {
      if (await isThere(server)) await writeCommitMessage(server, view, where);
    },
    "codelaw.addSelection": () => tellPanel(view, selected()),
    "codelaw.addFile": async (one?: unknown, several?: unknown) => {
      const uris = urisOf(one, several);
      if (uris.length > 0) await tellPanel(view, await attach(uris));
      else void window.showInformationMessage(t.fileOrMenu);
    },
    "codelaw.stop": withServer(async () => {
      const { chatId } = shown;
      if (chatId !== null) await server.request("codelaw/chat/cancel", { chatId });
    }),
    "codelaw.compact": choose("compact"),
    "codelaw.chooseModel": choose("model"),
    "codelaw.chooseMode": choose("mode"),
    "codelaw.chooseStrategy": choose("strategy"),
    "codelaw.showLaw": () => showLaw(),
    "codelaw.search": withServer(() => searchCode(server)),
    "codelaw.setKey": () => server.setKey(),
    "codelaw.removeKey": () => server.removeKey(),
    "codelaw.showLogs": () => server.showLogs(),
    "codelaw.restart": () => server.restart(),
    "codelaw.installServer": () => server.install(),
    "codelaw.choosePython": () => server.choosePython(),
    "codelaw.openSettings": () =>
      commands.executeCommand("workbench.action.openSettings", `@ext:${context.extension.id}`),
    "codelaw.mendSettings": () => mendSettings(server),
    "codelaw.welcome": () => welcome(context),
  } satisfies Record<CommandId, unknown> & Record<string, Act>;
  const inSide = OF_THE_SIDE.map((id): [string, Act] => [
    id.replace("codelaw.", "codelaw.side."),
    () => {
      view.turnToSide();
      return all[id]();
    },
  ]);
  return [...Object.entries<Act>(all), ...inSide].map(([id, act]) =>
    commands.registerCommand(id, async (one?: unknown, several?: unknown) => {
      try {
        // The title bar of an editor says which one it is of.
        if (one instanceof Uri && one.scheme === "webview-panel") view.turnToTab();
        await act(one, several);
      } catch (error) {
        server.log.warn(`${id}: ${String(error)}`);
        showError(error);
      }
    }),
  );
}

/** Whether a server is there or on its way; says what to do when it is not. */
async function isThere({ state }: Server): Promise<boolean> {
  if (state.phase === "ready" || state.phase === "starting" || state.phase === "searching") return true;
  const message = state.message === "" ? t.notRunning : state.message;
  const titles = state.actions.map(({ title }) => title);
  const chosen = await window.showWarningMessage(unlinked(`codelaw: ${message}`), ...titles);
  const action = state.actions.find(({ title }) => title === chosen);
  if (action !== undefined) await commands.executeCommand(action.command);
  return false;
}

async function tellPanel(view: ChatView, message: ToPanel | null): Promise<void> {
  if (message !== null) await view.tell(message);
}

/** What the explorer's menu was opened on and what else is selected there; else the document at hand. */
function urisOf(one: unknown, several: unknown): Uri[] {
  const given = Array.isArray(several) && several.length > 0 ? several : [one];
  const uris = given.filter((uri): uri is Uri => uri instanceof Uri);
  const open = window.activeTextEditor?.document.uri;
  return uris.length > 0 || open === undefined ? uris : [open];
}

async function welcome({ extension }: ExtensionContext): Promise<void> {
  const manifest: unknown = extension.packageJSON;
  const contributes = isFields(manifest) ? manifest["contributes"] : undefined;
  const pages = isFields(contributes) ? contributes["walkthroughs"] : undefined;
  const page: unknown = Array.isArray(pages) ? pages[0] : undefined;
  if (!isFields(page) || typeof page["id"] !== "string") return;
  await commands.executeCommand("workbench.action.openWalkthrough", `${extension.id}#${page["id"]}`, false);
}
