import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import type { Checkpoint } from "@resontech/audit/format/note/checkpoint";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import {
  KEY_TYPE,
  type NoteSigner,
  noteSigner,
  verifierKey,
} from "@resontech/audit/format/note/note-key";
import { TileProofs } from "@resontech/audit/format/tree/tile-proofs";
import { TreeWriter } from "@resontech/auditd/checkpoint/tree-writer";
import { hasRoom } from "@resontech/audit/testing/has-room";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { signedCheckpoint } from "@resontech/audit/testing/signed-checkpoint";

/** A tree of 512 leaves on disk, of which every beginning can be shown. */
export class TestLog {
  readonly origin: string;
  readonly signers: NoteSigner[];
  readonly policyFile: string;
  readonly #reader: LogReader;

  private constructor(origin: string, signers: NoteSigner[], policyFile: string, folder: string) {
    this.origin = origin;
    this.signers = signers;
    this.policyFile = policyFile;
    this.#reader = new LogReader(folder);
  }

  /** @param fork another one has other leaves from this index on */
  static async make(
    t: Test,
    origin = "box.audit.acme/2026",
    signers = newSigners(origin),
    fork = 512,
  ): Promise<TestLog> {
    const root = temporaryFolder(t);
    const folder = join(root, "log");
    mkdirSync(folder);
    const writer = await TreeWriter.open(folder, 0, hasRoom);
    const leaves = Array.from({ length: 512 }, (_, n) =>
      Buffer.from(`${n < fork ? "leaf" : "other"} ${n}`),
    );
    // In two steps: the partial tile above the first full one is there as well.
    for (const part of [leaves.slice(0, 256), leaves.slice(256)])
      await writer.grow(part.map((leaf) => ({ leaf, leafHash: hashLeaf(leaf) })));
    const policyFile = join(root, "policy");
    writeFileSync(
      policyFile,
      `${signers.map((signer) => `log ${verifierKey(signer)}\n`).join("")}quorum none\n`,
    );
    return new TestLog(origin, signers, policyFile, folder);
  }

  /** The same keys, other leaves from `index` on. */
  forkedAt(t: Test, index: number): Promise<TestLog> {
    return TestLog.make(t, this.origin, this.signers, index);
  }

  async head(size: number): Promise<Checkpoint> {
    return { origin: this.origin, size, root: await new TileProofs(this.#reader, size).root() };
  }

  async note(size: number, signers: readonly NoteSigner[] = this.signers): Promise<string> {
    return signedCheckpoint(await this.head(size), signers);
  }

  async proof(from: number, to: number): Promise<string[]> {
    return (await new TileProofs(this.#reader, to).consistency(from)).map((hash) =>
      hash.toString("base64"),
    );
  }

  /** An honest request. */
  async request(from: number, to: number): Promise<string> {
    return requestOf(from, await this.proof(from, to), await this.note(to));
  }
}

export function requestOf(from: number | string, proof: readonly string[], note: string): string {
  return `old ${from}\n${proof.map((line) => `${line}\n`).join("")}\n${note}`;
}

export function newSigners(name: string): NoteSigner[] {
  return [
    noteSigner(name, KEY_TYPE.ed25519, generateKeyPairSync("ed25519").privateKey),
    noteSigner(name, KEY_TYPE.mlDsa44, generateKeyPairSync("ml-dsa-44").privateKey),
  ];
}
