/** Elements made with text alone: nothing that was read is ever parsed as HTML. */
import { escapeText } from "../report/output.ts";

type Child = Node | string;

/** Strings become text, shown with every character that could mislead an eye as its code. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  fill(made, ...children);
  return made;
}

export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  text: string | null = null,
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== null) made.textContent = escapeText(text);
  return made;
}

/** Replaces what the element held. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  parent.textContent = "";
  for (const child of children)
    parent.appendChild(
      typeof child === "string" ? document.createTextNode(escapeText(child)) : child,
    );
}

/** An element of the page's own HTML. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`the page lacks #${id}`);
  return found;
}
