// The words of the extension in the editor's display language, which is another only after a restart of the editor.
import { env } from "vscode";
import type { HostWords } from "./languages/en/host";
import { hostWords } from "./languages/tables";

export const t: HostWords = hostWords(env.language);
