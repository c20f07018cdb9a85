/** What can be seen of a file in a page: a little of it, whatever its size. */
import { readStored } from "../../api/read-stored.ts";
import { imageType, previewKind } from "./preview-kind.ts";
import { readTensors, type Tensors } from "./read-tensors.ts";
import { tableRows } from "./table-text.ts";

/** @property urlOf where it is read; to give that out is a fact of the audit log */
export type PreviewedFile = { name: string; sizeBytes: number; urlOf: () => Promise<string> };

export type PreviewContent =
  | { kind: "text"; text: string; isCut: boolean }
  | { kind: "table"; rows: string[][]; isCut: boolean }
  | { kind: "json"; value: unknown }
  | { kind: "image"; url: string }
  | ({ kind: "tensors" } & Tensors)
  /** It is not what its name says, or more than a page shows. */
  | { kind: "none"; why: string };

const MOST_TEXT_BYTES = 256 * 1024;
const MOST_JSON_BYTES = 1024 ** 2;
const MOST_IMAGE_BYTES = 4 * 1024 ** 2;
const MOST_ROWS = 201;

/** @throws Problem where the file is gone, or may not leave */
export async function readPreview(
  file: PreviewedFile,
  signal: AbortSignal,
): Promise<PreviewContent> {
  const kind = previewKind(file.name);
  if (kind === null) return { kind: "none", why: "Files of this kind are not shown." };
  if (kind === "image" && file.sizeBytes > MOST_IMAGE_BYTES)
    return { kind: "none", why: "The image is larger than what a page shows." };
  if (file.sizeBytes === 0) return { kind: "none", why: "The file is empty." };
  const url = await file.urlOf();
  switch (kind) {
    case "safetensors":
    case "arrays":
    case "torch": {
      const found = await readTensors(url, file.sizeBytes, kind, file.name, signal);
      return found === null
        ? { kind: "none", why: "Its header is not one of such a file." }
        : { kind: "tensors", ...found };
    }
    case "image": {
      const bytes = await (await readStored(url, { signal })).arrayBuffer();
      return {
        kind: "image",
        url: await dataUrl(new Blob([bytes], { type: imageType(file.name) })),
      };
    }
    case "json": {
      if (file.sizeBytes > MOST_JSON_BYTES) break;
      const text = await (await readStored(url, { signal })).text();
      try {
        return { kind: "json", value: JSON.parse(text) };
      } catch {
        return { kind: "text", text, isCut: false };
      }
    }
    case "table":
    case "text":
  }
  const isCut = file.sizeBytes > MOST_TEXT_BYTES;
  const range = isCut ? { range: [0, MOST_TEXT_BYTES - 1] as const } : {};
  const text = await (await readStored(url, { ...range, signal })).text();
  if (kind !== "table") return { kind: "text", text, isCut };
  const rows = tableRows(text, file.name.endsWith(".tsv") ? "\t" : ",", isCut, MOST_ROWS);
  return { kind: "table", rows, isCut: isCut || rows.length === MOST_ROWS };
}

/** The page's policy lets in pictures of this form, and of no other. */
async function dataUrl(blob: Blob): Promise<string> {
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error("the image can't be read"));
    reader.readAsDataURL(blob);
  });
}
