/** The log's folder as a start found it, and what others have seen of the log. Read only: whether it may be written is decided by both. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { WithRoom } from "@resontech/frame/durable-file";
import {
  planRestore,
  type Held,
  type Later,
  mayBeFollowed,
  type RestorePlan,
  rolledBackFrom,
  type Seen,
  SeenMost,
} from "../decisions/restore-plan.ts";
import {
  firstSlug,
  inOrder,
  isNumbered,
  isSlug,
  slugsAfter,
  slugOf,
} from "@resontech/audit/format/shard/shard-plan";
import type { Acknowledged } from "../decisions/ledger.ts";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import type { LogKeys } from "../keys/log-keys.ts";
import { PastShard } from "./past-shard.ts";
import { type Claims, AUDIT_OUT } from "../ports/producer-session.ts";
import { recover, type Recovered } from "./recovery.ts";
import { readRestoredMarker, restoredMarker } from "./restored-marker.ts";
import { currentShard, exists, familiesOf, type ShardFiles, shardFiles } from "../shard-files.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

/** As `audit-out` calls what a witness told it. */
const WITNESS = "witness";
/** Its quorum has seen more of the log than there is. */
const WITNESSED_FILE = "checkpoint.witnessed";

type ShardContext = { config: AuditdConfig; keys: LogKeys; trust: TrustPolicy; withRoom: WithRoom };

export class FoundLog {
  readonly files: ShardFiles;
  readonly recovered: Recovered;
  readonly past: PastShard | null;
  readonly #around: ShardContext;
  /** Of this shard, while later ones have theirs, or its folder was put back: nothing is signed under its origin any more. */
  readonly #areKeysGone: boolean;
  readonly #seen: SeenMost;

