/** Reading and writing the few XML documents of the S3 protocol that the coordinator uses. */
import { XMLParser } from "fast-xml-parser";

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  // Keys may begin or end with spaces.
  trimValues: false,
  // Entities are decoded below: the parser caps expansions per document, and each ETag of a long listing holds two.
  processEntities: false,
  isArray: (name) => LISTS.has(name),
});
const LISTS = new Set([
  "Contents",
  "CommonPrefixes",
  "Version",
  "DeleteMarker",
  "Upload",
  "Part",
  "Accounts",
]);

/** Elements by name; text is undecoded, use {@link childText}. */
export type XmlNode = { [name: string]: unknown };

/** @throws when the document is not XML or its root is not `root`. */
export function parseDocument(xml: string, root: string): XmlNode {
  const document = asNode(parser.parse(xml));
  const body = document[root];
  if (body === undefined) throw new SyntaxError(`S3 answer without <${root}>`);
  return asNode(body);
}

/** Decoded text of a child, "" when it is absent or empty. */
export function childText(node: XmlNode, name: string): string {
  const value = node[name];
  return typeof value === "string" ? decodeEntities(value) : "";
}

export function childNodes(node: XmlNode, name: string): XmlNode[] {
  const value = node[name];
  return Array.isArray(value) ? value.map(asNode) : [];
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&'"\n\r\t]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function asNode(value: unknown): XmlNode {
  return typeof value === "object" && value !== null ? (value as XmlNode) : {};
}

const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code =
        hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
      return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
