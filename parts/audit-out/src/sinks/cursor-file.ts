/** How far a receiver has the log for good: behind which entry. Replaced in one step, so it is never half of one. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import { isSlug } from "@resontech/audit/format/shard/shard-plan";
import { ConfigError } from "../config.ts";
import type { Position } from "../follow/position.ts";

export class CursorFile {
  readonly #path: string;

  constructor(stateDir: string, name: string) {
    this.#path = join(stateDir, `${name}.cursor`);
  }

  /** Null before the first entry. @throws ConfigError for a file that is no cursor: to begin again unasked would flood the receiver */
  async read(): Promise<Position | null> {
    let text: string;
    try {
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    }
    const [, slug = "", index = ""] = /^([0-9-]{4,9}) (0|[1-9][0-9]{0,15})\n$/.exec(text) ?? [];
    if (!isSlug(slug))
      throw new ConfigError(
        `${this.#path} is no cursor; without the file the receiver gets the log from its first entry`,
      );
    return { slug, index: Number(index) };
  }

  write({ slug, index }: Position): Promise<void> {
    return replaceFile(this.#path, `${slug} ${index}\n`, 0o600);
  }
}
