// Generated from `codelaw schema` by `npm run types`; do not edit.

/**
 * None is an empty list.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "DiagnosticsReply".
 */
export type DiagnosticsReply = (DocumentDiagnostics[] | null)
/**
 * What LSP allows as the answer to a search for a definition or for references.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LocationsReply".
 */
export type LocationsReply = (EditorLocation | EditorLocation[] | EditorLocationLink[] | null)
/**
 * What LSP allows as the symbols of a document.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "OutlineReply".
 */
export type OutlineReply = (NestedSymbol[] | EditorSymbol[] | null)
/**
 * What is offered; one without an edit is left out.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "QuickFixReply".
 */
export type QuickFixReply = (QuickFix[] | null)
/**
 * None when there is nothing to rename.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RenameReply".
 */
export type RenameReply = (WorkspaceEditReply | null)
/**
 * None is an empty list.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SymbolsReply".
 */
export type SymbolsReply = (EditorSymbol[] | null)
/**
 * None where nothing is known of any.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TerminalReply".
 */
export type TerminalReply = (TerminalText | null)

export interface Definitions {
Agent: Agent
AgentList: AgentList
Answer: Answer
AnyReply: AnyReply
ApprovalOption: ApprovalOption
ApprovalPreview: ApprovalPreview
ApprovalReply: ApprovalReply
ApprovalRequest: ApprovalRequest
Archive: Archive
ArchivedRounds: ArchivedRounds
AskDiagnostics: AskDiagnostics
AskFixes: AskFixes
AskInEditor: AskInEditor
AskModel: AskModel
AskModels: AskModels
AskOutline: AskOutline
AskPlace: AskPlace
AskRename: AskRename
AskSymbols: AskSymbols
AskTerminal: AskTerminal
AskTool: AskTool
AskTools: AskTools
Asked: Asked
AskedDiagnostic: AskedDiagnostic
AttachmentParams: AttachmentParams
Audit: Audit
AuditEntry: AuditEntry
AuditList: AuditList
Backfill: Backfill
Backfilled: Backfilled
BareLocation: BareLocation
BudgetLine: BudgetLine
CacheMiss: CacheMiss
Call: Call
CallPart: CallPart
Cancelled: Cancelled
Change: Change
Chat: Chat
ChatChanges: ChatChanges
ChatEvent: ChatEvent
ChatFileRef: ChatFileRef
ChatList: ChatList
ChatRecord: ChatRecord
ChatRef: ChatRef
Checkpoint: Checkpoint
CheckpointFile: CheckpointFile
CheckpointState: CheckpointState
CommandList: CommandList
CommitMessage: CommitMessage
Compaction: Compaction
CompactionReport: CompactionReport
ContextReport: ContextReport
CreateChat: CreateChat
Decision: Decision
DeclineServer: DeclineServer
Deleted: Deleted
DiagnosticsReply: DiagnosticsReply
DocumentDiagnostics: DocumentDiagnostics
DocumentEdits: DocumentEdits
Dropped: Dropped
EditInEditor: EditInEditor
EditedDocument: EditedDocument
EditorDiagnostic: EditorDiagnostic
EditorLocation: EditorLocation
EditorLocationLink: EditorLocationLink
EditorParams: EditorParams
EditorSymbol: EditorSymbol
EditorTextEdit: EditorTextEdit
EditorTrust: EditorTrust
EnableServer: EnableServer
Export: Export
ExportChat: ExportChat
FileOperation: FileOperation
ForgetMemory: ForgetMemory
Forgotten: Forgotten
ForkChat: ForkChat
FoundPage: FoundPage
FoundPlace: FoundPlace
FoundPlaces: FoundPlaces
Grant: Grant
GrantList: GrantList
HookRun: HookRun
ImageParams: ImageParams
IndexReport: IndexReport
Indexed: Indexed
InspectContext: InspectContext
LawDocument: LawDocument
LawReport: LawReport
LentMessage: LentMessage
LentModelFacts: LentModelFacts
LentModels: LentModels
LentPart: LentPart
LentTool: LentTool
LentToolFacts: LentToolFacts
LentTools: LentTools
ListAgents: ListAgents
ListChats: ListChats
ListCommands: ListCommands
ListGrants: ListGrants
ListMemories: ListMemories
ListMentions: ListMentions
ListModels: ListModels
ListServers: ListServers
ListSkills: ListSkills
LocationsReply: LocationsReply
LogOutOfServer: LogOutOfServer
LoggedOut: LoggedOut
LookAt: LookAt
Looked: Looked
Mcp: Mcp
Memory: Memory
MemoryList: MemoryList
Mention: Mention
MentionItem: MentionItem
MentionList: MentionList
Message: Message
MessageFragment: MessageFragment
MessageImage: MessageImage
MessageMetadata: MessageMetadata
Model: Model
ModelAnswer: ModelAnswer
ModelChanged: ModelChanged
ModelList: ModelList
NestedSymbol: NestedSymbol
Notice: Notice
NoticeGiven: NoticeGiven
OutlineReply: OutlineReply
PictureData: PictureData
PictureRef: PictureRef
PlacePosition: PlacePosition
PlaceRange: PlaceRange
Position: Position
PriceStep: PriceStep
Proposal: Proposal
Proposing: Proposing
QuickFix: QuickFix
QuickFixReply: QuickFixReply
Range: Range
ReadChat: ReadChat
ReadIndex: ReadIndex
ReadLaw: ReadLaw
ReadSettings: ReadSettings
ReadWorkspaceSettings: ReadWorkspaceSettings
RenameReply: RenameReply
RestartServer: RestartServer
Restarted: Restarted
RestoreContext: RestoreContext
ResultPart: ResultPart
Retry: Retry
RevertConflict: RevertConflict
RevertTurn: RevertTurn
Reverted: Reverted
ReviewFile: ReviewFile
ReviewedFile: ReviewedFile
RevokeGrant: RevokeGrant
Revoked: Revoked
SaveDocuments: SaveDocuments
SaveMemory: SaveMemory
SearchCode: SearchCode
SearchMemories: SearchMemories
Section: Section
SendMessage: SendMessage
Server: Server
ServerList: ServerList
Setting: Setting
SettingsFault: SettingsFault
SettingsReport: SettingsReport
ShowChat: ShowChat
Shown: Shown
Skill: Skill
SkillList: SkillList
SpanIn: SpanIn
SpanOut: SpanOut
Spot: Spot
SpotOut: SpotOut
Started: Started
Steer: Steer
SteerTurn: SteerTurn
Steered: Steered
StopCall: StopCall
StoppedCall: StoppedCall
StrategyOptions: StrategyOptions
SymbolsReply: SymbolsReply
TerminalReply: TerminalReply
TerminalText: TerminalText
TextParams: TextParams
TextPart: TextPart
Thought: Thought
Todo: Todo
TodoItem: TodoItem
ToolAnswer: ToolAnswer
ToolCall: ToolCall
ToolOffer: ToolOffer
ToolOutput: ToolOutput
ToolPart: ToolPart
Trust: Trust
TrustFolder: TrustFolder
TurnChange: TurnChange
TurnEnded: TurnEnded
TurnError: TurnError
TurnRef: TurnRef
TurnResult: TurnResult
TurnStarted: TurnStarted
UndoInChatFile: UndoInChatFile
Undone: Undone
UnsteerTurn: UnsteerTurn
Unsteered: Unsteered
UpdateChat: UpdateChat
UpdateMemory: UpdateMemory
Usage: Usage
UsageReport: UsageReport
UserCommand: UserCommand
WebSearch: WebSearch
WorkspaceEditReply: WorkspaceEditReply
WorkspaceFile: WorkspaceFile
WorkspaceSettings: WorkspaceSettings
}
/**
 * A kind of subagent; without `source`, its file, it is built in.
 * 
 * A built-in one has the tools of its `mode`, without one those of the chat's. Of a file, `tools` are the only ones
 * it has, absent: all of the chat's mode but `disallowedTools`; `model` is absent where it is the chat's. `problem` is
 * what is wrong with the file; when it is `refused`, there is no such kind.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Agent".
 */
