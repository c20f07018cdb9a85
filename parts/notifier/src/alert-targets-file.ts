/** `etc/alerts.json`, and beside the notifier's certificate the secret and the authority of each target. */
import { readFileSync } from "node:fs";
import { removeFileNow } from "@resontech/frame/durable-file-now";
import { join } from "node:path";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import { Value } from "typebox/value";
import { type AlertTarget, AlertTargets } from "./alert-targets.ts";

/** @property secret null keeps the one that is there @property caPem of who vouches for the server; null: the appliance's own root */
export type TargetFiles = { secret: string | null; caPem: string | null };

/** Where they lie. Root writes them; the notifier's group reads them. */
export type TargetsPlace = { file: string; secretsDir: string; gid: number };

/** The file holds no targets. */
export class AlertTargetsInvalidError extends Error {
  override readonly name = "AlertTargetsInvalidError";
  readonly code = "config_invalid";
}

/** None where there is no file. @throws AlertTargetsInvalidError */
export function readAlertTargets(file: string): AlertTarget[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return checked(file, parsed(file, text)).targets;
}

/** Sets it, or puts it in the place of the one of its name. What it needs is there before it is named. @throws AlertTargetsInvalidError */
export function writeAlertTarget(
  place: TargetsPlace,
  target: AlertTarget,
  { secret, caPem }: TargetFiles,
): void {
  const others = readAlertTargets(place.file).filter(({ name }) => name !== target.name);
  const targets = [...others, target];
  checked(place.file, { formatVersion: 1, targets });
  if (secret !== null) give(place, secretFile(place, target.name), secret);
  if (caPem !== null) give(place, caFile(place, target.name), caPem);
  write(place, targets);
}

/** Its secret goes with it. @returns false where there is none of the name */
export function forgetAlertTarget(place: TargetsPlace, name: string): boolean {
  const before = readAlertTargets(place.file);
  const targets = before.filter((one) => one.name !== name);
  if (targets.length === before.length) return false;
  write(place, targets);
  for (const file of [secretFile(place, name), caFile(place, name)]) removeFileNow(file);
  return true;
}

/** Names the file as the target names it. */
export function caFileName(name: string): string {
  return `${name}.ca.crt`;
}

function write(place: TargetsPlace, targets: readonly AlertTarget[]): void {
  give(place, place.file, `${JSON.stringify({ formatVersion: 1, targets }, null, 2)}\n`);
}

function give({ gid }: TargetsPlace, file: string, text: string): void {
  replaceFileNow(file, text, 0o440, { uid: 0, gid });
}

function secretFile({ secretsDir }: TargetsPlace, name: string): string {
  return join(secretsDir, `${name}.secret`);
}

function caFile({ secretsDir }: TargetsPlace, name: string): string {
  return join(secretsDir, caFileName(name));
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new AlertTargetsInvalidError(`${file} is no JSON`, { cause: error });
  }
}

function checked(file: string, value: unknown): AlertTargets {
  const [fault] = Value.Errors(AlertTargets, value);
  if (fault !== undefined)
    throw new AlertTargetsInvalidError(`${file}: ${fault.instancePath} ${fault.message}`);
  return value as AlertTargets;
}
