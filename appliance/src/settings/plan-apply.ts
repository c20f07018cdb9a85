import type { PartContext } from "../parts/context.ts";
import { type SettingChange, settingChanges } from "./decisions/setting-changes.ts";
import { readersAtStart } from "./decisions/readers-at-start.ts";
import type { SettingsDocument } from "./decisions/settings-document.ts";
import { outdatedParts } from "./outdated-parts.ts";
import { readSettings } from "./read-settings.ts";

export type ApplyPlan = {
  changes: SettingChange[];
  /** Parts that run with what was set before, as of a command that was cut before it restarted them. */
  outdated: string[];
  /** Whoever must start anew for the file to be in force. */
  restarts: string[];
};

/** What `appliance config apply` would do with a file. @throws SettingsInvalidError */
export function planApply(context: PartContext, document: SettingsDocument): ApplyPlan {
  const changes = settingChanges(context.parts, readSettings(context), document);
  const outdated = outdatedParts(context, readersAtStart(context.parts, document));
  const restarts = new Set([...changes.flatMap((change) => change.restarts), ...outdated]);
  return { changes, outdated, restarts: [...restarts].toSorted() };
}
