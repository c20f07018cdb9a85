/** What goes into a bundle for support, each file with secrets and personal values taken out. Nothing of jobs, of the audit log or of the object store is read. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { networkInterfaces, release as kernelRelease } from "node:os";
import { basename, join } from "node:path";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { readCertificates } from "../status/read-certificates.ts";
import { readDisks } from "../status/read-disks.ts";
import { readStatus, renderStatus } from "../status/status.ts";
import type { PartContext } from "../parts/context.ts";
import { type RedactedKind, Redactor } from "./redactor.ts";
import { recentErrors } from "./decisions/recent-errors.ts";
import { newestLines, shareRoom } from "./decisions/share-room.ts";
import { spareLine } from "./decisions/spare-line.ts";
import { hostPeople, knownPeople } from "./known-people.ts";
import { knownSecrets } from "./known-secrets.ts";
import { listPartLogs, readPartLog } from "./part-logs.ts";

export type BundleFile = {
  /** In the archive. */
  path: string;
  /** What it is, in words. */
  what: string;
  bytes: Buffer;
  /** Older lines that found no room, or that nobody could vouch for. */
  linesLeftOut: number;
};
export type GatheredBundle = {
  files: BundleFile[];
  redacted: Record<RedactedKind, number>;
  /** False: the coordinator did not say who its users are, so of logs only the program's own words are told. */
  peopleAreKnown: boolean;
};

/** What the customer chose and what was derived from it. Nothing below `etc/secrets` is among them. */
const CONFIGURATIONS = ["appliance", "identity"];
function configurationsOf({ parts }: PartContext): string[] {
  const declared = parts.flatMap(({ name, settings }) => [
    name,
    ...settings.map(({ file }) => basename(file, ".json")),
  ]);
  return [...CONFIGURATIONS, ...declared];
}
const PREFLIGHT_TIMEOUT_MS = 120_000;
/** Of what is told beside logs: the journal of many upgrades at most. */
const MAX_JOURNAL_BYTES = 2 * 1024 ** 2;

/** The room is too small for what is no log. */
export class BundleTooSmallError extends Error {
  readonly code = "bundle_too_small";
  readonly hint = "give more room: --max-mb";
}

/**
 * @param roomBytes of all files together; logs share what the others leave, their newest lines first
 * @throws SecretsUnreadableError, BundleTooSmallError
 */
export async function gatherBundle(
  context: PartContext,
  ask: AskOperator,
  roomBytes: number,
): Promise<GatheredBundle> {
  const { layout, config } = context;
  const [people, preflight] = [await knownPeople(ask), readPreflight(context)];
  const redactor = new Redactor({
    secrets: knownSecrets(context),
    people: [...(people ?? []), ...hostPeople()],
    ownAddresses: ["127.0.0.1", "::1", "::", "0.0.0.0", config.address, ...hostAddresses()],
  });
  const json = (path: string, what: string, value: unknown): BundleFile =>
    fileOf(path, what, `${JSON.stringify(redactor.json(value), null, 2)}\n`);
  const whole = await readStatus(context);
  // What is wrong is told in words in which a person may be named.
  const status =
    people === null
      ? {
          ...whole,
          fleet: null,
          findings: whole.findings.map((one) => ({ ...one, what: one.code })),
        }
      : whole;
  const files = [
    fileOf("status.txt", "appliance status", redactor.text(renderStatus(status))),
    json("status.json", "the same for programs, with every finding", status),
    json("versions.json", "release, engines, images, system", versionsOf(context)),
    json("preflight.json", "this host, looked at as an install does", preflight),
    json("disks.json", "file systems and their room", readDisks(layout)),
    json("certificates.json", "certificates and their days", readCertificates(layout, Date.now())),
    ...configurationsOf(context).flatMap((name) => {
      const file = layout.processConfig(name);
      if (!existsSync(file)) return [];
      return [json(`config/${name}.json`, "configuration", JSON.parse(readFileSync(file, "utf8")))];
    }),
    ...journalOf(layout.root, redactor),
  ];
  const left = roomBytes - sum(files.map(({ bytes }) => bytes.length));
  if (left < 0) throw new BundleTooSmallError(`${roomBytes} bytes are too few`);
  const logs = gatherLogs(layout.log(""), left, redactor, people !== null);
  const errors = newestLines(
    recentErrors(logs.map(({ path, bytes }) => ({ path, text: bytes.toString() }))),
    left - sum(logs.map(({ bytes }) => bytes.length)),
  );
  return {
    files: [
      ...files,
      fileOf("recent-errors.txt", "the newest errors of all parts, in their order", errors.text),
      ...logs,
    ],
    redacted: redactor.counts,
    peopleAreKnown: people !== null,
  };
}

/** A tenth is kept for the errors that are told once more. */
function gatherLogs(
  folder: string,
  roomBytes: number,
  redactor: Redactor,
  peopleAreKnown: boolean,
): BundleFile[] {
  const logs = listPartLogs(folder);
  const shares = shareRoom(
    logs.map(({ bytes }) => bytes),
    Math.floor(roomBytes * 0.9),
  );
  return logs.map((log, index) => {
    const share = shares[index]!;
    const read = readPartLog(log, share);
    const told = peopleAreKnown ? { text: read, left: 0 } : spared(read);
    // What stands for a value may be longer than the value.
    const newest = newestLines(redactor.log(told.text), share);
    const isCut = share < log.bytes;
    return {
      ...fileOf(`logs/${log.part}.log`, `log, ${isCut ? "its end" : "whole"}`, newest.text),
      linesLeftOut: told.left + newest.left,
    };
  });
}

function spared(text: string): { text: string; left: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const told = lines.map(spareLine).filter((line) => line !== null);
  return { text: told.map((line) => `${line}\n`).join(""), left: lines.length - told.length };
}

function journalOf(root: string, redactor: Redactor): BundleFile[] {
  const file = join(root, "journal", "journal.jsonl");
  if (!existsSync(file)) return [];
  const { text, left } = newestLines(redactor.log(readFileSync(file, "utf8")), MAX_JOURNAL_BYTES);
  return [{ ...fileOf("installer/journal.jsonl", "steps of installs", text), linesLeftOut: left }];
}

function versionsOf({ release }: PartContext): unknown {
  return {
    release: release.version,
    engines: Object.fromEntries(
      Object.entries(release.engines).map(([name, { version }]) => [name, version]),
    ),
    images: release.images.map(({ repository, digest, profile }) => ({
      repository,
      digest,
      profile,
    })),
    node: process.version,
    kernel: kernelRelease(),
    system: existsSync("/etc/os-release")
      ? (/^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? null)
      : null,
  };
}

/** What can't be asked is told as such: the rest of a bundle is still of use. */
function readPreflight({ layout }: PartContext): unknown {
  const { stdout, status, stderr } = spawnSync(
    layout.release("bin", "node"),
    [layout.release("app", "installer.mjs"), "preflight", "--root", layout.root],
    { encoding: "utf8", cwd: "/", timeout: PREFLIGHT_TIMEOUT_MS, maxBuffer: 16 * 1024 ** 2 },
  );
  if (status !== 0) return { unknown: (stderr ?? "").trim() || "the installer does not run" };
  return JSON.parse(stdout) as unknown;
}

function hostAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((of) =>
    (of ?? []).map(({ address }) => address),
  );
}

function fileOf(path: string, what: string, text: string): BundleFile {
  return { path, what, bytes: Buffer.from(text), linesLeftOut: 0 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