export interface Agent {
name: string
description: string
mode?: ("agent" | "ask" | "plan")
uri?: string
source?: string
tools?: string[]
disallowedTools?: string[]
model?: string
maxTurns?: number
effort?: ("low" | "medium" | "high" | "xhigh" | "max")
problem?: string
refused?: boolean
}
/**
 * `enabled` is off where no turn can begin a subagent.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AgentList".
 */
export interface AgentList {
enabled: boolean
agents: Agent[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Answer".
 */
export interface Answer {
delta: string
step: number
kind: "answer"
}
/**
 * That there is an answer is all that counts.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AnyReply".
 */
export interface AnyReply {
[k: string]: unknown | undefined
}
/**
 * One way to answer; `rule` is what a standing permission would add.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ApprovalOption".
 */
export interface ApprovalOption {
id: string
title: string
kind: ("allow_once" | "allow_chat" | "allow_always" | "reject")
rule?: string
}
/**
 * What would be done, whole: nobody is to allow what they have not seen the end of.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ApprovalPreview".
 */
export interface ApprovalPreview {
diff?: string
command?: string
text?: string
}
/**
 * Either an option that was offered, or `cancelled`. `by`: whether a person answered (absent: one did).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ApprovalReply".
 */
export interface ApprovalReply {
optionId?: (string | null)
comment?: (string | null)
cancelled?: (boolean | null)
by?: (("user" | "headless") | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ApprovalRequest".
 */
export interface ApprovalRequest {
preview: ApprovalPreview
chatId: string
turnId: string
callId: string
tool: string
title: string
risk: ("write" | "execute" | "send")
options: ApprovalOption[]
alwaysAsked?: boolean
description?: string
why?: string
}
/**
 * What was archived and not brought back, oldest first: as one Markdown document, and one by one.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Archive".
 */
export interface Archive {
text: string
checkpoints: ArchivedRounds[]
}
/**
 * What one checkpoint stands for; `text` is what the model sees instead, empty where it only thinned.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ArchivedRounds".
 */
export interface ArchivedRounds {
summary: ("model" | "none")
text: string
id: string
at: number
roundsArchived: number
}
/**
 * Of one document, or without `uri` of all that have some.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskDiagnostics".
 */
export interface AskDiagnostics {
uri?: string
version?: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskFixes".
 */
export interface AskFixes {
uri: string
range: SpanOut
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SpanOut".
 */
export interface SpanOut {
start: SpotOut
end: SpotOut
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SpotOut".
 */
export interface SpotOut {
line: number
character: number
}
/**
 * A part of a document that is asked about; `version` is that of the document when it was chosen.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskInEditor".
 */
export interface AskInEditor {
uri: string
range: Range
version?: (number | null)
diagnostic?: (AskedDiagnostic | null)
text?: (string | null)
}
/**
 * From `start` up to, but not including, `end`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Range".
 */
export interface Range {
start: Position
end: Position
}
/**
 * A place in a document, in the position encoding agreed on at `initialize`; zero-based.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Position".
 */
export interface Position {
line: number
character: number
}
/**
 * A diagnostic that the user wants to see fixed, or explained.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskedDiagnostic".
 */
export interface AskedDiagnostic {
message: string
range: Range
code?: (string | null)
source?: (string | null)
}
/**
 * `model` is an id of `codelaw/editor/models`; the parts of the reply come as `$/progress` with the token.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskModel".
 */
export interface AskModel {
model: string
messages: LentMessage[]
tools: LentTool[]
partialResultToken?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentMessage".
 */
export interface LentMessage {
role: ("user" | "assistant")
parts: (TextPart | CallPart | ResultPart)[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TextPart".
 */
export interface TextPart {
kind: "text"
text: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CallPart".
 */
export interface CallPart {
kind: "call"
callId: string
name: string
input: {
[k: string]: unknown | undefined
}
}
/**
 * The result of a call of the message before.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ResultPart".
 */
export interface ResultPart {
kind: "result"
callId: string
text: string
isError: boolean
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentTool".
 */
export interface LentTool {
name: string
description: string
inputSchema: {
[k: string]: unknown | undefined
}
}
/**
 * Which models would be lent now.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskModels".
 */
export interface AskModels {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskOutline".
 */
export interface AskOutline {
uri: string
}
/**
 * `codelaw/editor/definition` and `codelaw/editor/references`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskPlace".
 */
export interface AskPlace {
uri: string
position: SpotOut
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskRename".
 */
export interface AskRename {
uri: string
position: SpotOut
newName: string
}
/**
 * Symbols of the whole project.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskSymbols".
 */
export interface AskSymbols {
query: string
}
/**
 * The last output of a terminal: of the active one, where it has any.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskTerminal".
 */
export interface AskTerminal {

}
/**
 * `name` is one of `codelaw/editor/tools`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskTool".
 */
export interface AskTool {
name: string
input: {
[k: string]: unknown | undefined
}
}
/**
 * Which tools would be lent now.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AskTools".
 */
export interface AskTools {

}
/**
 * The turn that was begun, or the chat file that was opened for the question.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Asked".
 */
export interface Asked {
chatId?: string
turnId?: string
uri?: string
}
/**
 * A document, or with `range` a part of it, sent along with a message (M-6).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AttachmentParams".
 */
export interface AttachmentParams {
uri: string
range?: (Range | null)
}
/**
 * Of all chats where none is named; `limit` is 100 by default.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Audit".
 */
export interface Audit {
chatId?: (string | null)
limit?: (number | null)
}
/**
 * What was decided, by whom and by which rule.
 * 
 * `chatId` is empty where it is about no chat. `rule` is the rule that spoke, or how the user answered; `detail` the
 * whole command or path, or what a command failed on, a line each; long texts are cut.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AuditEntry".
 */
export interface AuditEntry {
at: number
chatId: string
kind: ("call" | "grant" | "trust" | "violation" | "hook")
tool: string
title: string
decision: ("allow" | "deny" | "grant" | "revoke" | "trust" | "withdraw" | "violation" | "ran")
by: ("user" | "rule" | "grant" | "mode" | "default" | "headless" | "sandbox" | "hook")
rule?: string
detail?: string
folder?: string
person?: string
}
/**
 * Newest first.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "AuditList".
 */
export interface AuditList {
entries: AuditEntry[]
}
/**
 * Embed what waits, of one chat or of all (B-5).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Backfill".
 */
export interface Backfill {
chatId?: (string | null)
}
/**
 * How many passages and memories were embedded.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Backfilled".
 */
export interface Backfilled {
embedded: number
}
/**
 * A location that may be without a range, as workspace symbols have it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "BareLocation".
 */
export interface BareLocation {
uri: string
range?: (SpanIn | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SpanIn".
 */
export interface SpanIn {
start: Spot
end: Spot
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Spot".
 */
export interface Spot {
line: number
character: number
}
/**
 * What a part of the view takes of its share of the budget, in tokens (B-2).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "BudgetLine".
 */
export interface BudgetLine {
part: ("system" | "summary" | "retrieved" | "recent" | "input")
share: number
tokens: number
over: boolean
}
/**
 * Why the vendor's cache gave less than it could have: its own reason, or ours, and a few words for a person.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CacheMiss".
 */
export interface CacheMiss {
reason: string
words: string
}
/**
 * A tool call as the model wrote it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Call".
 */
export interface Call {
id: string
tool: string
arguments: {
[k: string]: unknown | undefined
}
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Cancelled".
 */
export interface Cancelled {
cancelled: boolean
}
/**
 * A file changed in a turn; `added` and `removed` are lines.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Change".
 */
export interface Change {
path: string
uri: string
kind: ("created" | "modified" | "deleted")
added: number
removed: number
}
/**
 * A conversation; `model` is the one that will be asked, `running` is the id of the running turn.
 * 
 * `effort` is there where one was chosen for it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Chat".
 */
export interface Chat {
id: string
title: string
kind: string
mode: ("agent" | "ask" | "plan")
model: string
strategy: ("layered" | "full" | "last-n" | "summary+recent" | "span-retrieval" | "sliding-window" | "auto")
createdAt: number
updatedAt: number
turns: number
running: (string | null)
effort?: ("low" | "medium" | "high" | "xhigh" | "max")
}
/**
 * What the turns of a chat did and nobody has undone, oldest first; where it is too much, the newest of it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatChanges".
 */
export interface ChatChanges {
changes: TurnChange[]
total: number
}
/**
 * What a turn did to one file all in all; `number` rises with every change, also from chat to chat.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnChange".
 */
export interface TurnChange {
turnId: string
uri: string
path: string
kind: ("created" | "modified" | "deleted")
number: number
isText: boolean
renamedFrom?: string
}
/**
 * An event with its place in the chat; `seq` rises by one per chat, `at` is in seconds since the epoch.
 * 
 * `turnId` is empty for a compaction that was asked for while no turn ran.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatEvent".
 */
export interface ChatEvent {
event: (TurnStarted | Thought | Answer | ToolCall | ToolOutput | Todo | UsageReport | Steer | Compaction | Retry | HookRun | NoticeGiven | Mcp | TurnEnded)
chatId: string
turnId: string
seq: number
at: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnStarted".
 */
export interface TurnStarted {
steered?: true
text: string
mentions: Mention[]
mentionsLeftOut: number
steers?: string[]
images?: MessageImage[]
kind: "turn_started"
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Mention".
 */
export interface Mention {
path: string
kind: ("file" | "folder" | "symbol" | "resource" | "special" | "unresolved")
uri?: string
reminded: boolean
}
/**
 * A picture of a user message or of a result, without its bytes; `size` counts them, `digest` is their SHA-256.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MessageImage".
 */
export interface MessageImage {
mediaType: string
width: number
height: number
size: number
digest: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Thought".
 */
export interface Thought {
progress?: true
delta: string
step: number
kind: "thought"
}
/**
 * An upsert by `callId`; a field left out is unchanged.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ToolCall".
 */
export interface ToolCall {
callId: string
tool: string
title: string
status: ("pending" | "awaiting_approval" | "running" | "completed" | "failed" | "rejected" | "interrupted")
step: number
args?: {
[k: string]: unknown | undefined
}
summary?: string
diff?: string
decision?: Decision
parent?: string
kind: "tool_call"
}
/**
 * Why a call was allowed, asked about or denied (S-1).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Decision".
 */
export interface Decision {
action: ("allow" | "ask" | "deny")
source: ("mode" | "deny" | "allow" | "grant" | "default" | "user" | "hook")
rule: string
}
/**
 * What a command has printed since the last one, while it runs: at most ten a second, and bounded.
 * 
 * Its `seq` is that of the event before it, and `chat/read` does not have it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ToolOutput".
 */
export interface ToolOutput {
callId: string
stream: ("stdout" | "stderr")
delta: string
step: number
parent?: string
kind: "tool_output"
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Todo".
 */
export interface Todo {
items: TodoItem[]
step: number
kind: "todo"
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TodoItem".
 */
export interface TodoItem {
content: string
status: ("pending" | "in_progress" | "completed" | "cancelled")
}
/**
 * Usage of one model call, and how full the window is, in tokens; with a `parent` both are a child turn's (X-4).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UsageReport".
 */
export interface UsageReport {
totalTokens: number
costUsd?: number
cacheMiss?: CacheMiss
inputTokens: number
cacheReadTokens: number
cacheWriteTokens: number
outputTokens: number
webSearches?: number
thinkingTokens?: number
estimatedTokens?: number
contextTokens: number
contextWindow: number
step: number
parent?: string
kind: "usage"
}
/**
 * What the user has sent while a turn ran, as typed: an upsert by `id` (R-9).
 * 
 * `waiting` until the model reads it before its next step (`told`), the user takes it back (`withdrawn`), or the turn
 * ends otherwise than by an answer (`returned`: it is not sent). What waits when the answer comes becomes the next
 * turn, whose `turn_started` names it in `steers`. Chats of older versions have events without an `id`; those were
 * told.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Steer".
 */
export interface Steer {
text: string
step?: number
id: string
state: ("waiting" | "told" | "withdrawn" | "returned")
mentions?: Mention[]
mentionsLeftOut?: number
images?: MessageImage[]
kind: "steer"
}
/**
 * A compaction's progress; the last one is `finished`, `failed` or `cancelled` and has the report (K-10).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Compaction".
 */
export interface Compaction {
report?: CompactionReport
phase: ("started" | "summarising" | "finished" | "failed" | "cancelled")
kind: "compaction"
}
/**
 * How a compaction went (K-10); tokens are estimates of the whole view.
 * 
 * `thinned` counts results and arguments that are one line now; `message`, unless it is empty, is what the user is
 * told, word for word.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CompactionReport".
 */
export interface CompactionReport {
compacted: boolean
reason: ("threshold" | "manual" | "overflow" | "rounds_not_enough" | "below_low_water" | "summary_failed" | "summary_timed_out" | "cancelled" | "paused")
roundsArchived: number
roundsKept: number
tokensBefore: number
tokensAfter: number
seconds: number
summary: ("model" | "none")
checkpointId?: string
thinned: number
message: string
}
/**
 * The step is asked again: its deltas so far are withdrawn.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Retry".
 */
export interface Retry {
attempt: number
inSeconds: number
reason: string
step: number
kind: "retry"
}
/**
 * A hook's run: an upsert by `id` (X-7). `name` is its command, cut; `message` what it says, or why it failed.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "HookRun".
 */
export interface HookRun {
id: string
name: string
event: ("PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop" | "SessionStart" | "PreCompact" | "PostCompact")
status: ("running" | "passed" | "blocked" | "failed" | "cancelled")
seconds: number
message?: string
step?: number
callId?: string
kind: "hook"
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "NoticeGiven".
 */
export interface NoticeGiven {
level: ("info" | "warning" | "error")
code: string
message: string
step?: number
kind: "notice"
}
/**
 * A server that people bring along is doing otherwise (X-3); in chats that use servers.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Mcp".
 */
export interface Mcp {
server: string
state: ("off" | "starting" | "ready" | "failed" | "needs_trust" | "needs_auth")
message?: string
kind: "mcp"
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnEnded".
 */
export interface TurnEnded {
result: TurnResult
kind: "turn_ended"
}
/**
 * How a turn ended; `model` is the one that was asked.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnResult".
 */
export interface TurnResult {
chatId: string
turnId: string
stopReason: ("finished" | "cancelled" | "step_limit" | "token_limit" | "refused" | "failed")
answer: string
steps: number
usage: Usage
notices: Notice[]
changes: Change[]
error?: TurnError
model?: string
}
/**
 * Billed tokens; `totalTokens` is their sum (W-1), `estimatedTokens` what of it nobody has reported (P-7).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Usage".
 */
export interface Usage {
totalTokens: number
costUsd?: number
cacheMiss?: CacheMiss
inputTokens: number
cacheReadTokens: number
cacheWriteTokens: number
outputTokens: number
webSearches?: number
thinkingTokens?: number
estimatedTokens?: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Notice".
 */
export interface Notice {
level: ("info" | "warning" | "error")
code: string
message: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnError".
 */
export interface TurnError {
code: ("chat_not_found" | "turn_not_found" | "chat_busy" | "model_unavailable" | "model_not_found" | "not_confirmed" | "model_refused" | "effort_not_taken" | "auth_failed" | "not_lent" | "spending_limit" | "context_overflow" | "window_too_small" | "invalid_text" | "invalid_attachment" | "hook_blocked" | "unreadable_reply" | "repeated_failure" | "internal_error" | "store_unavailable" | "not_trusted" | "folder_not_found" | "grant_not_found" | "grant_not_yours" | "memory_not_found" | "memory_refused" | "nothing_to_undo" | "nothing_to_commit" | "revert_conflict" | "server_not_found" | "settings_unreadable")
message: string
hint: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatFileRef".
 */
export interface ChatFileRef {
uri: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatList".
 */
export interface ChatList {
chats: Chat[]
nextCursor?: string
}
/**
 * A chat with what was said and what happened; `earlier`: there are turns before those given.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatRecord".
 */
export interface ChatRecord {
chat: Chat
messages: Message[]
events: ChatEvent[]
running: (string | null)
earlier: boolean
}
/**
 * One entry of the transcript; a tool message's content is a JSON object.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Message".
 */
export interface Message {
id: string
turnId: string
role: ("user" | "assistant" | "tool" | "summary")
content: string
metadata: MessageMetadata
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MessageMetadata".
 */
export interface MessageMetadata {
step?: number
toolName?: string
callId?: string
mtime?: number
answer?: string
calls?: Call[]
searches?: WebSearch[]
fragments?: MessageFragment[]
images?: MessageImage[]
note?: ("steer" | "reminder" | "hint")
ref?: string
interrupted?: boolean
parent?: string
damaged?: boolean
}
/**
 * A search of the web, what it found, and why it found nothing.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "WebSearch".
 */
export interface WebSearch {
query: string
found: FoundPage[]
problem?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "FoundPage".
 */
export interface FoundPage {
title: string
url: string
}
/**
 * A bounded piece of context stored with a user message that the user did not type.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MessageFragment".
 */
export interface MessageFragment {
name: string
text: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ChatRef".
 */
export interface ChatRef {
chatId: string
}
/**
 * The files as they were before a turn: looked at, with `restore` put back, with `undo` that taken back again.
 * 
 * `overwrite` names files in which others' changes may be lost.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Checkpoint".
 */
export interface Checkpoint {
chatId: string
turnId: string
restore?: (boolean | null)
overwrite?: (string[] | null)
undo?: (boolean | null)
}
/**
 * A file that is another than before the turn. `lost` says what of others' work a restore would lose.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CheckpointFile".
 */
export interface CheckpointFile {
path: string
uri: string
does: ("create" | "modify" | "delete")
changed: boolean
lost?: string
stuck?: string
}
/**
 * The files as they were found, and those that were put back or left alone.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CheckpointState".
 */
export interface CheckpointState {
files: CheckpointFile[]
restored: string[]
conflicts: RevertConflict[]
undoable: boolean
}
/**
 * A file that was left alone.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RevertConflict".
 */
export interface RevertConflict {
uri: string
reason: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CommandList".
 */
export interface CommandList {
commands: UserCommand[]
}
/**
 * A command that a message calls with `/name`; `source` is its file.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UserCommand".
 */
export interface UserCommand {
name: string
source: string
description: string
arguments?: string
}
/**
 * The repository whose next commit is to have a message; without a uri that of the first folder.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CommitMessage".
 */
export interface CommitMessage {
uri?: (string | null)
}
/**
 * What would be sent now; `threshold` is in tokens, `kept` says what of the history is shown, `model` to whom.
 * 
 * `dialect` is how it is asked. Tokens are estimates; `exactTokens` is the vendor's count where it was asked for,
 * `exactProblem` why there is none.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ContextReport".
 */
export interface ContextReport {
sections: Section[]
totalTokens: number
contextWindow: number
threshold: number
strategy: string
dropped: Dropped[]
text: string
kept: string
budget: BudgetLine[]
model?: string
dialect?: ("react" | "native")
exactTokens?: number
tools?: ToolOffer[]
exactProblem?: string
}
/**
 * A part of the view, in the order it is sent; `cached` lies before a cache breakpoint.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Section".
 */
export interface Section {
layer: ("L1" | "L2" | "L3" | "turn" | "tail")
name: string
tokens: number
chars: number
cut: boolean
cached: boolean
text: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Dropped".
 */
export interface Dropped {
name: string
reason: string
}
/**
 * Whether a tool is offered to the model; `reason` is what enables it, or why it is not (X-1).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ToolOffer".
 */
export interface ToolOffer {
name: string
category: string
offered: boolean
reason: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "CreateChat".
 */
export interface CreateChat {
mode?: (("agent" | "ask" | "plan") | null)
model?: (string | null)
strategy?: (("layered" | "full" | "last-n" | "summary+recent" | "span-retrieval" | "sliding-window" | "auto") | null)
effort?: (("low" | "medium" | "high" | "xhigh" | "max") | "default" | null)
title?: (string | null)
kind?: (("panel" | "inline" | "headless" | "shared") | null)
}
/**
 * The user does not want to be asked about a server as they have seen it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "DeclineServer".
 */
export interface DeclineServer {
name: string
digest: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Deleted".
 */
export interface Deleted {
deleted: true
}
/**
 * `version` is that of the text which the diagnostics are about.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "DocumentDiagnostics".
 */
export interface DocumentDiagnostics {
uri: string
version?: (number | null)
/**
 * @maxItems 20000
 */
diagnostics: EditorDiagnostic[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorDiagnostic".
 */
export interface EditorDiagnostic {
range: SpanIn
message: string
severity?: ((1 | 2 | 3 | 4) | null)
code?: (number | string | null)
source?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "DocumentEdits".
 */
export interface DocumentEdits {
textDocument: EditedDocument
/**
 * @maxItems 20000
 */
edits: EditorTextEdit[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditedDocument".
 */
export interface EditedDocument {
uri: string
version?: (number | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorTextEdit".
 */
export interface EditorTextEdit {
range: SpanIn
newText: string
}
/**
 * Lines of a document that are to be changed as `text` says; with a chat, after what was said there.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditInEditor".
 */
export interface EditInEditor {
uri: string
range: Range
text: string
version?: (number | null)
chatId?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorLocation".
 */
export interface EditorLocation {
uri: string
range: SpanIn
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorLocationLink".
 */
export interface EditorLocationLink {
targetUri: string
targetRange: SpanIn
targetSelectionRange?: (SpanIn | null)
}
/**
 * What the user looks at in the editor; `line` is the older form of `cursor`, which wins (L-3).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorParams".
 */
export interface EditorParams {
uri: string
line?: (number | null)
version?: (number | null)
cursor?: (Position | null)
selection?: (Range | null)
visible?: (Range | null)
}
/**
 * LSP's `SymbolInformation` or `WorkspaceSymbol`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorSymbol".
 */
export interface EditorSymbol {
name: string
kind: number
location: BareLocation
containerName?: (string | null)
}
/**
 * Whether the editor itself trusts the folder (its restricted mode), where that has changed (S-7).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EditorTrust".
 */
export interface EditorTrust {
trusted: boolean
}
/**
 * A server of a workspace's file starts only as it was seen: one that has changed since is refused.
 * 
 * `digest` is that of what the user has seen; without it what was listed last counts.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "EnableServer".
 */
export interface EnableServer {
name: string
enabled: boolean
digest?: (string | null)
}
/**
 * A chat as one document.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Export".
 */
export interface Export {
text: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ExportChat".
 */
export interface ExportChat {
chatId: string
format: ("markdown" | "json")
}
/**
 * A file that is to be made, moved or removed.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "FileOperation".
 */
export interface FileOperation {
kind: ("create" | "rename" | "delete")
uri?: (string | null)
oldUri?: (string | null)
newUri?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ForgetMemory".
 */
export interface ForgetMemory {
id: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Forgotten".
 */
export interface Forgotten {
forgotten: true
}
/**
 * `turnId` must be there; null makes an empty chat with the same settings.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ForkChat".
 */
export interface ForkChat {
chatId: string
turnId: (string | null)
}
/**
 * `kind` is the symbol's, else `doc` or `code`; `score` compares with others of this answer only.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "FoundPlace".
 */
export interface FoundPlace {
uri: string
path: string
range: PlaceRange
symbol?: string
kind: string
lines: string[]
why: string
score: number
}
/**
 * Whole lines, zero-based: from the begin of the first to the begin of the one behind the last.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "PlaceRange".
 */
export interface PlaceRange {
start: PlacePosition
end: PlacePosition
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "PlacePosition".
 */
export interface PlacePosition {
line: number
character: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "FoundPlaces".
 */
export interface FoundPlaces {
places: FoundPlace[]
indexed: Indexed
}
/**
 * `fresh` where every file was looked at as it is now.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Indexed".
 */
export interface Indexed {
files: number
fresh: boolean
}
/**
 * A permission that needs no question any more: in one chat, or in all chats of one person in one folder.
 * 
 * `folder` is a real path, to which the rule's paths are relative.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Grant".
 */
export interface Grant {
id: string
rule: string
scope: ("chat" | "always")
folder?: string
person?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "GrantList".
 */
export interface GrantList {
grants: Grant[]
}
/**
 * A picture, its bytes in base64; what it is they say themselves, whatever `mediaType` is (M-6).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ImageParams".
 */
export interface ImageParams {
kind: "image"
data: string
mediaType?: (string | null)
}
/**
 * `seconds` is how long the last run took that read anything; `skipped` counts files by the reason.
 * 
 * `commits` is how many commits' messages help to rank; `embedder` makes vectors of pieces, of which `embedded` have
 * theirs; while `embedding` is true more are made.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "IndexReport".
 */
export interface IndexReport {
state: ("none" | "building" | "ready" | "memory")
skipped: {
[k: string]: number | undefined
}
files: number
chunks: number
pending: number
seconds: number
commits: number
embedder?: string
embedded: number
embedding: boolean
note?: string
}
/**
 * With `strategy` and `strategyOptions` a preview of them: nothing of the chat is changed.
 * 
 * With `exact` the vendor is asked to count, one request that costs nothing (W-4).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "InspectContext".
 */
export interface InspectContext {
chatId?: (string | null)
text?: (string | null)
strategy?: (("layered" | "full" | "last-n" | "summary+recent" | "span-retrieval" | "sliding-window" | "auto") | null)
strategyOptions?: (StrategyOptions | null)
exact?: boolean
}
/**
 * Numbers of a strategy for one request: settings of `context` and `retrieval`, by their own names (B-1).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "StrategyOptions".
 */
export interface StrategyOptions {
threshold?: (number | null)
keepRounds?: (number | null)
minMessages?: (number | null)
lowWater?: (number | null)
maxWindow?: (number | null)
summaryTimeoutSeconds?: (number | null)
totalBudget?: (number | null)
indexTokens?: (number | null)
recentMin?: (number | null)
recentMax?: (number | null)
summariseAbove?: (number | null)
window?: (number | null)
topK?: (number | null)
radius?: (number | null)
share?: (number | null)
minSimilarity?: (number | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LawDocument".
 */
export interface LawDocument {
folder: string
uri: string
tokens: number
hash: string
source: ("buffer" | "disk")
name: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LawReport".
 */
export interface LawReport {
found: boolean
documents: LawDocument[]
text: string
}
/**
 * A model; `maxInputTokens` is what may be sent to it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentModelFacts".
 */
export interface LentModelFacts {
id: string
name?: string
family?: string
maxInputTokens: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentModels".
 */
export interface LentModels {
/**
 * @maxItems 1000
 */
models: LentModelFacts[]
}
/**
 * A part of a reply: `text`, a call with its `callId`, `name` and `input`, or `other`, of which nothing is told.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentPart".
 */
export interface LentPart {
kind: ("text" | "call" | "other")
text?: string
callId?: string
name?: string
input?: unknown
}
/**
 * A tool in the words of who brings it; `inputSchema` is the JSON Schema of an object.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentToolFacts".
 */
export interface LentToolFacts {
name: string
description?: string
inputSchema?: ({
[k: string]: unknown | undefined
} | null)
}
/**
 * One that cannot be read is left out, and the others count.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LentTools".
 */
export interface LentTools {
tools: unknown[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListAgents".
 */
export interface ListAgents {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListChats".
 */
export interface ListChats {
query?: (string | null)
limit?: (number | null)
cursor?: (string | null)
here?: (boolean | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListCommands".
 */
export interface ListCommands {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListGrants".
 */
export interface ListGrants {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListMemories".
 */
export interface ListMemories {
scope?: (("user" | "project" | "session") | null)
category?: (("preference" | "fact" | "skill" | "habit" | "event" | "context" | "constraint" | "decision") | null)
limit?: (number | null)
cursor?: (string | null)
chatId?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListMentions".
 */
export interface ListMentions {
prefix: string
limit?: (number | null)
}
/**
 * With `discover` endpoints and servers on this machine are asked what they have, which may take seconds.
 * 
 * What they have said stays in the list.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListModels".
 */
export interface ListModels {
discover?: boolean
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListServers".
 */
export interface ListServers {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ListSkills".
 */
export interface ListSkills {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LogOutOfServer".
 */
export interface LogOutOfServer {
name: string
}
/**
 * Whether there was a login to forget.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LoggedOut".
 */
export interface LoggedOut {
forgotten: boolean
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "LookAt".
 */
export interface LookAt {
uri: string
}
/**
 * Whether the model is told that the user looks at a document: its path there, or why it is not told (L-3).
 * 
 * `outside` the workspace; `hidden` from listings, by its name or by ignore files; `denied` by a permission rule.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Looked".
 */
export interface Looked {
path?: string
unsent?: ("outside" | "hidden" | "denied")
}
/**
 * One entry. `merged` is sent by a save that an older entry has taken in, the last three by a search.
 * 
 * `relevance`, from 0 to 1, says how much an entry has to do with what was searched for; it is the `similarity` that
 * `score` is made of, rounded as the model is shown it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Memory".
 */
export interface Memory {
merged?: boolean
similarity?: number
score?: number
relevance?: number
id: string
text: string
category: ("preference" | "fact" | "skill" | "habit" | "event" | "context" | "constraint" | "decision")
scope: ("user" | "project" | "session")
belongsTo: string
confidence: number
createdAt: number
usedAt?: number
uses: number
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MemoryList".
 */
export interface MemoryList {
memories: Memory[]
nextCursor?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MentionItem".
 */
export interface MentionItem {
path: string
kind: ("file" | "folder" | "symbol" | "resource" | "special")
detail?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "MentionList".
 */
export interface MentionList {
items: MentionItem[]
}
/**
 * A model that can be chosen; sizes in tokens. Without `vision` nobody knows whether it sees pictures.
 * 
 * `effort` are those that it takes, prices US dollars for a million tokens, `retired` the day on which its maker ends
 * it. `largestWindow` is what it has where `contextWindow` is less, and can be raised to that.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Model".
 */
export interface Model {
priceIn?: number
priceOut?: number
priceRead?: number
priceSteps?: PriceStep[]
name: string
contextWindow: number
maxOutput: number
provider: string
current: boolean
vision?: boolean
family: string
effort?: ("low" | "medium" | "high" | "xhigh" | "max")[]
defaultEffort?: ("low" | "medium" | "high" | "xhigh" | "max")
source: ("profile" | "endpoint" | "editor")
retired?: string
largestWindow?: number
}
/**
 * Above so many tokens of a request, `input` and `output` cost so many times as much.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "PriceStep".
 */
export interface PriceStep {
above: number
input: number
output: number
}
/**
 * The end of a reply. An editor that is not told why it ended says `end_turn`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ModelAnswer".
 */
export interface ModelAnswer {
stop?: ("end_turn" | "tool_use" | "max_tokens" | "refusal")
}
/**
 * Other models than before may be asked: `model/list` and what is shown of chats are to be read again.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ModelChanged".
 */
export interface ModelChanged {

}
/**
 * `problems` are sentences about lists that are cut or did not come.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ModelList".
 */
export interface ModelList {
models: Model[]
problems?: string[]
}
/**
 * LSP's `DocumentSymbol`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "NestedSymbol".
 */
export interface NestedSymbol {
name: string
kind: number
range: SpanIn
selectionRange?: (SpanIn | null)
children?: (NestedSymbol[] | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "PictureData".
 */
export interface PictureData {
mediaType: string
data: string
}
/**
 * A picture of a chat by its `digest`, as messages and events name it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "PictureRef".
 */
export interface PictureRef {
chatId: string
digest: string
}
/**
 * What the turn proposes, when it has ended.
 * 
 * `lines` are those that it proposes, none where it proposes nothing; `said` is what else it answers. Of an edit
 * `before` are the lines, from `first` on, that they would replace.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Proposal".
 */
export interface Proposal {
stopReason: ("finished" | "cancelled" | "step_limit" | "token_limit" | "refused" | "failed")
lines?: string[]
said: string
first?: number
before?: string[]
error?: TurnError
}
/**
 * The turn that was begun to propose something.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Proposing".
 */
export interface Proposing {
chatId: string
turnId: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "QuickFix".
 */
export interface QuickFix {
title: string
edit?: (WorkspaceEditReply | null)
}
/**
 * LSP's `WorkspaceEdit`; `documentChanges` count where both are there.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "WorkspaceEditReply".
 */
export interface WorkspaceEditReply {
changes?: ({
/**
 * @maxItems 20000
 */
[k: string]: EditorTextEdit[] | undefined
} | null)
documentChanges?: ((DocumentEdits | FileOperation)[] | null)
}
/**
 * With `turns` or `beforeTurn`: only the newest `turns` turns, before that one.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReadChat".
 */
export interface ReadChat {
chatId: string
sinceSeq?: (number | null)
limit?: (number | null)
before?: (string | null)
turns?: (number | null)
beforeTurn?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReadIndex".
 */
export interface ReadIndex {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReadLaw".
 */
export interface ReadLaw {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReadSettings".
 */
export interface ReadSettings {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReadWorkspaceSettings".
 */
export interface ReadWorkspaceSettings {

}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RestartServer".
 */
export interface RestartServer {
name: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Restarted".
 */
export interface Restarted {
restarted: true
}
/**
 * Undo that checkpoint and the newer ones, or the newest alone (K-3).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RestoreContext".
 */
export interface RestoreContext {
chatId: string
checkpointId?: (string | null)
}
/**
 * `files` is true where it is left out, `messages` false.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RevertTurn".
 */
export interface RevertTurn {
chatId: string
turnId: string
files?: (boolean | null)
messages?: (boolean | null)
uris?: (string[] | null)
}
/**
 * The files that are as if the turn had not changed them, and those that were changed since at the same place.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Reverted".
 */
export interface Reverted {
reverted: string[]
conflicts: RevertConflict[]
}
/**
 * `above` is 0 where it is left out: all that the chat did to the file.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReviewFile".
 */
export interface ReviewFile {
chatId: string
uri: string
above?: (number | null)
}
/**
 * A file before the chat changed it, and as it left it; null where there was, or is, no file.
 * 
 * Both are null where `isText` is false. With `redacted` they are not what stands in the file.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ReviewedFile".
 */
export interface ReviewedFile {
path: string
before: (string | null)
after: (string | null)
number: number
isText: boolean
redacted: boolean
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "RevokeGrant".
 */
export interface RevokeGrant {
id: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Revoked".
 */
export interface Revoked {
revoked: true
}
/**
 * `codelaw/editor/save` (F-6).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SaveDocuments".
 */
export interface SaveDocuments {
uris: string[]
}
/**
 * `chatId` is the chat that an entry of the scope `session` belongs to.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SaveMemory".
 */
export interface SaveMemory {
text: string
category?: (("preference" | "fact" | "skill" | "habit" | "event" | "context" | "constraint" | "decision") | null)
scope?: (("user" | "project" | "session") | null)
confidence?: (number | null)
chatId?: (string | null)
}
/**
 * `path` is a file or folder as the tools take it; `limit` is 10 by default.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SearchCode".
 */
export interface SearchCode {
query: string
path?: (string | null)
kind?: (("definition" | "use" | "doc" | "any") | null)
limit?: (number | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SearchMemories".
 */
export interface SearchMemories {
query: string
category?: (("preference" | "fact" | "skill" | "habit" | "event" | "context" | "constraint" | "decision") | null)
limit?: (number | null)
chatId?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SendMessage".
 */
export interface SendMessage {
mode?: (("agent" | "ask" | "plan") | null)
model?: (string | null)
strategy?: (("layered" | "full" | "last-n" | "summary+recent" | "span-retrieval" | "sliding-window" | "auto") | null)
effort?: (("low" | "medium" | "high" | "xhigh" | "max") | "default" | null)
text: string
chatId?: (string | null)
strategyOptions?: (StrategyOptions | null)
attachments?: ((AttachmentParams | ImageParams | TextParams)[] | null)
editor?: (EditorParams | null)
}
/**
 * A text that is not a document, as a terminal's output or a page that was pasted (M-6).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TextParams".
 */
export interface TextParams {
kind: "text"
title: string
text: string
}
/**
 * A server, how it is doing, and why; `source` is where it is written.
 * 
 * In the state `needs_trust` the message says what would be run or reached, whole; `ask` is there where the user has
 * not said no to it, and `digest` changes with it. `loggedIn` is there where a login is kept, which
 * `codelaw/mcp/logout` forgets.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Server".
 */
export interface Server {
ask?: true
loggedIn?: true
name: string
state: ("off" | "starting" | "ready" | "failed" | "needs_trust" | "needs_auth")
tools: number
message?: string
source?: string
digest?: string
}
/**
 * Sorted by name; `problems` are what is wrong with what is written.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ServerList".
 */
export interface ServerList {
servers: Server[]
problems?: string[]
}
/**
 * An effective value, keys masked; `source` is the file or variable it came from.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Setting".
 */
export interface Setting {
value: unknown
origin: ("default" | "user" | "workspace" | "environment" | "client" | "commandLine")
source?: string
}
/**
 * What is wrong where it is decided what may be done; of a file its uri, and the line from 1 where it is known.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SettingsFault".
 */
export interface SettingsFault {
message: string
uri?: string
line?: number
}
/**
 * Every setting by its dotted key, and what was wrong with what was read.
 * 
 * `faults` are those of the problems that let no turn begin, or for which what was read before stays in force (S-1).
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SettingsReport".
 */
export interface SettingsReport {
settings: {
[k: string]: Setting | undefined
}
problems: Notice[]
faults?: SettingsFault[]
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ShowChat".
 */
export interface ShowChat {
chatId: string
what: ("transcript" | "context" | "before")
turnId?: (string | null)
path?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Shown".
 */
export interface Shown {
uri: string
}
/**
 * A skill; `source` is its `SKILL.md` as people know it.
 * 
 * `shadowed` is the source of the skill of this name that counts instead, `problem` what is wrong with it. It can be
 * loaded unless it is shadowed or `unreadable`.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Skill".
 */
export interface Skill {
name: string
uri: string
source: string
unreadable?: boolean
description: string
problem?: string
shadowed?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SkillList".
 */
export interface SkillList {
skills: Skill[]
}
/**
 * What the command of a long method answers at once.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Started".
 */
export interface Started {
chatId: string
turnId: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "SteerTurn".
 */
export interface SteerTurn {
chatId: string
text: string
editor?: (EditorParams | null)
attachments?: ((AttachmentParams | ImageParams | TextParams)[] | null)
}
/**
 * The message waits, safe from a crash; what becomes of it is told by `steer` events of that id.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Steered".
 */
export interface Steered {
queued: true
id: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "StopCall".
 */
export interface StopCall {
chatId: string
callId: string
}
/**
 * Whether a command of that call ran, which ends now; its result tells that the user has stopped it.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "StoppedCall".
 */
export interface StoppedCall {
stopped: boolean
}
/**
 * What a terminal shows of its last command.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TerminalText".
 */
export interface TerminalText {
output: string
name?: (string | null)
command?: (string | null)
exitCode?: (number | null)
}
/**
 * What a tool gave.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ToolAnswer".
 */
export interface ToolAnswer {
parts: ToolPart[]
}
/**
 * A part of a result: `text`, an `image` as base64 in `data`, or `other`, of which only the kind is told.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "ToolPart".
 */
export interface ToolPart {
kind: ("text" | "image" | "other")
text?: string
mediaType?: string
data?: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Trust".
 */
export interface Trust {
trusted: boolean
}
/**
 * `folder` is the uri or the absolute path of one of the workspace's folders.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TrustFolder".
 */
export interface TrustFolder {
folder: string
trusted: boolean
digest?: (string | null)
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "TurnRef".
 */
export interface TurnRef {
chatId: string
turnId: string
}
/**
 * Without a turn, the last one of the file.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UndoInChatFile".
 */
export interface UndoInChatFile {
uri: string
turnId?: (string | null)
}
/**
 * `message` says what was undone, as the user was told.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Undone".
 */
export interface Undone {
message: string
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UnsteerTurn".
 */
export interface UnsteerTurn {
chatId: string
id: string
}
/**
 * Whether it was withdrawn; what the model was told, or is being told, cannot be.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "Unsteered".
 */
export interface Unsteered {
withdrawn: boolean
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UpdateChat".
 */
export interface UpdateChat {
mode?: (("agent" | "ask" | "plan") | null)
model?: (string | null)
strategy?: (("layered" | "full" | "last-n" | "summary+recent" | "span-retrieval" | "sliding-window" | "auto") | null)
effort?: (("low" | "medium" | "high" | "xhigh" | "max") | "default" | null)
chatId: string
title?: (string | null)
}
/**
 * What is left out stays as it is.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "UpdateMemory".
 */
export interface UpdateMemory {
id: string
text?: (string | null)
category?: (("preference" | "fact" | "skill" | "habit" | "event" | "context" | "constraint" | "decision") | null)
scope?: (("user" | "project" | "session") | null)
confidence?: (number | null)
chatId?: (string | null)
}
/**
 * A folder's own settings file: its digest, and what in it counts only when the folder is trusted.
 * 
 * `values` are JSON by dotted key, secrets masked, characters that are not seen as their codes.
 * 
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "WorkspaceFile".
 */
export interface WorkspaceFile {
folder: string
path: string
file: string
digest: string
trusted: boolean
values: {
[k: string]: string | undefined
}
}
/**
 * This interface was referenced by `Definitions`'s JSON-Schema
 * via the `definition` "WorkspaceSettings".
 */
export interface WorkspaceSettings {
files: WorkspaceFile[]
}

export const VERSION = 1;

/** Requests to the server. */
export interface Methods {
  "codelaw/chat/create": { params: CreateChat; result: Chat };
  "codelaw/chat/list": { params: ListChats; result: ChatList };
  "codelaw/chat/read": { params: ReadChat; result: ChatRecord };
  "codelaw/chat/send": { params: SendMessage; result: TurnResult };
  "codelaw/chat/steer": { params: SteerTurn; result: Steered };
  "codelaw/chat/picture": { params: PictureRef; result: PictureData };
  "codelaw/chat/unsteer": { params: UnsteerTurn; result: Unsteered };
  "codelaw/chat/stopCall": { params: StopCall; result: StoppedCall };
  "codelaw/chat/cancel": { params: ChatRef; result: Cancelled };
  "codelaw/chat/update": { params: UpdateChat; result: Chat };
  "codelaw/chat/delete": { params: ChatRef; result: Deleted };
  "codelaw/chat/fork": { params: ForkChat; result: Chat };
  "codelaw/chat/export": { params: ExportChat; result: Export };
  "codelaw/chat/revert": { params: RevertTurn; result: Reverted };
  "codelaw/chat/checkpoint": { params: Checkpoint; result: CheckpointState };
  "codelaw/chat/changes": { params: ChatRef; result: ChatChanges };
  "codelaw/chat/reviewed": { params: ReviewFile; result: ReviewedFile };
  "codelaw/context/inspect": { params: InspectContext; result: ContextReport };
  "codelaw/context/compact": { params: ChatRef; result: CompactionReport };
  "codelaw/context/restore": { params: RestoreContext; result: Chat };
  "codelaw/context/archive": { params: ChatRef; result: Archive };
  "codelaw/context/law": { params: ReadLaw; result: LawReport };
  "codelaw/context/mentions": { params: ListMentions; result: MentionList };
  "codelaw/context/editor": { params: LookAt; result: Looked };
  "codelaw/memory/save": { params: SaveMemory; result: Memory };
  "codelaw/memory/list": { params: ListMemories; result: MemoryList };
  "codelaw/memory/search": { params: SearchMemories; result: MemoryList };
  "codelaw/memory/update": { params: UpdateMemory; result: Memory };
  "codelaw/memory/forget": { params: ForgetMemory; result: Forgotten };
  "codelaw/memory/backfill": { params: Backfill; result: Backfilled };
  "codelaw/workspace/trust": { params: TrustFolder; result: Trust };
  "codelaw/workspace/settings": { params: ReadWorkspaceSettings; result: WorkspaceSettings };
  "codelaw/permission/list": { params: ListGrants; result: GrantList };
  "codelaw/permission/revoke": { params: RevokeGrant; result: Revoked };
  "codelaw/permission/audit": { params: Audit; result: AuditList };
  "codelaw/model/list": { params: ListModels; result: ModelList };
  "codelaw/command/list": { params: ListCommands; result: CommandList };
  "codelaw/skill/list": { params: ListSkills; result: SkillList };
  "codelaw/agent/list": { params: ListAgents; result: AgentList };
  "codelaw/mcp/list": { params: ListServers; result: ServerList };
  "codelaw/mcp/restart": { params: RestartServer; result: Restarted };
  "codelaw/mcp/logout": { params: LogOutOfServer; result: LoggedOut };
  "codelaw/mcp/enable": { params: EnableServer; result: ServerList };
  "codelaw/mcp/decline": { params: DeclineServer; result: ServerList };
  "codelaw/search": { params: SearchCode; result: FoundPlaces };
  "codelaw/index/status": { params: ReadIndex; result: IndexReport };
  "codelaw/index/rebuild": { params: ReadIndex; result: IndexReport };
  "codelaw/settings/read": { params: ReadSettings; result: SettingsReport };
}

/** Commands of code actions, lenses and chat files. */
export interface Commands {
  "codelaw.editor.ask": { params: AskInEditor; result: Asked };
  "codelaw.editor.explain": { params: AskInEditor; result: Asked };
  "codelaw.editor.fix": { params: AskInEditor; result: Asked };
  "codelaw.editor.test": { params: AskInEditor; result: Asked };
  "codelaw.editor.edit": { params: EditInEditor; result: Proposing };
  "codelaw.editor.commitMessage": { params: CommitMessage; result: Proposing };
  "codelaw.editor.proposal": { params: TurnRef; result: Proposal };
  "codelaw.chatFile.send": { params: ChatFileRef; result: Started };
  "codelaw.chatFile.stop": { params: ChatFileRef; result: Cancelled };
  "codelaw.chatFile.undo": { params: UndoInChatFile; result: Undone };
  "codelaw.chat.show": { params: ShowChat; result: Shown };
}

/** Requests from the server. */
export interface Requests {
  "codelaw/approval/request": { params: ApprovalRequest; result: ApprovalReply };
  "codelaw/editor/save": { params: SaveDocuments; result: AnyReply };
  "codelaw/editor/diagnostics": { params: AskDiagnostics; result: DiagnosticsReply };
  "codelaw/editor/definition": { params: AskPlace; result: LocationsReply };
  "codelaw/editor/references": { params: AskPlace; result: LocationsReply };
  "codelaw/editor/rename": { params: AskRename; result: RenameReply };
  "codelaw/editor/quickFix": { params: AskFixes; result: QuickFixReply };
  "codelaw/editor/symbols": { params: AskSymbols; result: SymbolsReply };
  "codelaw/editor/outline": { params: AskOutline; result: OutlineReply };
  "codelaw/editor/terminal": { params: AskTerminal; result: TerminalReply };
  "codelaw/editor/models": { params: AskModels; result: LentModels };
  "codelaw/editor/model": { params: AskModel; result: ModelAnswer };
  "codelaw/editor/tools": { params: AskTools; result: LentTools };
  "codelaw/editor/tool": { params: AskTool; result: ToolAnswer };
}

/** Notifications from the server. */
export interface Notifications {
  "codelaw/chat/event": { params: ChatEvent };
  "codelaw/model/changed": { params: ModelChanged };
}

export const METHODS = [
  "codelaw/chat/create",
  "codelaw/chat/list",
  "codelaw/chat/read",
  "codelaw/chat/send",
  "codelaw/chat/steer",
  "codelaw/chat/picture",
  "codelaw/chat/unsteer",
  "codelaw/chat/stopCall",
  "codelaw/chat/cancel",
  "codelaw/chat/update",
  "codelaw/chat/delete",
  "codelaw/chat/fork",
  "codelaw/chat/export",
  "codelaw/chat/revert",
  "codelaw/chat/checkpoint",
  "codelaw/chat/changes",
  "codelaw/chat/reviewed",
  "codelaw/context/inspect",
  "codelaw/context/compact",
  "codelaw/context/restore",
  "codelaw/context/archive",
  "codelaw/context/law",
  "codelaw/context/mentions",
  "codelaw/context/editor",
  "codelaw/memory/save",
  "codelaw/memory/list",
  "codelaw/memory/search",
  "codelaw/memory/update",
  "codelaw/memory/forget",
  "codelaw/memory/backfill",
  "codelaw/workspace/trust",
  "codelaw/workspace/settings",
  "codelaw/permission/list",
  "codelaw/permission/revoke",
  "codelaw/permission/audit",
  "codelaw/model/list",
  "codelaw/command/list",
  "codelaw/skill/list",
  "codelaw/agent/list",
  "codelaw/mcp/list",
  "codelaw/mcp/restart",
  "codelaw/mcp/logout",
  "codelaw/mcp/enable",
  "codelaw/mcp/decline",
  "codelaw/search",
  "codelaw/index/status",
  "codelaw/index/rebuild",
  "codelaw/settings/read"
] as const;

export type RefusalCode = "chat_not_found" | "turn_not_found" | "chat_busy" | "model_unavailable" | "model_not_found" | "not_confirmed" | "model_refused" | "effort_not_taken" | "auth_failed" | "not_lent" | "spending_limit" | "context_overflow" | "window_too_small" | "invalid_text" | "invalid_attachment" | "hook_blocked" | "unreadable_reply" | "repeated_failure" | "internal_error" | "store_unavailable" | "not_trusted" | "folder_not_found" | "grant_not_found" | "grant_not_yours" | "memory_not_found" | "memory_refused" | "nothing_to_undo" | "nothing_to_commit" | "revert_conflict" | "server_not_found" | "settings_unreadable";
