import { useEffect, useState } from "react";
import { Failure } from "../notice.tsx";
import { Skeleton } from "../skeleton.tsx";
import { csvRows, imageType, previewKind, type PreviewKind } from "./preview-kind.ts";
import { type FileHead, readFileHead } from "./read-file-head.ts";
import styles from "./preview.module.css";

const KIB = 1024;
/** An image is shown whole or not at all. */
const MOST_BYTES: Readonly<Record<PreviewKind, number>> = {
  ...{ text: 128 * KIB, csv: 128 * KIB, json: 256 * KIB, image: 4 * KIB * KIB },
};
const MOST_ROWS = 100;

/** The beginning of a file, as what it is. @param urlOf where it is read; asked once */
export function Preview({ name, urlOf }: { name: string; urlOf: () => Promise<string> }) {
  const kind = previewKind(name) ?? "text";
  const [head, setHead] = useState<FileHead | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const ending = new AbortController();
    const read = async () =>
      setHead(await readFileHead(await urlOf(), MOST_BYTES[kind], ending.signal));
    read().catch((failed: unknown) => {
      if (!ending.signal.aborted) setError(failed);
    });
    return () => ending.abort();
    // The caller's function is another with each drawing, and means the same file.
  }, [name, kind]);
  if (error !== null) return <Failure error={error} />;
  if (head === null) return <Skeleton rows={4} />;
  return (
    <figure className={styles["preview"]} aria-label={`Beginning of ${name}`}>
      <Content name={name} kind={kind} head={head} />
      {head.isWhole || kind === "image" ? null : (
        <figcaption>The beginning. Download the file for the rest.</figcaption>
      )}
    </figure>
  );
}

function Content({ name, kind, head }: { name: string; kind: PreviewKind; head: FileHead }) {
  if (kind === "image") {
    if (!head.isWhole) return <p>The image is too large to be shown. Download it.</p>;
    return (
      <img
        className={styles["image"]}
        alt={name}
        src={`data:${imageType(name)};base64,${base64(head.bytes)}`}
      />
    );
  }
  const text = new TextDecoder().decode(head.bytes);
  if (kind === "csv") return <Cells rows={csvRows(text, MOST_ROWS)} />;
  return (
    <pre className={styles["text"]} tabIndex={0}>
      {kind === "json" && head.isWhole ? prettyOr(text) : text}
    </pre>
  );
}

function Cells({ rows: [first = [], ...rows] }: { rows: readonly string[][] }) {
  return (
    <div className={styles["cells"]} tabIndex={0} role="group" aria-label="Cells">
      <table>
        <thead>
          <tr>
            {first.map((cell, at) => (
              <th key={at} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What is no JSON stands as it is. */
function prettyOr(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
