/** Whose configuration is derived from what a file sets. Pure. */
import type { Choice, PartDeclaration } from "@resontech/frame/define-part";
import { choicesOf, type SettingsDocument, settingNamed } from "./settings-document.ts";

/** Parts that read it at their start alone, whether it changes or not. */
export function readersAtStart(
  parts: readonly PartDeclaration[],
  { appliance = {}, parts: files = {} }: SettingsDocument,
): string[] {
  const choices = choicesOf(parts);
  const ofChoices = Object.keys(appliance).flatMap((name) => choices.get(name as Choice) ?? []);
  const ofFiles = Object.entries(files)
    .filter(([part, named]) =>
      Object.keys(named).some((file) => settingNamed(parts, part, file).isFollowed !== true),
    )
    .map(([part]) => part);
  return [...new Set([...ofChoices, ...ofFiles])].toSorted();
}
