import "../style/base.css";
import type { State } from "../state";
import { Approvals, WaitingQuestions } from "./Approvals";
import { AuditPage } from "./Audit";
import { Banner } from "./Banner";
import { ChatsPage } from "./Chats";
import { Composer } from "./Composer";
import { ContextPage } from "./ContextPage";
import { Log } from "./Log";
import { PendingFiles } from "./PendingFiles";
import { PermissionsPage } from "./Permissions";
import { Pickers } from "./Pickers";
import { ServerOffers } from "./ServerOffer";
import { Title } from "./Title";
import { TodoList } from "./Todo";
import { Welcome } from "./Welcome";
import { WindowBar } from "./WindowBar";

/** The whole panel. */
export function App({ state }: { state: State }) {
  return (
    <main data-page={state.page} class="panel">
      <Banner state={state} />
      {state.page === "chats" && <ChatsPage state={state} />}
      {state.page === "context" && <ContextPage state={state} />}
      {state.page === "permissions" && <PermissionsPage state={state} />}
      {state.page === "audit" && <AuditPage state={state} />}
      {state.page === "chat" ? <ChatPage state={state} /> : <WaitingQuestions state={state} />}
    </main>
  );
}

function ChatPage({ state }: { state: State }) {
  const { chat, composer, opening } = state;
  const empty = chat === null && composer.pending === null && opening === null;
  const todo = chat?.todo ?? [];
  return (
    <>
      {!empty && <Title chat={chat?.chat ?? null} />}
      {empty ? <Welcome /> : <Log state={state} />}
      <div class="below">
        <PendingFiles state={state} />
        {todo.length > 0 && <TodoList items={todo} />}
        <ServerOffers state={state} />
        <Approvals state={state} />
        <Composer state={state} />
        <Pickers state={state} />
        <WindowBar state={state} />
      </div>
    </>
  );
}
