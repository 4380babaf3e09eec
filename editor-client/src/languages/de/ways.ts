// Was bei einem Fehler hilft, auf Deutsch.
import type { WayWords } from "../en/ways";

export const ways: WayWords = {
  setKey: "API-Schlüssel setzen",
  setKeyHint:
    "Setzen Sie einen anderen Schlüssel von Anthropic, oder starten Sie den Editor mit dem eines anderen Anbieters in dessen Variable, etwa OPENAI_API_KEY.",
  chooseModel: "Modell wählen",
  confirmHint:
    "Wählen Sie ein Modell für diesen Chat, das bestätigt ihn, oder das Offline-Modell; oder senden Sie noch einmal und beantworten Sie die Frage.",
  showLogs: "Protokoll zeigen",
  openSettings: "Einstellungen öffnen",
  mendSettings: "Fehler öffnen",
  manageTrust: "Vertrauen verwalten",
  showContext: "Kontext zeigen",
  showPermissions: "Erlaubnisse zeigen",
  permissionsHint: "Die Seite der Erlaubnisse zeigt, welche es gibt.",
  restart: "Server neu starten",
};
