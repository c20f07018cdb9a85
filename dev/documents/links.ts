/** Links of documents that lead nowhere. Pure: whoever calls says which files there are. */
import { posix } from "node:path";
import type { Finding } from "./finding.ts";
import { readMarkdown } from "./markdown.ts";

export type Tree = {
  /** Text of a file, null where there is none. */
  read: (path: string) => string | null;
  isThere: (path: string) => boolean;
};

/** Every link of `document` to a file or a heading that is not there. Addresses on the internet are not asked. */
export function deadLinks(document: string, markdown: string, tree: Tree): Finding[] {
  const file = readMarkdown(markdown);
  return file.links.flatMap(({ line, target }): Finding[] => {
    if (/^[a-z]+:/i.test(target)) return [];
    const [path = "", anchor = ""] = target.split("#");
    const led = path === "" ? document : posix.join(posix.dirname(document), path);
    if (!tree.isThere(led))
      return [{ document, line, what: `the link ${target} leads to no file` }];
    if (anchor === "") return [];
    const text = path === "" ? markdown : tree.read(led);
    const isHeading = text !== null && readMarkdown(text).anchors.has(anchor);
    return isHeading
      ? []
      : [{ document, line, what: `the link ${target} leads to no heading of ${led}` }];
  });
}

/** `docs/proofs/NAME.json` */
const PLACEHOLDER = /\/[A-Z]+\./;

/** Every path of this tree that an inline span names and that is not there; `rooms` are the folders that such paths begin with. */
export function deadPaths(
  document: string,
  markdown: string,
  rooms: readonly string[],
  tree: Tree,
): Finding[] {
  const isPath = new RegExp(
    `^(?:${rooms.join("|")})/[A-Za-z0-9._/-]+\\.(?:ts|mjs|json|md|py|go|sh|html)$`,
  );
  return readMarkdown(markdown).code.flatMap(({ line, text, isInline }): Finding[] =>
    !isInline || !isPath.test(text) || PLACEHOLDER.test(text) || tree.isThere(text)
      ? []
      : [{ document, line, what: `there is no file ${text}` }],
  );
}
