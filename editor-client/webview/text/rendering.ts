// Markdown as HTML that cannot do anything: no raw HTML, no images, no styles, links only as data for our own handler.
import DOMPurify from "dompurify";
import MarkdownIt, { type Renderer, type Token } from "markdown-it";
import { highlighted } from "./highlight";
import { fileInCode, filesInText, targetOf, type FileLink, type Target } from "./links";
import { maths } from "./maths";
import { tasks } from "./tasks";
import { t } from "../language";

const md = new MarkdownIt({ html: false, linkify: true, typographer: false, breaks: false }).use(maths).use(tasks);
// Every address gets as far as `targetOf`, which knows better.
md.validateLink = () => true;
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

const attribute = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? "");
const escape = (text: string): string => md.utils.escapeHtml(text);

/** Formulas: nothing that leads elsewhere, that has a colour of its own, or that moves over what stands around it. */
const MATHS = {
  tags: [
    ..."math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose".split(" "),
    ..."msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd".split(" "),
  ],
  attributes: [
    ..."accent accentunder columnspan depth display displaystyle fence form height largeop".split(" "),
    ..."linethickness lspace mathvariant maxsize minsize movablelimits notation rowspan rspace".split(" "),
    ..."scriptlevel separator stretchy symmetric width".split(" "),
  ],
};
/** Attributes that lead nowhere by themselves. */
const INERT = [
  ..."checked class dir disabled start tabindex title type".split(" "),
  ..."data-path data-line data-end-line data-url data-do".split(" "),
];
const ALLOWED = {
  ALLOWED_TAGS: [
    ..."a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr input label li ol p pre s span".split(" "),
    ..."strong table tbody td th thead tr ul".split(" "),
    ...MATHS.tags,
  ],
  ALLOWED_ATTR: ["href", ...INERT, ...MATHS.attributes],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^#$/,
  ADD_URI_SAFE_ATTR: [...INERT, ...MATHS.attributes],
};

/** Sanitised HTML of one block; where links lead is in `data-url`, and in `data-path` with `data-line`. */
export function htmlOf(block: string): string {
  return sanitised(md.render(block));
}

/** What one reads of a Markdown text: without its marks, and without formulas. */
export function wordsOf(text: string): string {
  const said = (token: Token): string => {
    if (token.children !== null && token.type === "inline") return token.children.map(said).join("");
    if (token.type === "softbreak" || token.type === "hardbreak") return "\n";
    return READ.has(token.type) ? token.content : "";
  };
  return md
    .parse(text, {})
    .map(said)
    .filter((words) => words !== "")
    .join("\n");
}

const READ = new Set(["text", "code_inline", "code_block", "fence", "image"]);

/** HTML from elsewhere that may go into the page; it keeps classes and loses everything that acts. */
export function sanitised(html: string): string {
  return DOMPurify.sanitize(html, ALLOWED);
}

// ------------------------------------------------------------------------------------------------------------ links

const openTag = (target: Exclude<Target, { kind: "dead" }>): string => {
  if (target.kind === "web")
    return `<a href="#" class="web" title="${escape(target.url)}" data-url="${escape(target.url)}">`;
  return fileTag(target);
};

const fileTag = ({ path, line, endLine }: FileLink): string => {
  const place = line === undefined ? "" : ` data-line="${line}"`;
  const end = endLine === undefined ? "" : ` data-end-line="${endLine}"`;
  return `<a href="#" class="file" data-path="${escape(path)}"${place}${end}>`;
};

/** Dead links are text and lead nowhere. */
md.renderer.rules["link_open"] = (tokens, index) => {
  const target = targetOf(attribute(tokens[index], "href"));
  return target.kind === "dead" ? '<span class="dead-link">' : openTag(target);
};
md.renderer.rules["link_close"] = (tokens, index) => (isDead(tokens, index) ? "</span>" : "</a>");

