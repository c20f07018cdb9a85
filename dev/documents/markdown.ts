/** What a Markdown file holds, as far as its checks need it: prose, code, links, headings. Pure. */

export type Located<T> = T & { line: number };
export type Link = Located<{ target: string }>;
/** A line of a fenced block, or an inline span. */
export type Code = Located<{ text: string; isInline: boolean }>;
/** A paragraph, list item or quotation; code is one word, a link is its text. Tables, headings, fences and HTML comments are no prose. */
export type Prose = Located<{ text: string }>;
export type MarkdownFile = {
  prose: readonly Prose[];
  code: readonly Code[];
  links: readonly Link[];
  anchors: ReadonlySet<string>;
};

const FENCE = /^\s*(```+|~~~+)\s*(\S*)/;
const SPAN = /(`+)(.+?)\1(?!`)/g;
const LINK = /\[(?<text>(?:[^[\]]|\[[^\]]*\])*)\]\((?<target>[^)\s]+)(?:\s+"[^"]*")?\)/g;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;
/** What an inline span counts as in a sentence. */
const CODE_WORD = "Code";

export function readMarkdown(markdown: string): MarkdownFile {
  const prose: Prose[] = [];
  const code: Code[] = [];
  const links: Link[] = [];
  const headings: string[] = [];
  let paragraph: Prose | null = null;
  let fence: { mark: string; isPicture: boolean } | null = null;
  for (const [index, raw] of markdown.split("\n").entries()) {
    const line = index + 1;
    const opened = FENCE.exec(raw);
    if (fence !== null) {
      if (opened?.[1]?.startsWith(fence.mark) === true && opened[2] === "") fence = null;
      else if (!fence.isPicture) code.push({ line, text: raw.trim(), isInline: false });
      continue;
    }
    if (opened !== null) {
      fence = { mark: opened[1] ?? "", isPicture: opened[2] === "mermaid" };
      paragraph = null;
      continue;
    }
    for (const [, , span = ""] of raw.matchAll(SPAN))
      code.push({ line, text: span.trim(), isInline: true });
    const withoutCode = raw.replaceAll(SPAN, CODE_WORD);
    for (const { groups } of withoutCode.matchAll(LINK))
      links.push({ line, target: groups?.["target"] ?? "" });
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(raw);
    if (heading !== null) headings.push(heading[1] ?? "");
    const isProse = raw.trim() !== "" && heading === null && !/^\s*(?:\||<!--|<\/?[a-z])/.test(raw);
    if (!isProse) {
      paragraph = null;
      continue;
    }
    const text = withoutCode
      .replace(/^\s*>\s?/, "")
      .replaceAll(LINK, "$<text>")
      .trim();
    if (paragraph !== null && !ITEM.test(raw)) {
      paragraph.text += ` ${text}`;
      continue;
    }
    paragraph = { line, text: text.replace(ITEM, "") };
    prose.push(paragraph);
  }
  return { prose, code, links, anchors: new Set(anchorsOf(headings)) };
}

/** As GitHub makes them: https://github.com/gjtorikian/html-pipeline/blob/v2.14.3/lib/html/pipeline/toc_filter.rb */
function anchorsOf(headings: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return headings.map((heading) => {
    const slug = heading
      .replaceAll(LINK, "$<text>")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}
