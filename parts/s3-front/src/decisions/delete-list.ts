import { XMLParser, XMLValidator } from "fast-xml-parser";
import { S3Refusal } from "./s3-error.ts";

/** S3's own limit. */
const MAX_OBJECTS = 1000;

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  removeNSPrefix: true,
  isArray: (name) => name === "Object",
});

/** What the document may hold: the engine deletes where the entity tag is still the object's, and answers a quiet request with failures alone. */
const OF_LIST = new Set(["Object", "Quiet"]);
const OF_OBJECT = new Set(["Key", "VersionId", "ETag"]);

/**
 * The keys that a `Delete` document names.
 * @throws S3Refusal MalformedXML also for what two readers may take differently: document types, sections and comments; NotImplemented for
 * a condition that the engine would pass over
 */
export function parseDeleteList(body: Buffer): { key: string; versionId: string | null }[] {
  const xml = body.toString("utf8");
  if (
    /<!|&(?!(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/.test(xml) ||
    XMLValidator.validate(xml) !== true
  )
    throw new S3Refusal("MalformedXML", "the list of objects is not plain XML");
  const root = (parser.parse(xml) as { Delete?: { Object?: unknown; Quiet?: unknown } }).Delete;
  checkElements(root, OF_LIST);
  if (!["true", "false", undefined].includes(root?.Quiet as string | undefined))
    throw new S3Refusal("MalformedXML", "Quiet is true or false");
  const listed = Array.isArray(root?.Object) ? (root.Object as unknown[]) : [];
  if (listed.length === 0 || listed.length > MAX_OBJECTS)
    throw new S3Refusal("MalformedXML", `name 1 to ${MAX_OBJECTS} objects`);
  return listed.map((entry) => {
    checkElements(entry, OF_OBJECT);
    const { Key, VersionId, ETag } =
      typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
    if (typeof Key !== "string" || Key === "")
      throw new S3Refusal("MalformedXML", "an object without a key");
    if (ETag !== undefined && (typeof ETag !== "string" || ETag === ""))
      throw new S3Refusal("MalformedXML", "an ETag that is none");
    return {
      key: decodeEntities(Key),
      versionId:
        typeof VersionId === "string" && VersionId !== "" ? decodeEntities(VersionId) : null,
    };
  });
}

/** @throws S3Refusal NotImplemented naming the first element that is not served */
function checkElements(node: unknown, served: ReadonlySet<string>): void {
  if (typeof node !== "object" || node === null) return;
  const other = Object.keys(node).find((name) => name !== "#text" && !served.has(name));
  if (other !== undefined)
    throw new S3Refusal(
      "NotImplemented",
      `this object store does not serve ${other.slice(0, 64)} in a list of deletions: leave it out, as nothing would be done for it`,
    );
}

/**
 * What became of each object that was named, `ok` or S3's code, in their order; a failure is told by key and version.
 * @param document the engine's answer, whose errors alone count: a quiet request names no others
 */
export function codesOfDeletions(
  document: string,
  listed: readonly { key: string; versionId: string | null }[],
): string[] {
  const root = (parser.parse(document) as { DeleteResult?: { Error?: unknown } }).DeleteResult;
  const errors = [root?.Error ?? []].flat() as Record<string, unknown>[];
  const text = (value: unknown): string => (typeof value === "string" ? decodeEntities(value) : "");
  const codes = new Map(
    errors.map(({ Key, VersionId, Code }) => [`${text(Key)}\0${text(VersionId)}`, text(Code)]),
  );
  return listed.map(({ key, versionId }) => {
    const code = codes.get(`${key}\0${versionId ?? ""}`);
    return code === undefined ? "ok" : /^[A-Za-z0-9]{1,64}$/.test(code) ? code : "unknown";
  });
}

const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]+)|#(\d+)|([a-z]+));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
