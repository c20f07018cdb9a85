import { readFileSync } from "node:fs";
import type { PartContext } from "../parts/context.ts";
import { partFactsOf } from "../parts/part-facts-of.ts";
import {
  checkSettings,
  choicesOf,
  type SettingsDocument,
  SettingsInvalidError,
} from "./decisions/settings-document.ts";

/** Everything that `appliance config` sets, as it is set now. @throws SettingsInvalidError for a file below `etc/` that holds no JSON */
export function readSettings(context: PartContext): SettingsDocument {
  const { config, parts } = context;
  const choices = [...choicesOf(parts).keys()].toSorted();
  return {
    formatVersion: 1,
    appliance: Object.fromEntries(choices.map((choice) => [choice, config[choice] ?? null])),
    parts: Object.fromEntries(
      parts
        .filter(({ settings }) => settings.length > 0)
        .map(({ name, settings }) => [
          name,
          Object.fromEntries(settings.map(({ file }) => [file, readSetting(context, file)])),
        ]),
    ),
  };
}

function readSetting(context: PartContext, file: string): unknown {
  const path = context.layout.setting(file);
  const text = partFactsOf(context).read(path);
  return text === null ? null : parsed(path, text);
}

/** @throws SettingsInvalidError */
export function readSettingsFile(
  { parts }: Pick<PartContext, "parts">,
  file: string,
): { document: SettingsDocument; bytes: Buffer } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new SettingsInvalidError(`${file} can't be read`, { cause });
  }
  return { document: checkSettings(parts, parsed(file, bytes.toString("utf8"))), bytes };
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new SettingsInvalidError(`${file} is no JSON`, { cause });
  }
}
