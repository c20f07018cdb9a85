/** `etc/alerts.json`, and beside the notifier's certificate the secret and the authority of each target. */
import { readFileSync, rmSync } from "node:fs";
import { type AlertTarget, AlertTargets } from "@resontech/contracts/alert-targets";
import { Value } from "typebox/value";
import { type Layout, uidOf } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";
import { ConfigInvalidError } from "./load-config.ts";
import { readableBy, writeOwned } from "./owned-file.ts";

/** @property secret null keeps the one that is there @property caPem of who vouches for the server; null: the appliance's own root */
export type TargetFiles = { secret: string | null; caPem: string | null };

/** None where there is no file. @throws ConfigInvalidError */
export function readAlertTargets({ alertTargetsFile }: Layout): AlertTarget[] {
  let text: string;
  try {
    text = readFileSync(alertTargetsFile, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return checked(alertTargetsFile, parsed(alertTargetsFile, text)).targets;
}

/** Sets it, or puts it in the place of the one of its name. What it needs is there before it is named. @throws ConfigInvalidError */
export function writeAlertTarget(
  context: PartContext,
  target: AlertTarget,
  { secret, caPem }: TargetFiles,
): void {
  const { layout } = context;
  const others = readAlertTargets(layout).filter(({ name }) => name !== target.name);
  const targets = [...others, target];
  checked(layout.alertTargetsFile, { formatVersion: 1, targets });
  const owner = readableBy(uidOf(context.config, "notifier"));
  if (secret !== null) writeOwned(secretFile(layout, target.name), secret, owner, 0o440);
  if (caPem !== null) writeOwned(caFile(layout, target.name), caPem, owner, 0o440);
  write(context, targets);
}

/** Its secret goes with it. @returns false where there is none of the name */
export function forgetAlertTarget(context: PartContext, name: string): boolean {
  const { layout } = context;
  const before = readAlertTargets(layout);
  const targets = before.filter((one) => one.name !== name);
  if (targets.length === before.length) return false;
  write(context, targets);
  for (const file of [secretFile(layout, name), caFile(layout, name)])
    rmSync(file, { force: true });
  return true;
}

/** As the target names it. */
export function caFileName(name: string): string {
  return `${name}.ca.crt`;
}

function write({ layout, config }: PartContext, targets: readonly AlertTarget[]): void {
  writeOwned(
    layout.alertTargetsFile,
    `${JSON.stringify({ formatVersion: 1, targets }, null, 2)}\n`,
    readableBy(uidOf(config, "notifier")),
    0o440,
  );
}

function secretFile(layout: Layout, name: string): string {
  return layout.secrets("notifier", `${name}.secret`);
}

function caFile(layout: Layout, name: string): string {
  return layout.secrets("notifier", caFileName(name));
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConfigInvalidError(`${file} is no JSON`, { cause: error });
  }
}

function checked(file: string, value: unknown): AlertTargets {
  const [fault] = Value.Errors(AlertTargets, value);
  if (fault !== undefined)
    throw new ConfigInvalidError(`${file}: ${fault.instancePath} ${fault.message}`);
  return value as AlertTargets;
}
