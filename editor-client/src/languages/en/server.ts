// The words about finding, installing, starting and asking the server, in English.
export const server = {
  // What the user can do, as buttons.
  openSettings: "Open Settings",
  showLogs: "Show Logs",
  searchAgain: "Search Again",
  tryAgain: "Try Again",
  restart: "Restart",
  choosePython: "Choose Python…",
  installServer: "Install Server",
  updateIt: "Update Server",

  // What helps, as a sentence; those of the palette are named as `package.nls.json` names them.
  logsTellWhy: "codelaw: Show Logs tells why.",
  logsTellMore: "codelaw: Show Logs tells more.",
  logsHaveAll: "codelaw: Show Logs has all of it.",
  restartServer: "codelaw: Restart Server",
  installAgain: "Update the server: codelaw: Install Server…",
  updateServer: "Update the server.",

  // Requests that fail.
  connectionGone: "The connection to the server is gone.",
  requestCancelled: "The request was cancelled.",
  cannotDo: "This server cannot do that.",
  tooOld: (version: string) => `The server ${version} is too old for this.`,
  wentWrong: "Something went wrong.",

  // Its life.
  newerCarried: "The extension carries a newer server than the one that was installed before.",
  wasStopped: "The server was stopped.",
  notRunning: "The server does not run.",
  startedAgain: "The server has stopped and is started again.",
  givenUp: (times: number, reason: string) =>
    `The server has stopped ${times} times in a few minutes and is not started again by itself. ${reason}`,
  notStarted: (reason: string) => `It could not be started: ${reason}`,
  endedWith: (status: string) => `Its process ended with status ${status}.`,
  endedBy: (signal: string) => `Its process was ended by ${signal}.`,
  connectionEnded: "The connection has ended.",
  silent: (seconds: number) => `It did not introduce itself within ${seconds} s.`,

  // Other versions.
  unknownVersion: "of an unknown version",
  lacksNeeded: (version: string, remedy: string) =>
    `The server (${version}) does not know what the chat needs. ${remedy}`,
  updateExtension: "Update the extension.",
  updateOrUnset: "Update the server, or remove codelaw.server.command.",
  older: (version: string, methods: string) =>
    `The server (${version}) is older than this extension and cannot do: ${methods}. Update the server.`,
  newer: (version: string) =>
    `The server (${version}) speaks a newer protocol than this extension. Update the extension.`,

  // Where it was looked for.
  inSetting: (command: string) => `the setting codelaw.server.command (${command})`,
  inEnvironment: (folder: string) => `its own environment (${folder})`,
  fromPython: "the interpreter selected in the Python extension",
  fromChoice: "the Python chosen for codelaw",
  late: "it did not answer in time",
  cannotStart: "it could not be started",
  notInIt: "codelaw is not installed in it",
  notCodelaw: "it is not codelaw",
  itSaid: (text: string) => `it said: ${text}`,
  notOnPath: "there is no codelaw on it",

  // Why there is none.
  settingEmpty: "it is empty",
  brokenSetting: (problem: string) =>
    `The command in codelaw.server.command does not run: ${problem}. Correct it, or remove it so that the server is searched for.`,
  notInstalled: (version: string, python: string) =>
    `The server is not installed. Install it from a checkout of codelaw with \`${python} -m pip install .\` (Python ${version}), or set codelaw.server.command.`,
  notKnown: (place: string, problem: string) =>
    `It is not known whether the server is in ${place}: ${problem}. Search again when the machine is less busy.`,
  installable: (version: string) =>
    `The server is not installed yet. It goes into an environment of its own, made with Python ${version}; its packages are downloaded once.`,
  noVenv: (version: string, python: string) =>
    `Python ${version} (${python}) cannot make an environment for the server. On Debian and Ubuntu: apt install python3-venv.`,
  oldPython: (least: string, version: string, python: string) =>
    `The server needs Python ${least} or newer; the newest that was found is ${version} (${python}). Install a newer one or choose it.`,
  noPython: (least: string) =>
    `The server needs Python ${least} or newer, and no Python was found. Install one, or choose where it is.`,
  pythonTitle: (least: string) => `Choose Python ${least} or newer`,
  usePython: "Use This Python",

  // Its installation.
  installing: "Installing the codelaw server",
  beingInstalled: (step: string) => `The server is being installed: ${step}.`,
  preparing: "preparing",
  makingEnvironment: "Making an environment",
  downloadingPackages: "Downloading packages",
  downloading: (name: string) => `Downloading ${name}`,
  installingPackages: "Installing packages",
  installingCodelaw: "Installing codelaw",
  tryingIt: "Trying it",
  couldNotInstall: (hint: string, reason: string) => `The server could not be installed. ${hint}\n${reason}`,
  adding: (what: string) => `codelaw is installing ${what}`,
  extras: {
    mcp: "packages for MCP servers",
    openai: "the package that asks OpenAI and other vendors",
    local: "packages for local embeddings",
    postgresql: "the driver of PostgreSQL",
    tokenizer: "the tokenizer of other vendors",
  },
  couldNotAdd: (what: string, hint: string, reason: string) => `codelaw could not install ${what}. ${hint}\n${reason}`,
  carriesNone: "This extension carries no server. Install one from a checkout of codelaw with `pipx install .`.",
  installedBroken: "The server was installed and does not run.",
  tookTooLong: "The installation took too long and was stopped.",
  installFailed: "The installation failed.",
  cannotPlace: (reason: string) => `The environment cannot be put in its place: ${reason}`,
  venvMissing: "On Debian and Ubuntu: apt install python3-venv. Then install again.",
  diskFull: "The disk is full: make room, then install again.",
  wrongHash: "A package is not the one that was expected: check the package index or proxy that pip is set to use.",
  untrustedIndex: "The certificate of the package index is not trusted: set pip's `cert` to that of your proxy.",
  noIndex:
    "The package index cannot be reached: check the network, or pip's proxy and index settings, then install again.",
  noBuild: "A package has no ready build for this Python: choose another Python (3.11 to 3.13).",
};

/** Every table has these words. */
export type ServerWords = typeof server;
