/** A log of a test's own that grows as told, signed as auditd signs it. */
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { replaceFile } from "@resontech/frame/durable-file";
import type { FollowerOptions } from "../../src/follow/log-follower.ts";
import { composeEvent } from "@resontech/audit/format/event/compose-event";
import { leafOf } from "@resontech/audit/format/event/leaf";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { setCurrentSlug, shardFolder } from "@resontech/audit/format/shard/shards";
import {
  KEY_TYPE,
  type NoteSigner,
  noteSigner,
  verifierKey,
} from "@resontech/audit/format/note/note-key";
import { TreeWriter } from "@resontech/auditd/checkpoint/tree-writer";
import { hasRoom } from "@resontech/audit/testing/has-room";
import { signedCheckpoint } from "@resontech/audit/testing/signed-checkpoint";

const PREFIX = "box.audit.acme";

/** The same bytes at the same places as auditd's log: only the sockets are missing. */
export class WrittenLog {
  readonly auditDir: string;
  readonly policyFile: string;
  readonly stateDir: string;
  readonly #signers: Map<string, NoteSigner[]>;
  #writer!: TreeWriter;
  #slug = "";
  #pseq = 0;
  #timeMs = Date.parse("2026-03-01T00:00:00.000Z");

  /** @param sameKeys the same log at another time: its keys are taken over */
  constructor(root: string, sameKeys?: WrittenLog) {
    this.#signers = new Map(sameKeys === undefined ? [] : sameKeys.#signers);
    this.auditDir = join(root, "audit");
    this.policyFile = join(root, "audit.policy");
    this.stateDir = join(root, "state");
    for (const folder of [this.auditDir, this.stateDir]) mkdirSync(folder);
  }

  /** For a follower. */
  get options(): FollowerOptions {
    return {
      auditDir: this.auditDir,
      policyFile: this.policyFile,
      stateDir: this.stateDir,
      pollMs: 10,
    };
  }

  get logDir(): string {
    return shardFolder(this.auditDir, this.#slug);
  }

  get size(): number {
    return this.#writer.size;
  }

  get origin(): string {
    return `${PREFIX}/${this.#slug}`;
  }

  /** Makes a shard and writes to that one from now on. */
  async open(slug: string): Promise<this> {
    this.#slug = slug;
    mkdirSync(this.logDir);
    if (!this.#signers.has(slug))
      this.#signers.set(slug, [
        noteSigner(this.origin, KEY_TYPE.ed25519, generateKeyPairSync("ed25519").privateKey),
        noteSigner(this.origin, KEY_TYPE.mlDsa44, generateKeyPairSync("ml-dsa-44").privateKey),
      ]);
    const lines = [...this.#signers.values()]
      .flat()
      .map((signer) => `log ${verifierKey(signer)}\n`);
    writeFileSync(this.policyFile, `${lines.join("")}quorum none\n`);
    this.#writer = await TreeWriter.open(this.logDir, 0, hasRoom);
    await this.sign();
    await setCurrentSlug(this.auditDir, slug);
    return this;
  }

  /** Appends and signs. @returns the leaves */
  async append(events: readonly EventDraft[]): Promise<Buffer[]> {
    const leaves = events.map((event) => this.#leafOf(event));
    await (await this.#writer.grow(leaves.map((leaf) => ({ leaf, leafHash: hashLeaf(leaf) }))))();
    await this.sign();
    return leaves;
  }

  async sign(root: Buffer = this.#writer.root(), size: number = this.size): Promise<void> {
    const note = signedCheckpoint(
      { origin: this.origin, size, root },
      this.#signers.get(this.#slug)!,
    );
    await replaceFile(join(this.logDir, "checkpoint"), note, 0o440);
  }

  /** One entry a second. */
  #leafOf(event: EventDraft): Buffer {
    this.#pseq += 1;
    this.#timeMs += 1_000;
    const composed = composeEvent(event, { boot: "boot-1", pseq: this.#pseq }, []);
    return leafOf(
      Buffer.from(composed.event, "utf8"),
      "coordinator-gate",
      new Date(this.#timeMs).toISOString(),
    );
  }
}

export function keyLists(count: number, sub = "usr-1"): EventDraft<"key.list">[] {
  return Array.from({ length: count }, () => ({
    type: "key.list",
    phase: "fact",
    op: crypto.randomUUID(),
    actor: { sub, kind: "user" },
    object: { kind: "user", id: sub },
  }));
}
