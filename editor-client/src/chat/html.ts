// The page of the panel: nothing but its script and its style may come in, and nothing goes out.
import { randomBytes } from "node:crypto";
import { Uri, type Webview } from "vscode";

const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "iw", "ku", "ps", "sd", "ug", "ur", "yi"]);

/** Where a page is: in a side bar, or among the editors. */
export type Place = "side" | "editor";

/** The HTML of the panel for a webview; `language` is the editor's, as in `pt-br`. */
export function pageOf(
  webview: Pick<Webview, "asWebviewUri" | "cspSource">,
  extension: Uri,
  language: string,
  place: Place,
): string {
  const nonce = randomBytes(18).toString("base64url");
  const at = (name: string): string => escaped(webview.asWebviewUri(Uri.joinPath(extension, "dist", name)).toString());
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    "img-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const tag = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language) ? language : "en";
  const direction = RIGHT_TO_LEFT.has(tag.split("-", 1)[0]?.toLowerCase() ?? "") ? "rtl" : "ltr";
  return `<!doctype html>
<html lang="${tag}" dir="${direction}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escaped(policy)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>codelaw</title>
    <link rel="stylesheet" href="${at("panel.css")}" />
  </head>
  <body data-place="${place}">
    <div id="root"></div>
    <script nonce="${nonce}" src="${at("panel.js")}"></script>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
