/** What each witness has seen of each shard, by its own answers. A file of its own: without it the first answer says the size again. */
import { readFile } from "node:fs/promises";
import { replaceFile } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";

type Sizes = Record<string, Record<string, number>>;

export class SeenSizes {
  readonly #file: string;
  readonly #sizes: Map<string, Map<string, number>>;
  readonly #turns = new Turns();

  private constructor(file: string, sizes: Sizes) {
    this.#file = file;
    this.#sizes = new Map(
      Object.entries(sizes).map(([url, byOrigin]) => [url, new Map(Object.entries(byOrigin))]),
    );
  }

  /** A file that is missing or damaged is an empty one. */
  static async open(file: string): Promise<SeenSizes> {
    try {
      return new SeenSizes(file, checked(JSON.parse(await readFile(file, "utf8"))));
    } catch {
      return new SeenSizes(file, {});
    }
  }

  get(url: string, origin: string): number {
    return this.#sizes.get(url)?.get(origin) ?? 0;
  }

  /** Durable when it resolves. */
  set(url: string, origin: string, size: number): Promise<void> {
    const byOrigin = this.#sizes.get(url) ?? new Map<string, number>();
    this.#sizes.set(url, byOrigin.set(origin, size));
    return this.#turns.run(() => replaceFile(this.#file, this.#text(), 0o600));
  }

  #text(): string {
    return `${JSON.stringify(Object.fromEntries([...this.#sizes].map(([url, byOrigin]) => [url, Object.fromEntries(byOrigin)])))}\n`;
  }
}

/** @throws TypeError */
function checked(value: unknown): Sizes {
  const isWhole = Object.values(value as Sizes).every((byOrigin) =>
    Object.values(byOrigin).every(Number.isSafeInteger),
  );
  if (!isWhole) throw new TypeError("sizes of witnesses are none");
  return value as Sizes;
}
