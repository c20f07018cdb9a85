/** A real witness as its own process, and logs for it. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { type Checkpoint } from "../../../src/log/format/note/checkpoint.ts";
import { LogReader } from "../../../src/log/format/tree/log-reader.ts";
import { hashLeaf } from "../../../src/log/format/tree/merkle.ts";
import {
  KEY_TYPE,
  type NoteSigner,
  noteSigner,
  verifierKey,
} from "../../../src/log/format/note/note-key.ts";
import { TileProofs } from "../../../src/log/format/tree/tile-proofs.ts";
import { TreeWriter } from "../../../src/log/auditd/checkpoint/tree-writer.ts";
import { hasRoom, temporaryFolder, signedCheckpoint } from "../../helper.ts";

export type Runtime = { name: string; node: string; program: string };

/** The one compiled file on this Node, and on the host's, which may be an older one. */
export function runtimes(): Runtime[] {
  const path = (process.env["PATH"] ?? "")
    .split(":")
    .filter((folder) => !folder.includes("node_modules"))
    .join(":");
  const found = spawnSync("node", ["--version"], { encoding: "utf8", env: { PATH: path } });
  if (found.status !== 0) return [onThisNode()];
  const node = execFileSync("node", ["-p", "process.execPath"], {
    encoding: "utf8",
    env: { PATH: path },
  }).trim();
  return [onThisNode(), { name: found.stdout.trim(), node, program: shippedProgram("witness") }];
}

function onThisNode(): Runtime {
  return { name: process.version, node: process.execPath, program: shippedProgram("witness") };
}

export type Posted = { status: number; type: string | null; body: string };

export class WitnessFixture {
  readonly dir: string;
  readonly #runtime: Runtime;
  /** Module text that the process imports first. */
  preload: string | null = null;
  url = "";
  #child: ChildProcess | null = null;

  constructor(t: Test, runtime: Runtime = onThisNode()) {
    this.dir = join(temporaryFolder(t), "w");
    this.#runtime = runtime;
    t.teardown(() => this.stop("SIGKILL"));
  }

  run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    const { node, program } = this.#runtime;
    return spawnSync(node, [program, args[0]!, "--dir", this.dir, ...args.slice(1)], {
      encoding: "utf8",
    });
  }

  /** Makes it, and lets it know the logs. @returns the lines for a policy */
  init(...logs: TestLog[]): string {
    const { status, stdout, stderr } = this.run("init", "--name", "witness.example/w1");
    if (status !== 0) throw new Error(stderr);
    for (const log of logs) {
      const { status, stderr } = this.run("admit", "--first", log.policyFile);
      if (status !== 0) throw new Error(stderr);
    }
    return stdout;
  }

  async serve(...options: string[]): Promise<void> {
    const { node, program } = this.#runtime;
    const first =
      this.preload === null
        ? []
        : ["--import", `data:text/javascript,${encodeURIComponent(this.preload)}`];
    const child = spawn(
      node,
      [...first, program, "serve", "--dir", this.dir, "--listen", "127.0.0.1:0", ...options],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    let output = "";
    const port = await new Promise<number>((resolve, reject) => {
      const take = (chunk: Buffer): void => {
        output += chunk.toString("utf8");
        const [, found] = /"port":(\d+)/.exec(output) ?? [];
        if (found !== undefined) resolve(Number(found));
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.once("close", (code) => reject(new Error(`the witness ended with ${code}: ${output}`)));
    });
    this.url = `${options.includes("--tls-cert") ? "https" : "http"}://127.0.0.1:${port}`;
  }

  async post(body: string | Buffer): Promise<Posted> {
    const response = await fetch(`${this.url}/add-checkpoint`, { method: "POST", body });
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      body: await response.text(),
    };
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async ended(): Promise<void> {
    const child = this.#child!;
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  /** What it last cosigned of its logs. */
  logs(): {
    origin: string;
    size: number;
    root: string | null;
    cosignedAt: string | null;
    followedBy?: string;
  }[] {
    return JSON.parse(this.run("show").stdout).logs;
  }
}

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
