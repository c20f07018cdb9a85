/** Which files are shown in the page, by their names. Pure. */
export type PreviewKind = "text" | "csv" | "json" | "image";

const KINDS: Readonly<Record<string, PreviewKind>> = {
  ...{ txt: "text", log: "text", md: "text", py: "text", sh: "text", yaml: "text", yml: "text" },
  ...{ toml: "text", ini: "text", cfg: "text", xml: "text" },
  ...{ csv: "csv", tsv: "csv", json: "json", jsonl: "text" },
  ...{ png: "image", jpg: "image", jpeg: "image", gif: "image", webp: "image" },
};
const IMAGE_TYPES: Readonly<Record<string, string>> = { jpg: "image/jpeg", jpeg: "image/jpeg" };

/** Null for what is downloaded, and not shown. */
export function previewKind(name: string): PreviewKind | null {
  return KINDS[endingOf(name)] ?? null;
}

/** As MIME names the image. */
export function imageType(name: string): string {
  return IMAGE_TYPES[endingOf(name)] ?? `image/${endingOf(name)}`;
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

/** Cells of a file of RFC 4180, or of tabs; what its last line lacks is left out. @param most lines that are read */
export function csvRows(text: string, most: number): string[][] {
  const comma = text.split("\n", 1)[0]?.includes("\t") === true ? "\t" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const sign = text[at]!;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === comma) {
      row.push(cell);
      cell = "";
    } else if (sign === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      [row, cell] = [[], ""];
    } else cell += sign;
  }
  if (rows.length < most && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
  return rows;
}
