/** Writes one image, lets a real auditd take it up, and says what it breaks. */
import { hash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connectProducer, connectRecordProducer } from "@resontech/audit/producer";
import { AuditdProcess, StartRefusedError } from "./auditd-process.ts";
import type { ImageFile, ImageFolder } from "./crash-state.ts";
import { DatedAuditd } from "./dated-auditd.ts";
import { brokenPromises, type Told } from "./evaluate-log.ts";
import { unlistedNextKeys } from "./evaluate-turn.ts";
import type { Ack, Secret } from "./promises.ts";
import { leavesOf, readPolicyKeys, readShards } from "./read-log.ts";
import { BOOT } from "./rows.ts";

export type Trial = Told & {
  /** Had `init` ended? Else it is run again first, as the ceremony would be. */
  isInitialized: boolean;
  /** Null: it is taken up at the true time, and no shard ends. */
  turn: Turn | null;
};
/** The log was made on the day of `inception`, and is taken up when `newYear` has just begun: the shard of that year must be, too. */
type Turn = {
  inception: string;
  newYear: number;
  /** Private keys that had been made; those of them whose shards others were told to have ended. */
  secrets: readonly Secret[];
  destroyed: readonly Secret[];
};
export type Verdict = {
  /** Empty when everything held. */
  broken: string[];
  /** Leaves of the log that was taken up, in its newest shard. */
  size: number;
};
/** `blocks`: what removed key files held. */
export type Image = { files: ImageFolder; blocks: readonly Buffer[] };

/** @param root an empty place; it is removed */
export async function tryImage(
  root: string,
  { files, blocks }: Image,
  trial: Trial,
): Promise<Verdict> {
  const disk = join(root, "disk");
  mkdirSync(root, { recursive: true });
  writeImage(disk, files);
  const left = [...blocks, ...filesIn(join(disk, "keys"))];
  const auditd =
    trial.turn === null
      ? new AuditdProcess(root, disk)
      : new DatedAuditd(root, disk, trial.turn.inception);
  try {
    const { broken, size } = await takeUp(auditd, trial);
    return { broken: [...leftKeys(left, trial.turn?.destroyed ?? []), ...broken], size };
  } finally {
    await auditd.stop("SIGKILL");
    rmSync(root, { recursive: true, force: true });
  }
}

/** What must be there before a log is made. */
export function makeDiskFolders(disk: string): void {
  for (const name of ["keys", "policy"])
    mkdirSync(join(disk, name), { recursive: true, mode: 0o700 });
}

/** Starts it on files that it left, wants one more event from it, in the new year's shard another one, and reads the log. */
export async function takeUp(auditd: AuditdProcess, trial: Trial): Promise<Verdict> {
  const { auditDir, keysDir, policyFile } = auditd.config;
  const broken: string[] = [];
  try {
    if (!trial.isInitialized) await auditd.init();
    if (auditd instanceof DatedAuditd) auditd.setNewYear(trial.turn!.newYear);
    await auditd.start();
    await takesOneMore(auditd, trial);
    broken.push(...brokenBallast(auditd), ...brokenLedgers(auditd));
    if (auditd instanceof DatedAuditd) broken.push(...(await brokenNewYear(auditd, trial.turn!)));
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof StartRefusedError)
      return { broken: [`start refused: ${message.trim().slice(-400)}`], size: 0 };
    return {
      broken: [...broken, `not taken up: ${message} ${auditd.output.trim().slice(-400)}`],
      size: 0,
    };
  }
  await auditd.stop("SIGKILL");
  try {
    const shards = readShards(auditDir);
    const newest = shards.at(-1);
    const older = (trial.turn?.secrets ?? []).filter(({ slug }) => slug !== newest?.slug);
    broken.unshift(...brokenPromises(shards, readPolicyKeys(policyFile), trial));
    return {
      broken: [...broken, ...leftKeys(filesIn(keysDir), older)],
      size: newest?.log.size ?? 0,
    };
  } catch (error) {
    return { broken: [`the log can't be read: ${(error as Error).message}`], size: 0 };
  }
}

