/** Every text that a page shows, out of its source: what stands between tags, and what words are given to a page's parts. Pure. */
import { parseSync } from "vite";

/** Attributes and fields whose value a person reads or hears. */
const SAID = new Set([
  ...["title", "label", "hint", "caption", "about", "act", "text", "word", "what", "placeholder"],
  ...["aria-label", "alt", "children", "message", "summary", "empty", "sentence"],
]);
/** A blank or a capital tells a text from a name of a class or a state. The lines of a picture are none. */
const IS_TEXT = /^(?![Mm][\d…]).*(?:[A-Za-z].* |^[A-Z][a-z])/s;

type Node = { type: string } & Record<string, unknown>;

/** @param file its name says whether the source has tags @returns in the order of the source, each once */
export function textsOf(file: string, source: string): string[] {
  const texts: string[] = [];
  walk(parseSync(file, source).program as unknown as Node, null, texts);
  return [...new Set(texts)];
}

function walk(node: Node, parent: Node | null, into: string[]): void {
  const text = textIn(node, parent);
  if (text !== null && IS_TEXT.test(text)) into.push(text);
  for (const [name, value] of Object.entries(node)) {
    if (name === "source" && /^(Import|Export)/.test(node.type)) continue;
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(child)) walk(child, node, into);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

function textIn(node: Node, parent: Node | null): string | null {
  if (node.type === "JSXText") return tidy(String(node["value"]));
  if (node.type === "TemplateLiteral") {
    const parts = node["quasis"] as { value: { cooked: string } }[];
    const whole = tidy(parts.map(({ value }) => value.cooked).join("…"));
    return whole.includes(" ") ? whole : null;
  }
  if (node.type !== "Literal" || typeof node["value"] !== "string") return null;
  const text = tidy(node["value"]);
  // A whole sentence is a text wherever it stands; a word only where words are said.
  if (/\w \w+ \w/.test(text)) return text;
  const name = parent === null ? undefined : nameOf(parent);
  return (name !== undefined && SAID.has(name)) || text.includes(" ") ? text : null;
}

/** What a value is given as. */
function nameOf(parent: Node): string | undefined {
  if (parent.type === "JSXAttribute") return String((parent["name"] as Node)["name"]);
  if (parent.type === "Property") return String((parent["key"] as Node)["name"]);
  return undefined;
}

function tidy(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
