/** What waits for the vault, over all shards: the older ones' first, each in order of its leaves. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WithRoom } from "@resontech/frame/durable-file";
import { inOrder, isSlug } from "@resontech/audit/format/shard/shard-plan";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { shardFolder } from "@resontech/audit/format/shard/shards";
import type { Spooled } from "@resontech/audit/format/wire/frames";
import type { OpenShard } from "./open-shard.ts";
import { exists } from "../shard-files.ts";
import { Sidecar } from "../commit/sidecar.ts";

export class Spools {
  readonly #auditDir: string;
  readonly #originPrefix: string;
  readonly #withRoom: WithRoom;
  /** Of shards that are written no more. */
  readonly #past = new Map<string, Sidecar>();

  constructor(
    { auditDir, originPrefix }: { auditDir: string; originPrefix: string },
    withRoom: WithRoom,
  ) {
    this.#auditDir = auditDir;
    this.#originPrefix = originPrefix;
    this.#withRoom = withRoom;
  }

  /** The oldest segment that no vault has sealed; every leaf of it is durable. Null when there is none. */
  async oldest(shard: OpenShard): Promise<Spooled | null> {
    const slugs = (await readdir(this.#auditDir)).filter(
      (name) => isSlug(name) && name !== shard.files.slug,
    );
    for (const slug of slugs.sort(inOrder)) {
      const found = await (await this.#pastSidecar(slug))?.oldest();
      if (found != null) return { origin: this.#originOf(slug), ...found };
    }
    const found = await shard.oldestSegment();
    return found === null ? null : { origin: shard.files.origin, ...found };
  }

  /** @throws RangeError for what is no segment of this log */
  async erase(shard: OpenShard, origin: string, segment: string): Promise<void> {
    if (origin === shard.files.origin) return shard.eraseSegment(segment);
    const slug = origin.slice(this.#originPrefix.length + 1);
    if (!isSlug(slug) || origin !== this.#originOf(slug))
      throw new RangeError(`${origin} is no shard of this log`);
    await (await this.#pastSidecar(slug))?.erase(segment);
  }

  /** The shard is about to be deleted. */
  async forget(slug: string): Promise<void> {
    await this.#past.get(slug)?.close();
    this.#past.delete(slug);
  }

  /** What a shard held beyond its last checkpoint was lost with the rest when another one followed a restore. */
  async #pastSidecar(slug: string): Promise<Sidecar | null> {
    const known = this.#past.get(slug);
    if (known !== undefined) return known;
    const folder = join(shardFolder(this.#auditDir, slug), "disclosures");
    const note = await readFile(
      join(shardFolder(this.#auditDir, slug), "checkpoint"),
      "utf8",
    ).catch(() => "");
    const checkpoint = parseCheckpoint(note);
    if (checkpoint?.origin !== this.#originOf(slug) || !(await exists(folder))) return null;
    const sidecar = await Sidecar.open(folder, checkpoint.size, this.#withRoom);
    this.#past.set(slug, sidecar);
    return sidecar;
  }

  #originOf(slug: string): string {
    return `${this.#originPrefix}/${slug}`;
  }
}
