// The API key: in the editor's secret storage and nowhere else.
import { type Disposable, type ExtensionContext, type SecretStorage, window } from "vscode";
import { t } from "../language";

const NAME = "codelaw.model.apiKey";
const MAX_LENGTH = 4096;

/** What is wrong with a text that should be a key, for the input box; the text itself is never repeated. */
export const problemOfKey = (text: string): string | undefined => {
  const key = text.trim();
  if (key === "") return t.keyEmpty;
  if (/\s/.test(key)) return t.keyBroken;
  if (key.length > MAX_LENGTH) return t.keyLong;
  if (/[^\x21-\x7e]/.test(key)) return t.keyForeign;
  return undefined;
};

/** The user's API key. Windows share it, so that a change in one is heard in all. */
export class ApiKey implements Disposable {
  readonly #storage: SecretStorage;
  readonly #heard: Disposable;

  constructor(context: ExtensionContext, changed: () => void) {
    this.#storage = context.secrets;
    this.#heard = this.#storage.onDidChange(({ key }) => {
      if (key === NAME) changed();
    });
  }

  /** The key, or undefined when none was set. */
  async read(): Promise<string | undefined> {
    return await this.#storage.get(NAME);
  }

  /** Ask the user for a key and keep it; gives whether one was given. */
  async ask(): Promise<boolean> {
    const key = await window.showInputBox({
      title: t.setKey,
      prompt: t.keyKept,
      placeHolder: "sk-ant-…",
      password: true,
      ignoreFocusOut: true,
      validateInput: problemOfKey,
    });
    if (key === undefined || problemOfKey(key) !== undefined) return false;
    await this.#storage.store(NAME, key.trim());
    return true;
  }

  /** Forget the key. */
  async remove(): Promise<void> {
    await this.#storage.delete(NAME);
  }

  dispose(): void {
    this.#heard.dispose();
  }
}