  private constructor(
    files: ShardFiles,
    recovered: Recovered,
    past: PastShard | null,
    around: ShardContext,
    areKeysGone: boolean,
  ) {
    this.files = files;
    this.recovered = recovered;
    this.past = past;
    this.#around = around;
    this.#areKeysGone = areKeysGone;
    const { missing } = recovered;
    this.#seen = new SeenMost(this.size);
    if (missing !== null)
      this.#seen.add({
        origin: files.origin,
        size: missing.size,
        root: missing.root.toString("hex"),
        by: WITNESSED_FILE,
      });
  }

  /** @throws LogDamagedError @throws ConfigError for a key that is missing, where nothing shows that the shard is written no more; for what can't be read of a restore */
  static async open(around: ShardContext): Promise<FoundLog> {
    const { config, keys, trust } = around;
    const files = await currentShard(config);
    if (files === null) throw new LogDamagedError(0, "there is no log; one is made only by `init`");
    // Keys are in no backup: a folder that was put back on another host has none.
    const areKeysGone =
      (await keys.missingOf(files)) !== null &&
      ((await laterWithKeys(files, around)).length > 0 || (await exists(restoredMarker(config))));
    const recovered = await readShard(
      files,
      areKeysGone ? await publicKeys(files, trust) : await keys.signersOf(files),
      around,
    );
    const { follows } = recovered.ledger;
    const past = follows === null ? null : await PastShard.open(config, follows.origin);
    const found = new FoundLog(files, recovered, past, around, areKeysGone);
    for (const { prod, ...highestAck } of await readRestoredMarker(config))
      await found.hear(prod, { boot: "", highestAck, seen: [] });
    return found;
  }

  get size(): number {
    const { tree, wal } = this.recovered;
    return tree.size + wal.leaves.length;
  }

  /** What a producer holds; audit-out alone says what readers and witnesses have. */
  async hear(prod: string, { boot, highestAck, seen }: Claims): Promise<void> {
    const { originPrefix } = this.#around.config;
    for (const one of prod === AUDIT_OUT ? seen : []) {
      const slug = slugOf(one.origin);
      if (one.origin === `${originPrefix}/${slug}` && mayBeFollowed(slug)) this.#seen.add(one);
    }
    if (highestAck === null) return;
    const { index, leafHash } = highestAck;
    const isKnown =
      (await this.#holds(index, leafHash)) ||
      (await this.#isKnownLoss({ prod, boot, ...highestAck }));
    if (!isKnown) this.#seen.add({ origin: null, size: index + 1, root: null, by: prod });
  }

  /** Null when nothing shows that the folder is older than the log was. */
  async rolledBack(): Promise<Seen | null> {
    const seen = rolledBackFrom(await this.#held(), this.#seen.all);
    if (seen !== null) return seen;
    const unseen = (by: string): Seen => ({
      origin: this.files.origin,
      size: this.size,
      root: null,
      by,
    });
    if (this.#areKeysGone) return unseen("keys");
    // Two people have decided: whatever is said this time, the shard that they opened is the one that goes on.
    if (
      (await laterWithKeys(this.files, this.#around)).some((origin) => isNumbered(slugOf(origin)))
    )
      return unseen("opening");
    // A restore is not taken for the whole log on its own word: where no witness says what it has seen, nothing tells how much is missing.
    const isUnvouched =
      (await exists(this.#marker)) && !this.#seen.all.some((one) => this.#isVouched(one));
    return isUnvouched ? unseen("restore") : null;
  }

  async planRestore(isClockTrusted: boolean): Promise<RestorePlan> {
    const nowMs = isClockTrusted ? Date.now() : null;
    return planRestore(
      await this.#held(),
      this.#seen.all,
      await this.#later(),
      this.#areKeysGone,
      nowMs,
    );
  }

  /** It is known how the folder stands to what was seen. */
  async reconcileRestore(): Promise<void> {
    await rm(this.#marker, { force: true });
  }

  /** Whoever puts the folder back from a backup leaves it there; docs/operator/restore-log.md says so. */
  get #marker(): string {
    return restoredMarker(this.#around.config);
  }

  /** A witness that knows an older shard alone says nothing of this one. */
  #isVouched({ by, origin }: Seen): boolean {
    return by === WITNESS && origin !== null && inOrder(slugOf(origin), this.files.slug) >= 0;
  }

  async #isKnownLoss(acknowledged: Acknowledged): Promise<boolean> {
    return (
      this.recovered.ledger.isKnownLoss(acknowledged) ||
      (await this.past?.isKnownLoss(acknowledged)) === true
    );
  }

  async #holds(index: number, leafHash: string): Promise<boolean> {
    const { tree, wal } = this.recovered;
    const unsigned = wal.leaves[index - tree.size];
    if (unsigned !== undefined) return hashLeaf(unsigned).toString("hex") === leafHash;
    const signed = await PastShard.open(this.#around.config, this.files.origin);
    return (
      (await signed?.holds(index, leafHash)) === true ||
      (await this.past?.everHeld(index, leafHash)) === true
    );
  }

  /** A turn that was cut short leaves entries of the next shard. */
  async #held(): Promise<Held> {
    const { config, trust } = this.#around;
    const later = new Map<string, number>();
    for (const { origin } of this.#seen.all) {
      if (origin === null || later.has(origin) || inOrder(slugOf(origin), this.files.slug) <= 0)
        continue;
      const files = shardFiles(config, slugOf(origin));
      if (!(await exists(join(files.logDir, "checkpoint")))) continue;
      const { tree, wal } = await readShard(files, await publicKeys(files, trust), this.#around);
      later.set(origin, tree.size + wal.leaves.length);
    }
    return { origin: this.files.origin, size: this.size, later };
  }

  /** Only openings after a restore make numbered shards. */
  async #later(): Promise<Later> {
    const [named, begun]: [string[], string[]] = [[], []];
    for (const origin of await laterWithKeys(this.files, this.#around)) {
      const { slug, logDir } = shardFiles(this.#around.config, slugOf(origin));
      (isNumbered(slug) && (await exists(logDir)) ? begun : named).push(origin);
    }
    return { named, begun };
  }
}

/** Shards after this one that the policy lists, or whose private keys are there. */
async function laterWithKeys(
  { slug }: ShardFiles,
  { config, keys, trust }: ShardContext,
): Promise<string[]> {
  const { originPrefix } = config;
  const listed = (await trust.current()).logs
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${originPrefix}/`));
  const found = new Set(
    listed.filter((name) => isSlug(slugOf(name)) && inOrder(slugOf(name), slug) > 0),
  );
  // The folder may have been put back from years before, and the policy in it.
  for (const later of slugsAfter(slug, firstSlug(Date.now()))) {
    const files = shardFiles(config, later);
    if (await keys.hasAny(files)) found.add(files.origin);
  }
  return [...found];
}

/** What its checkpoints verify with when nothing signs them any more. */
async function publicKeys({ origin }: ShardFiles, trust: TrustPolicy): Promise<readonly NoteKey[]> {
  return (await trust.current()).logs.filter(({ name }) => name === origin);
}

/** @throws LogDamagedError */
export function readShard(
  { logDir, origin }: ShardFiles,
  keys: readonly NoteKey[],
  { config, withRoom }: Pick<ShardContext, "config" | "withRoom">,
): Promise<Recovered> {
  return recover(logDir, origin, keys, familiesOf(config), withRoom);
}
