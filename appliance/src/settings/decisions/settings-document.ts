/** What is set of an appliance, in one file that can be kept: choices of `etc/appliance.json`, and files that parts declare. */
import { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { Choice, PartDeclaration, SettingDeclaration } from "@resontech/frame/define-part";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";

const closed = { additionalProperties: false } as const;

/** The form of the file. A choice that is null is the product's own; what the file does not name stays as it is. */
export const SettingsDocument = Type.Object(
  {
    formatVersion: Type.Literal(1),
    appliance: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** By part, and by the name of the file below `etc/`. Null: there is no such file. */
    parts: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
  },
  closed,
);
export type SettingsDocument = Static<typeof SettingsDocument>;

/** The file sets something that there is not, or sets it to what it can't be. */
export class SettingsInvalidError extends Error {
  override readonly name = "SettingsInvalidError";
  readonly code = "settings_invalid";
  readonly hint = "`appliance config show` prints a file of this form, with every setting";
}

/** A choice, and whose configuration is derived from it. */
export function choicesOf(parts: readonly PartDeclaration[]): Map<Choice, string[]> {
  const choices = new Map<Choice, string[]>();
  for (const { name, choices: ofPart = [] } of parts)
    for (const choice of ofPart) choices.set(choice, [...(choices.get(choice) ?? []), name]);
  return choices;
}

/** @throws SettingsInvalidError */
export function settingNamed(
  parts: readonly PartDeclaration[],
  part: string,
  file: string,
): SettingDeclaration {
  const declared = parts.find(({ name }) => name === part)?.settings ?? [];
  const setting = declared.find((one) => one.file === file);
  if (setting !== undefined) return setting;
  const known = parts.flatMap(({ name, settings }) => settings.map((one) => `${name}/${one.file}`));
  throw new SettingsInvalidError(
    `there is no setting ${part}/${file}; there are ${known.join(", ")}`,
  );
}

/** @throws SettingsInvalidError naming the member at fault */
export function checkSettings(parts: readonly PartDeclaration[], value: unknown): SettingsDocument {
  requireForm(SettingsDocument, value, "");
  const document = value as SettingsDocument;
  const choices = choicesOf(parts);
  for (const [name, chosen] of Object.entries(document.appliance ?? {})) {
    if (!choices.has(name as Choice))
      throw new SettingsInvalidError(
        `appliance.${name} is not set by this command; ${[...choices.keys()].toSorted().join(", ")} are`,
      );
    if (chosen !== null)
      requireForm(ApplianceConfig.properties[name as Choice], chosen, `/appliance/${name}`);
    else if (isRequired(name))
      throw new SettingsInvalidError(`appliance.${name} has no default: it takes a value`);
  }
  for (const [part, files] of Object.entries(document.parts ?? {}))
    for (const [file, content] of Object.entries(files)) {
      const { schema } = settingNamed(parts, part, file);
      if (content !== null) requireForm(schema, content, `/parts/${part}/${file}`);
    }
  return document;
}

function isRequired(choice: string): boolean {
  return (ApplianceConfig.required as readonly string[]).includes(choice);
}

/** @throws SettingsInvalidError */
function requireForm(schema: TSchema, value: unknown, at: string): void {
  const [fault] = Value.Errors(schema, value);
  if (fault !== undefined)
    throw new SettingsInvalidError(
      `${at}${fault.instancePath || (at === "" ? "the file" : "")} ${fault.message}`,
    );
}
