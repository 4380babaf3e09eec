// Finds the words in a source that a person would read.
import ts from "typescript";

/** Attributes and properties of parts that are shown or read out. */
const SHOWN = new Set([
  ...["alt", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "placeholder", "title"],
  ...["hint", "label", "question", "what", "yes"],
]);
/** Parts whose `name` is a heading; elsewhere it is the name of an icon. */
const NAMED = new Set(["Page"]);
/** Names of keys, tools, formats, files and layers, which are the same in every language. */
const NAMES =
  /^(?:Arrow(?:Down|Up|Left|Right)|Backspace|Delete|End|Enter|Escape|Home|Tab|F\d+|Bash|Edit|Write|Read|Files|Markdown|JSON|CODE_LAW\.md|[A-Z]\d?|F2 Delete)$/u;
/** SVG paths, markup, selectors, and names of classes or tokens in a row. */
const MARKUP = /^(?:[Mm][-\d]|<|\.| [a-z-]+="|(?:[a-z][a-z0-9_-]*)(?: [a-z0-9_-]+)*$)/u;
/** A sentence or a title; a single word in small letters may as well be a key. */
const WORDS = /\p{L}{2,} \p{L}|^\p{Lu}\p{Ll}|\p{L}{2,}[.:…]$/u;

/** The visible words of a source outside of any table, as `line: words`. */
export function visibleWords(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const add = (node: ts.Node, words: string): void => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    found.push(`${line + 1}: ${words.trim()}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxText(node)) {
      if (/\p{L}/u.test(node.text)) add(node, node.text);
    } else if (ts.isStringLiteralLike(node)) {
      if (isShown(node) ? /\p{L}/u.test(node.text) : isSentence(node, node.text)) add(node, node.text);
    } else if (ts.isTemplateExpression(node)) {
      const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
      const whole = parts.join("§");
      const worded = parts.some((part) => /\p{L}{2,}/u.test(part));
      if (
        worded &&
        !isMarkup(node) &&
        (/\p{L}{2,} |(?: |: )\p{L}{2,}/u.test(whole) || isShown(node)) &&
        !/^[<]/u.test(whole)
      )
        if (!MARKUP.test(whole)) add(node, whole);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Functions of the editor's that show what they are given, and properties of what they are given. */
const SHOWING = /(?:^|\.)(?:show\w+(?:Message|Pick|Box|Dialog)|setStatusBarMessage|append(?:Text|Markdown))$/u;
const SHOWN_BY_EDITOR = new Set([
  ...["description", "detail", "hint", "label", "message", "name", "openLabel", "placeHolder", "problem", "prompt"],
  ...["saveLabel", "text", "title", "tooltip", "words"],
]);
/** Calls that write to the log, which is in English for whoever it is sent to. */
const LOGGING = /(?:^|\.)(?:log|log\.(?:trace|debug|info|warn|error))$/u;
/** The product is called so in every language. */
const PRODUCT = /\bcodelaw\b/gu;
/** Two words in a row, a word that begins like a title, or one that goes on. */
const SENTENCE = /\p{L}{2,},? \p{L}|^\p{Lu}\p{Ll}|\p{L}…$/u;

/** The visible words of a source of the extension's host, where no class or path of a drawing stands: `line: words`. */
export function hostWords(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isCallExpression(node) && LOGGING.test(node.expression.getText(file))) return;
    const words = textOf(node)?.replace(PRODUCT, "");
    if (words !== undefined && (isShownByEditor(node) ? /\p{L}{2}/u.test(words) : SENTENCE.test(words))) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push(`${line + 1}: ${words.trim()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** What a literal says, with `§` for what is put in. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("§");
}

/** Whether the editor shows it: as an argument, or as a property or a variable of such a name, by any condition. */
function isShownByEditor(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isConditionalExpression(parent) && parent.condition !== node) return isShownByEditor(parent);
  if (ts.isParenthesizedExpression(parent)) return isShownByEditor(parent);
  if (ts.isBinaryExpression(parent)) {
    if (parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return isShownByEditor(parent);
    const { left } = parent;
    const name = ts.isPropertyAccessExpression(left) ? left.name : left;
    const assigned = /^\+?=$/u.test(parent.operatorToken.getText()) && node === parent.right;
    return assigned && SHOWN_BY_EDITOR.has(name.getText());
  }
  if (ts.isCallExpression(parent)) return SHOWING.test(parent.expression.getText());
  return (
    (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent)) && SHOWN_BY_EDITOR.has(parent.name.getText())
  );
}

function isShown({ parent }: ts.Node): boolean {
  if (!ts.isJsxAttribute(parent)) return false;
  const name = parent.name.getText();
  const part = parent.parent.parent.tagName.getText();
  return SHOWN.has(name) || (name === "name" && NAMED.has(part));
}

/** Whether it is an attribute that no person reads: `class`, `id`, `type`. */
function isMarkup(node: ts.Node): boolean {
  for (let up = node.parent; !ts.isSourceFile(up); up = up.parent) {
    if (ts.isJsxAttribute(up)) return !SHOWN.has(up.name.getText());
    if (ts.isStatement(up)) return false;
  }
  return false;
}

function isSentence(node: ts.Node, text: string): boolean {
  return WORDS.test(text) && !NAMES.test(text) && !MARKUP.test(text) && !isMarkup(node);
}
