/**
 * Makes what is set as a file has it. Each file is replaced whole; a command that is cut leaves some of them as they were, and the same command again
 * finishes.
 */
import { existsSync, readFileSync } from "node:fs";
import { removeFileNow } from "@resontech/frame/durable-file-now";
import { secretOf, userOf } from "@resontech/frame/define-part";
import { partNamed } from "@resontech/frame/part-facts";
import { loadConfig } from "../config/load-config.ts";
import { readableBy, ROOT, writeOwned } from "../config/owned-file.ts";
import { writePartConfig } from "../first-boot/prepare-part.ts";
import type { PartContext } from "../parts/context.ts";
import { type SettingsDocument, settingNamed } from "./decisions/settings-document.ts";

/** A setting names secrets that no file may hold, and they are not here. */
export class SecretsMissingError extends Error {
  override readonly name = "SecretsMissingError";
  readonly code = "settings_secrets_missing";
  readonly hint =
    "set these by their own commands first, such as `appliance alerts add`; nothing was changed";
}

/** @throws SecretsMissingError */
export function requireSecrets({ layout, parts }: PartContext, document: SettingsDocument): void {
  const missing = settingsOf(document).flatMap(({ part, file, value }) => {
    const { needs } = settingNamed(parts, part, file);
    return (value === null ? [] : (needs?.(value) ?? []))
      .map((name) => secretOf(partNamed(parts, part), layout, name))
      .filter((path) => !existsSync(path));
  });
  if (missing.length > 0)
    throw new SecretsMissingError(
      `the file needs secrets that are not here: ${missing.join(", ")}`,
    );
}

/** @param restarts parts whose configuration is derived from what changes, or was not yet derived by a command that was cut */
export function applySettings(
  context: PartContext,
  document: SettingsDocument,
  restarts: readonly string[],
): void {
  const { config, layout, parts } = context;
  for (const { part, file, value } of settingsOf(document)) {
    const path = layout.setting(file);
    if (value === null) removeFileNow(path);
    else {
      const owner = readableBy(userOf(config, partNamed(parts, part)));
      writeOwned(path, `${JSON.stringify(value, null, 2)}\n`, owner, 0o440);
    }
  }
  writeChoices(context, document.appliance ?? {});
  deriveConfigs(context, restarts);
}

/** What these parts read at their next start. */
export function deriveConfigs(context: PartContext, parts: readonly string[]): void {
  const changed = { ...context, config: loadConfig(context.layout.configFile) };
  for (const name of parts) writePartConfig(changed, partNamed(context.parts, name));
}

/** What a newer release knows and this one does not stays in the file. */
function writeChoices({ layout }: PartContext, choices: Readonly<Record<string, unknown>>): void {
  if (Object.keys(choices).length === 0) return;
  const before: Record<string, unknown> = JSON.parse(readFileSync(layout.configFile, "utf8"));
  const merged = Object.entries({ ...before, ...choices }).filter(
    ([name]) => choices[name] !== null,
  );
  writeOwned(
    layout.configFile,
    `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`,
    ROOT,
    0o644,
  );
}

function settingsOf({ parts = {} }: SettingsDocument): {
  part: string;
  file: string;
  value: unknown;
}[] {
  return Object.entries(parts).flatMap(([part, files]) =>
    Object.entries(files).map(([file, value]) => ({ part, file, value })),
  );
}
