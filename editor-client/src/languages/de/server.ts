// Die Worte darüber, wie der Server gefunden, installiert, gestartet und gefragt wird, auf Deutsch.
import type { ServerWords } from "../en/server";

export const server: ServerWords = {
  // What the user can do, as buttons.
  openSettings: "Einstellungen öffnen",
  showLogs: "Protokoll zeigen",
  searchAgain: "Erneut suchen",
  tryAgain: "Noch einmal versuchen",
  restart: "Neu starten",
  choosePython: "Python wählen …",
  installServer: "Server installieren",
  updateIt: "Server aktualisieren",

  // What helps, as a sentence; those of the palette are named as `package.nls.de.json` names them.
  logsTellWhy: "codelaw: Protokoll zeigen sagt, warum.",
  logsTellMore: "codelaw: Protokoll zeigen sagt mehr.",
  logsHaveAll: "codelaw: Protokoll zeigen hat alles davon.",
  restartServer: "codelaw: Server neu starten",
  installAgain: "Aktualisieren Sie den Server: codelaw: Server installieren …",
  updateServer: "Aktualisieren Sie den Server.",

  // Requests that fail.
  connectionGone: "Die Verbindung zum Server ist abgerissen.",
  requestCancelled: "Die Anfrage wurde zurückgezogen.",
  cannotDo: "Das kann dieser Server nicht.",
  tooOld: (version: string) => `Der Server ${version} ist dafür zu alt.`,
  wentWrong: "Etwas ist schiefgegangen.",

  // Its life.
  newerCarried: "Die Erweiterung bringt einen neueren Server mit als den, der installiert ist.",
  wasStopped: "Der Server wurde angehalten.",
  notRunning: "Der Server läuft nicht.",
  startedAgain: "Der Server ist stehen geblieben und wird neu gestartet.",
  givenUp: (times: number, reason: string) =>
    `Der Server ist in wenigen Minuten ${times}-mal stehen geblieben und wird nicht mehr von selbst gestartet. ${reason}`,
  notStarted: (reason: string) => `Er ließ sich nicht starten: ${reason}`,
  endedWith: (status: string) => `Sein Prozess endete mit Status ${status}.`,
  endedBy: (signal: string) => `Sein Prozess wurde durch ${signal} beendet.`,
  connectionEnded: "Die Verbindung ist beendet.",
  silent: (seconds: number) => `Er hat sich nicht innerhalb von ${seconds} s gemeldet.`,

  // Other versions.
  unknownVersion: "von unbekannter Version",
  lacksNeeded: (version: string, remedy: string) =>
    `Der Server (${version}) kennt nicht, was der Chat braucht. ${remedy}`,
  updateExtension: "Aktualisieren Sie die Erweiterung.",
  updateOrUnset: "Aktualisieren Sie den Server, oder entfernen Sie codelaw.server.command.",
  older: (version: string, methods: string) =>
    `Der Server (${version}) ist älter als diese Erweiterung und kann nicht: ${methods}. Aktualisieren Sie den Server.`,
  newer: (version: string) =>
    `Der Server (${version}) spricht ein neueres Protokoll als diese Erweiterung. Aktualisieren Sie die Erweiterung.`,

  // Where it was looked for.
  inSetting: (command: string) => `Einstellung codelaw.server.command (${command})`,
  inEnvironment: (folder: string) => `eigene Umgebung (${folder})`,
  fromPython: "Interpreter der Python-Erweiterung",
  fromChoice: "für codelaw gewähltes Python",
  late: "keine Antwort in der erwarteten Zeit",
  cannotStart: "es ließ sich nicht starten",
  notInIt: "codelaw ist darin nicht installiert",
  notCodelaw: "es ist nicht codelaw",
  itSaid: (text: string) => `es meldete: ${text}`,
  notOnPath: "darauf liegt kein codelaw",

  // Why there is none.
  settingEmpty: "er ist leer",
  brokenSetting: (problem: string) =>
    `Der Befehl in codelaw.server.command läuft nicht: ${problem}. Berichtigen Sie ihn, oder entfernen Sie ihn, damit der Server gesucht wird.`,
  notInstalled: (version: string, python: string) =>
    `Der Server ist nicht installiert. Installieren Sie ihn aus einem Checkout von codelaw mit \`${python} -m pip install .\` (Python ${version}), oder setzen Sie codelaw.server.command.`,
  notKnown: (place: string, problem: string) =>
    `Ob der Server hier liegt, ist nicht bekannt: ${place}: ${problem}. Suchen Sie erneut, wenn der Rechner weniger zu tun hat.`,
  installable: (version: string) =>
    `Der Server ist noch nicht installiert. Er kommt in eine eigene Umgebung mit Python ${version}; seine Pakete werden einmal heruntergeladen.`,
  noVenv: (version: string, python: string) =>
    `Python ${version} (${python}) kann keine Umgebung für den Server anlegen. Unter Debian und Ubuntu: apt install python3-venv.`,
  oldPython: (least: string, version: string, python: string) =>
    `Der Server braucht Python ab ${least}; das neueste, das sich fand, ist ${version} (${python}). Installieren oder wählen Sie ein neueres.`,
  noPython: (least: string) =>
    `Der Server braucht Python ab ${least}, und es fand sich keines. Installieren Sie eines, oder wählen Sie, wo es liegt.`,
  pythonTitle: (least: string) => `Python ab ${least} wählen`,
  usePython: "Dieses Python verwenden",

  // Its installation.
  installing: "Der codelaw-Server wird installiert",
  beingInstalled: (step: string) => `Der Server wird installiert: ${step}.`,
  preparing: "Vorbereitung",
  makingEnvironment: "Umgebung wird angelegt",
  downloadingPackages: "Pakete werden heruntergeladen",
  downloading: (name: string) => `${name} wird heruntergeladen`,
  installingPackages: "Pakete werden installiert",
  installingCodelaw: "codelaw wird installiert",
  tryingIt: "Probelauf",
  couldNotInstall: (hint: string, reason: string) => `Der Server ließ sich nicht installieren. ${hint}\n${reason}`,
  adding: (what: string) => `codelaw installiert ${what}`,
  extras: {
    mcp: "die Pakete für MCP-Server",
    openai: "das Paket, das OpenAI und andere Anbieter fragt",
    local: "die Pakete für lokale Embeddings",
    postgresql: "den Treiber für PostgreSQL",
    tokenizer: "den Tokenizer anderer Anbieter",
  },
  couldNotAdd: (what: string, hint: string, reason: string) =>
    `codelaw konnte ${what} nicht installieren. ${hint}\n${reason}`,
  carriesNone:
    "Diese Erweiterung bringt keinen Server mit. Installieren Sie ihn aus einem Checkout von codelaw mit `pipx install .`.",
  installedBroken: "Der Server wurde installiert und läuft nicht.",
  tookTooLong: "Die Installation dauerte zu lange und wurde abgebrochen.",
  installFailed: "Die Installation ist fehlgeschlagen.",
  cannotPlace: (reason: string) => `Die Umgebung kommt nicht an ihren Platz: ${reason}`,
  venvMissing: "Unter Debian und Ubuntu: apt install python3-venv. Installieren Sie dann noch einmal.",
  diskFull: "Der Datenträger ist voll: Schaffen Sie Platz, dann installieren Sie noch einmal.",
  wrongHash:
    "Ein Paket ist nicht das erwartete: Prüfen Sie den Paketindex oder den Proxy, den pip nach seinen Einstellungen benutzt.",
  untrustedIndex:
    "Dem Zertifikat des Paketindex wird nicht vertraut: Setzen Sie `cert` von pip auf das Zertifikat Ihres Proxys.",
  noIndex:
    "Der Paketindex ist nicht erreichbar: Prüfen Sie das Netz oder Proxy und Index in den Einstellungen von pip, dann installieren Sie noch einmal.",
  noBuild: "Für dieses Python liegt ein Paket nicht fertig gebaut vor: Wählen Sie ein anderes (3.11 bis 3.13).",
};