/** Until somebody vouches for the clock the year that went by is written; then the new one. */
async function brokenNewYear(auditd: DatedAuditd, { newYear }: Turn): Promise<string[]> {
  const { auditDir, policyFile } = auditd.config;
  const unlisted = unlistedNextKeys(
    leavesOf(readShards(auditDir).at(-1)!.log),
    readPolicyKeys(policyFile),
  );
  await auditd.vouch();
  await takesOne(auditd);
  const current = readFileSync(join(auditDir, "current"), "utf8").trim();
  const newest = readShards(auditDir).at(-1)!.slug;
  const isTurned = current === String(newYear) && newest === current;
  return [
    ...unlisted,
    ...(isTurned ? [] : [`shard not turned: ${current} is written, the newest is ${newest}`]),
  ];
}

/** The producer of the rows presents its last acknowledgement; another producer's new event is taken and signed. */
async function takesOneMore(auditd: AuditdProcess, { acks }: Trial): Promise<void> {
  const last = acks.reduce<Ack | undefined>(
    (best, ack) => (best === undefined || ack.pseq > best.pseq ? ack : best),
    undefined,
  );
  if (last !== undefined) {
    const { index, leafHash } = last;
    await using rows = await connectRecordProducer({
      ...{ socketPath: auditd.recordSocket, boot: BOOT },
      highestAck: { index, leafHash },
    });
    await rows.close();
  }
  await takesOne(auditd);
}

async function takesOne({ gateSocket }: AuditdProcess): Promise<void> {
  await using gate = await connectProducer({ socketPath: gateSocket, boot: crypto.randomUUID() });
  const { index } = await gate.fact({
    type: "key.list",
    op: crypto.randomUUID(),
    actor: { sub: "usr-1", kind: "user" },
    object: { kind: "user", id: "usr-1" },
  });
  await gate.covered(index);
}

/** A step of ballast that is smaller than its name says holds nothing back. */
function brokenBallast({ config }: AuditdProcess): string[] {
  const folder = join(config.auditDir, "ballast");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(
      (name) =>
        name.endsWith(".zero") && statSync(join(folder, name)).size !== config.ballastStepBytes,
    )
    .map((name) => `ballast hollow: ${name} has ${statSync(join(folder, name)).size} bytes`);
}

/** What is saved to shorten starts is whole, or a start reads every leaf there is. */
function brokenLedgers({ config }: AuditdProcess): string[] {
  return readdirSync(config.auditDir)
    .map((slug) => join(config.auditDir, slug, "ledger"))
    .filter((file) => existsSync(file))
    .filter((file) => {
      const [digest, body = ""] = readFileSync(file, "utf8").split("\n");
      return hash("sha256", body) !== digest;
    })
    .map((file) => `ledger damaged: ${file}`);
}

/** Any line of a private key's text is a part of the key. */
function leftKeys(left: readonly Buffer[], secrets: readonly Secret[]): string[] {
  return secrets
    .filter(({ text }) => keyLines(text).some((line) => left.some((bytes) => bytes.includes(line))))
    .map(({ slug }) => `key left: a private key of ${slug} can be read`);
}

/** Without the lines of PEM. */
function keyLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
}

function filesIn(folder: string): Buffer[] {
  return existsSync(folder)
    ? readdirSync(folder).map((name) => readFileSync(join(folder, name)))
    : [];
}

/** @param path where its root is to be */
export function writeImage(path: string, image: ImageFolder): void {
  const written = new Map<ImageFile, string>();
  const write = (at: string, node: ImageFile | ImageFolder): void => {
    if ("entries" in node) {
      mkdirSync(at, { mode: 0o700 });
      for (const [name, child] of node.entries) write(join(at, name), child);
      return chmodSync(at, node.mode);
    }
    const known = written.get(node);
    if (known !== undefined) return linkSync(known, at);
    writeFileSync(at, node.bytes);
    chmodSync(at, node.mode);
    written.set(node, at);
  };
  write(path, image);
}

/** Where a folder on a real disk is not what the record says it must be; null when it is, byte for byte. */
export function firstDifference(path: string, image: ImageFolder): string | null {
  const names = new Set([...image.entries.keys(), ...readdirSync(path)]);
  for (const name of names) {
    const at = join(path, name);
    const node = image.entries.get(name);
    if (node === undefined) return `${at} is not in the record`;
    if (!existsSync(at)) return `${at} is only in the record`;
    const isFolder = statSync(at).isDirectory();
    if (isFolder !== "entries" in node) return `${at} is of another kind`;
    const found =
      "entries" in node
        ? firstDifference(at, node)
        : readFileSync(at).equals(node.bytes)
          ? null
          : `${at} has other bytes`;
    if (found !== null) return found;
  }
  return null;
}
