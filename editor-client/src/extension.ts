// The extension: puts its parts together and nothing else.
import { commands, type ExtensionContext, workspace } from "vscode";
import { Accepted } from "./chat/accepted";
import { copy, dropped, exportChat, insert, pickFiles, selected } from "./chat/files";
import { registerLogCommands } from "./chat/log";
import type { Page } from "./chat/page";
import { raiseWindow } from "./chat/raising";
import { Relay } from "./chat/relay";
import { Shown } from "./chat/shown";
import { ChatView } from "./chat/view";
import { registerCommands } from "./commands";
import { Approvals, notify } from "./editor/approvals";
import { inPanel } from "./editor/asking";
import { Ended } from "./editor/ended";
import { Diffs } from "./editor/diffs";
import { Edits } from "./editor/edits";
import { answerModels, answerTools, Lending } from "./editor/lending";
import { LookingAt } from "./editor/looking";
import { open, openExternal } from "./editor/opening";
import { closeProposals } from "./editor/proposals";
import { answerServices, Reported } from "./editor/services";
import { Terminals } from "./editor/terminals";
import { Texts } from "./editor/texts";
import type { ToPanel } from "./messages";
import { Reviewing } from "./review/reviewing";
import { saveSettled } from "./review/saving";
import { Extras } from "./server/adding";
import { Server } from "./server/server";
import { showStatus } from "./status";
import { showError } from "./told";

let server: Server | null = null;

/** Whether the user wants to hear of what happens while the panel is hidden. */
const notifies = (): boolean => workspace.getConfiguration("codelaw").get<boolean>("panel.notify", true);

export function activate(context: ExtensionContext): void {
  const started = new Server(context);
  server = started;
  const failed = (error: unknown): void => {
    started.log.warn(String(error));
    showError(error);
  };
  const shown = new Shown();
  const view = new ChatView(context.extensionUri, shown, (message) => started.log.warn(message));
  const approvals = new Approvals();
  const diffs = new Diffs(started);
  const edits = new Edits(started, view, failed);
  const texts = new Texts();
  const accepted = new Accepted(context.workspaceState);
  const ended = new Ended(
    {
      sees: (chatId) => view.sees(chatId),
      set ended(count: number) {
        view.ended = count;
      },
      open: (chatId) => view.tell({ kind: "show", page: "chat", chatId }),
    },
    shown,
    notifies,
  );
  const reported = new Reported();
  const terminals = new Terminals();
  const looking = new LookingAt();
  const attach = (message: ToPanel | null, page: Page): void => {
    if (message !== null) page.post(message);
  };
  const keep = (): ToPanel => ({ kind: "accepted", turns: accepted.turns });

  const reviewing = new Reviewing({
    wire: started,
    shown,
    memory: context.workspaceState,
    accepted,
    tell: (message) => view.tell(message),
    post: (message) => {
      // Turns are accepted by their files, too.
      view.post(keep());
      view.post(message);
    },
    failed,
  });

  const relay = new Relay(
    started,
    shown,
    {
      ready: (_message, page) => {
        const seen: ToPanel = { kind: "looking", looking: looking.current };
        view.welcome(page, [{ kind: "server", server: started.state }, keep(), ...reviewing.welcome, seen]);
      },
      showing: ({ chatId }, page) => {
        view.showing(page, chatId);
        reviewing.look(chatId);
      },
      focused: (_message, page) => view.turnTo(page),
      openTab: ({ chatId }) => view.openTab(chatId),
      decide: ({ id, reply }, page) => {
        // An answer that came too late: the card it came from goes away.
        if (!approvals.decide(id, reply) && approvals.get(id) === null) page.post({ kind: "approvalGone", id });
      },
      preview: async ({ id }) => {
        const approval = approvals.get(id);
        if (approval !== null) await diffs.proposal(approval);
      },
      open: (message) => open(message),
      openExternal: ({ url }) => openExternal(url),
      raiseWindow: ({ model }) => raiseWindow(started, model),
      showText: (message) => texts.show(message),
      copy: ({ text }) => copy(text),
      insert: ({ text }) => insert(text),
      diff: (message) => diffs.turn(message),
      accept: async ({ chatId, turnId, uris }) => {
        if (await saveSettled(uris)) await accepted.add(chatId, turnId);
        await reviewing.accepted(chatId);
        view.post(keep());
      },
      review: (message) => reviewing.take(message),
      export: (message) => exportChat(started, message),
      pickFiles: async (_message, page) => attach(await pickFiles(), page),
      dropped: async ({ uris }, page) => attach(await dropped(uris), page),
      addSelection: (_message, page) => attach(selected(), page),
    },
    view,
    failed,
  );

  answerServices(started, reported, terminals);
  const lending = new Lending(() => started.modelChanged());
  answerModels(started, lending);
  answerTools(started);
  started.onRequest("codelaw/approval/request", (request, token) => approvals.ask(request, token));
  // How far a turn is the panel and the status bar's item tell; a bar of its own would tell it a third time.
  started.use({ ...inPanel(view, failed), handleWorkDoneProgress: () => undefined });

  let session = started.state.session;
  context.subscriptions.push(
    started,
    view,
    shown,
    approvals,
    lending,
    diffs,
    reviewing,
    edits,
    reported,
    terminals,
    texts,
    looking,
    relay,
    looking.onChange((seen) => view.post({ kind: "looking", looking: seen })),
    view.onMessage(({ message, page }) => void relay.take(message, page)),
    view.onClosed((page) => relay.forget(page)),
    started.onEvent((event) => {
      shown.event(event);
      view.event(event);
      ended.event(event).catch(failed);
    }),
    view.onSight(() => ended.seen()),
    shown.onDeleted((chatId) => ended.deleted(chatId)),
    started.onModelChanged(() => view.post({ kind: "modelChanged" })),
    started.onState((state) => {
      if (state.phase !== "ready" || state.session !== session) {
        // Who asked is gone, and with it what ran.
        approvals.withdrawAll();
        shown.disconnected();
        edits.disconnected();
      }
      session = state.session;
      view.post({ kind: "server", server: state });
    }),
    approvals.onOpen((approval) => {
      view.ask(approvals.open);
      const { chatId } = approval.request;
      const show = (): void => void view.tell({ kind: "show", page: "chat", chatId });
      if (view.unseen.includes(approval) && notifies()) void notify(approvals, approval, show);
    }),
    approvals.onClose((approval) => {
      view.ask(approvals.open);
      diffs.answered(approval).catch(failed);
    }),
    shown.onChange(() => void commands.executeCommand("setContext", "codelaw.running", shown.running)),
    new Extras(started),
    showStatus(started, shown, approvals),
    ...registerLogCommands(view),
    ...registerCommands(context, started, view, shown, edits),
  );
  // Their texts went with the window.
  closeProposals().catch(failed);
  started.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
  server = null;
}