md.renderer.rules["image"] = (tokens, index, options, env, self) => {
  const token = tokens[index];
  const address = attribute(token, "src");
  const alt =
    token?.children === undefined || token.children === null
      ? ""
      : self.renderInlineAsText(token.children, options, env);
  const label = t.image(escape(alt === "" ? shortened(address) : alt));
  const target = targetOf(address);
  return target.kind === "dead" ? `<span class="dead-link">${label}</span>` : `${openTag(target)}${label}</a>`;
};

function shortened(address: string): string {
  return address.length > 80 ? `${address.slice(0, 80)}…` : address;
}

/** Whether the link that is closed here was a dead one. */
function isDead(tokens: readonly Token[], index: number): boolean {
  for (let place = index - 1; place >= 0; place -= 1) {
    const token = tokens[place];
    if (token?.type === "link_open") return targetOf(attribute(token, "href")).kind === "dead";
  }
  return true;
}

function insideLink(tokens: readonly Token[], index: number): boolean {
  for (let place = index - 1; place >= 0; place -= 1) {
    const type = tokens[place]?.type;
    if (type === "link_open") return true;
    if (type === "link_close") return false;
  }
  return false;
}

md.renderer.rules["code_inline"] = (tokens, index) => {
  const content = tokens[index]?.content ?? "";
  const code = `<code dir="ltr">${escape(content)}</code>`;
  const file = insideLink(tokens, index) ? null : fileInCode(content);
  return file === null ? code : `${fileTag(file)}${code}</a>`;
};

md.renderer.rules["text"] = (tokens, index) => {
  const content = tokens[index]?.content ?? "";
  const files = insideLink(tokens, index) ? [] : filesInText(content);
  let html = "";
  let from = 0;
  for (const { from: begin, to, target } of files) {
    html += `${escape(content.slice(from, begin))}${fileTag(target)}${escape(content.slice(begin, to))}</a>`;
    from = to;
  }
  return html + escape(content.slice(from));
};

// ------------------------------------------------------------------------------------------------------------- blocks

/** Code within a list or a quote; code at the top level is a part of its own. */
const codeHtml = (code: string, language: string): string => {
  const html = highlighted(code, language) ?? escape(code);
  const label = `<span class="language">${escape(language)}</span>`;
  const button = (what: string, title: string): string =>
    `<button type="button" class="link-button" data-do="${what}">${title}</button>`;
  const bar = `<div class="code-bar">${label}${button("copy", escape(t.copy))}${button("insert", escape(t.insertAtCursor))}</div>`;
  return `<div class="code" dir="ltr">${bar}<pre tabindex="0"><code>${html}</code></pre></div>`;
};
md.renderer.rules["fence"] = (tokens, index) => {
  const token = tokens[index];
  return codeHtml(token?.content ?? "", /^[^\s{,]*/.exec(token?.info.trim() ?? "")?.[0] ?? "");
};
md.renderer.rules["code_block"] = (tokens, index) => codeHtml(tokens[index]?.content ?? "", "");

md.renderer.rules["table_open"] = (tokens, index, options, _env, self: Renderer) =>
  `<div class="wide" tabindex="0">${self.renderToken(tokens, index, options)}`;
md.renderer.rules["table_close"] = () => "</table></div>\n";

const ALIGNED = /text-align:\s*(left|right|center)/;
const WITH_DIRECTION = new Set(
  "paragraph_open heading_open list_item_open blockquote_open th_open td_open bullet_list_open ordered_list_open".split(
    " ",
  ),
);
md.core.ruler.push("codelaw_attributes", ({ tokens }) => {
  for (const token of tokens) {
    const aligned = ALIGNED.exec(attribute(token, "style"))?.[1];
    token.attrs = token.attrs?.filter(([name]) => name !== "style") ?? null;
    if (aligned !== undefined) token.attrJoin("class", `align-${aligned}`);
    if (WITH_DIRECTION.has(token.type)) token.attrSet("dir", "auto");
  }
});
