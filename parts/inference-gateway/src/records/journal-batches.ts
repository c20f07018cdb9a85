/**
 * Batches of the gateway's journal by their ids, for who exports them. A day's file is read once for where each batch lies; of what was read the places
 * are kept, not the lines. It only reads there.
 */
import { createReadStream } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { JOURNAL_NAME } from "./call-journal.ts";
import { readCallLine } from "./call-line.ts";

type Place = { file: string; offset: number; bytes: number };

/** A batch is in the file of its day, or of one beside it, where it went on record about midnight. */
const DAYS_BESIDE = [-1, 0, 1];
const DAY_MS = 86_400_000;

export class JournalBatches {
  readonly #folder: string;
  /** By the file's name, as far as they are near the batch that was asked for last. */
  readonly #days = new Map<string, Map<string, Place>>();
  #names: readonly string[] | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Lines of a batch, without their line breaks; null where the journal has no such batch.
   * @param time ISO 8601, when the log took it: the batch was written just before
   */
  async batch(id: string, time: string): Promise<readonly string[] | null> {
    const names = await this.#near(time);
    for (const day of this.#days.keys()) if (!names.includes(day)) this.#days.delete(day);
    for (const name of names) {
      const places = this.#days.get(name) ?? (await placesIn(join(this.#folder, name)));
      this.#days.set(name, places);
      const place = places.get(id);
      if (place !== undefined) return await linesAt(place);
    }
    return null;
  }

  async #near(time: string): Promise<string[]> {
    this.#names ??= (await readdir(this.#folder).catch(() => [])).filter((name) =>
      JOURNAL_NAME.test(name),
    );
    const days = DAYS_BESIDE.map((day) =>
      new Date(Date.parse(time) + day * DAY_MS).toISOString().slice(0, 10),
    );
    return days.map((day) => `${day}.ndjson`).filter((name) => this.#names!.includes(name));
  }
}

/** What a line says of itself; null for what is no line of a call. An end names its call alone. */
export function callFacts(
  text: string,
): { kind: string; id: string; deployment: string | null } | null {
  const line = readCallLine(text);
  if (line === null || line.kind === "batch") return null;
  const { kind, id } = line;
  return { kind, id, deployment: line.kind === "end" ? null : line.deployment };
}

/** Finds where the lines of each batch lie: as many as its head says, or fewer where the next head comes before. */
async function placesIn(file: string): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  let offset = 0;
  let last: { place: Place; left: number } | null = null;
  for await (const text of createInterface({ input: createReadStream(file, "latin1") })) {
    const bytes = text.length + 1;
    const head = text.startsWith('{"kind":"batch"') ? readCallLine(text) : null;
    if (head?.kind === "batch") {
      const place = { file, offset: offset + bytes, bytes: 0 };
      places.set(head.id, place);
      last = { place, left: head.lines };
    } else if (last !== null && last.left > 0) {
      last.place.bytes += bytes;
      last.left -= 1;
    }
    offset += bytes;
  }
  return places;
}

async function linesAt({ file, offset, bytes }: Place): Promise<string[]> {
  if (bytes === 0) return [];
  await using handle = await open(file, "r");
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(buffer, 0, bytes, offset);
  // The last line may lack its break where a write was cut.
  return buffer.toString("utf8", 0, bytesRead).replace(/\n$/, "").split("\n");
}
