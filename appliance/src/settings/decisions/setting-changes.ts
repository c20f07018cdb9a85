/** Where a file of settings differs from what is set. Pure. */
import type { Choice, PartDeclaration } from "@resontech/frame/define-part";
import { choicesOf, type SettingsDocument, settingNamed } from "./settings-document.ts";

/** @property name `appliance.<choice>` or `<part>/<file>` */
export type SettingChange = {
  name: string;
  /** Each member that differs, by its path within the setting; the setting itself is ``. Null: nothing is set. */
  members: { path: string; now: unknown; file: unknown }[];
  /** Parts that read it at their start alone. */
  restarts: string[];
};

export function settingChanges(
  parts: readonly PartDeclaration[],
  now: SettingsDocument,
  file: SettingsDocument,
): SettingChange[] {
  const choices = choicesOf(parts);
  const ofChoices = Object.entries(file.appliance ?? {}).map(([name, wanted]) => ({
    name: `appliance.${name}`,
    members: differences(now.appliance?.[name] ?? null, wanted, ""),
    restarts: choices.get(name as Choice) ?? [],
  }));
  const ofFiles = Object.entries(file.parts ?? {}).flatMap(([part, files]) =>
    Object.entries(files).map(([name, wanted]) => ({
      name: `${part}/${name}`,
      members: differences(now.parts?.[part]?.[name] ?? null, wanted, ""),
      restarts: settingNamed(parts, part, name).isFollowed === true ? [] : [part],
    })),
  );
  return [...ofChoices, ...ofFiles].filter(({ members }) => members.length > 0);
}

/** Lists whose lengths differ are told as a whole: their members have no names. */
function differences(now: unknown, file: unknown, path: string): SettingChange["members"] {
  if (JSON.stringify(now) === JSON.stringify(file)) return [];
  const [before, after] = [membersOf(now), membersOf(file)];
  const isComparable =
    before !== null &&
    after !== null &&
    Array.isArray(now) === Array.isArray(file) &&
    (!Array.isArray(now) || before.size === after.size);
  if (!isComparable) return [{ path, now, file }];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    differences(before.get(name) ?? null, after.get(name) ?? null, `${path}/${name}`),
  );
}

function membersOf(value: unknown): Map<string, unknown> | null {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;
}
