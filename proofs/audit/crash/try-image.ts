/** Writes one image, lets a real auditd take it up, and says what it breaks. */
import { hash } from "node:crypto";
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectProducer, connectRecordProducer, type LeafRef } from "@resontech/audit/producer";
import { AuditdProcess, StartRefusedError } from "./auditd-process.ts";
import type { ImageFile, ImageFolder } from "./crash-state.ts";
import { brokenPromises, type Told } from "./judge-log.ts";
import { readLog, readSidecar } from "./read-log.ts";
import { BOOT } from "./rows.ts";

export type Trial = Told & {
  /** Had `init` ended? Else it is run again first, as the ceremony would be. */
  isInitialized: boolean;
};
export type Verdict = {
  /** Empty when everything held. */
  broken: string[];
  /** Leaves of the log that was taken up. */
  size: number;
};

/** @param root an empty place; it is removed */
export async function tryImage(root: string, writeImage: (disk: string) => void, trial: Trial): Promise<Verdict> {
  const disk = join(root, "disk");
  mkdirSync(root, { recursive: true });
  writeImage(disk);
  const auditd = new AuditdProcess(root, disk);
  try {
    return await takeUp(auditd, trial);
  } finally {
    await auditd.stop("SIGKILL");
    rmSync(root, { recursive: true, force: true });
  }
}

/** What must be there before a log is made. */
export function makeDiskFolders(disk: string): void {
  for (const name of ["keys", "policy"]) mkdirSync(join(disk, name), { recursive: true, mode: 0o700 });
}

/** Starts it on files that it left, wants one more event from it, and reads the log. */
export async function takeUp(auditd: AuditdProcess, trial: Trial): Promise<Verdict> {
  try {
    if (!trial.isInitialized) await auditd.init();
    await auditd.start();
    await takesOneMore(auditd, trial);
  } catch (error) {
    const what = error instanceof StartRefusedError ? "start refused" : "no event taken";
    return { broken: [`${what}: ${(error as Error).message.trim().slice(-400)}`], size: 0 };
  }
  await auditd.stop("SIGKILL");
  try {
    const log = readLog(auditd.logDir);
    const besides = [...brokenBallast(auditd), ...brokenLedger(auditd), ...lostPolicy(auditd)];
    return { broken: [...brokenPromises(log, readSidecar(auditd.logDir), trial), ...besides], size: log.size };
  } catch (error) {
    return { broken: [`the log can't be read: ${(error as Error).message}`], size: 0 };
  }
}

/** The producer of the rows presents its highest acknowledgement; another producer's new event is taken and signed. */
async function takesOneMore({ recordSocket, gateSocket }: AuditdProcess, { acks }: Trial): Promise<void> {
  const highestAck = acks.reduce<LeafRef | undefined>(
    (best, ack) => (best === undefined || ack.index > best.index ? ack : best),
    undefined,
  );
  if (highestAck !== undefined) {
    const { index, leafHash } = highestAck;
    await using rows = await connectRecordProducer({ socketPath: recordSocket, boot: BOOT, highestAck: { index, leafHash } });
    await rows.close();
  }
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
    .filter((name) => name.endsWith(".zero") && statSync(join(folder, name)).size !== config.ballastStepBytes)
    .map((name) => `ballast hollow: ${name} has ${statSync(join(folder, name)).size} bytes`);
}

/** What is saved to shorten starts is whole, or a start reads every leaf there is. It was not written since the power cut. */
function brokenLedger({ logDir }: AuditdProcess): string[] {
  const file = join(logDir, "ledger");
  if (!existsSync(file)) return [];
  const [digest, body = ""] = readFileSync(file, "utf8").split("\n");
  return hash("sha256", body) === digest ? [] : ["ledger damaged"];
}

function lostPolicy({ config }: AuditdProcess): string[] {
  return existsSync(config.policyFile) ? [] : ["policy lost"];
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
      "entries" in node ? firstDifference(at, node) : readFileSync(at).equals(node.bytes) ? null : `${at} has other bytes`;
    if (found !== null) return found;
  }
  return null;
}
