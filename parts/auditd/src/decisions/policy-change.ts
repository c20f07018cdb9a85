/** What may change in the trust policy while a log is written: witnesses, groups, quorum; never whose signatures are the log's own. Pure. */
import { type NoteKey, verifierKey } from "@resontech/audit/format/note/note-key";

/**
 * Why these log lines are not the ones that they were; null when they are. A shard that had none may get its keys: auditd prepares the next one.
 * @param originPrefix of this appliance's shards
 */
export function logLinesViolation(
  before: readonly NoteKey[],
  after: readonly NoteKey[],
  originPrefix: string,
): string | null {
  const listed = new Set(after.map(verifierKey));
  const missing = before.find((key) => !listed.has(verifierKey(key)));
  if (missing !== undefined) return `a log line of ${missing.name} is gone`;
  const known = new Set(before.map(verifierKey));
  const names = new Set(before.map(({ name }) => name));
  const foreign = after.find((key) => {
    return (
      !known.has(verifierKey(key)) &&
      (names.has(key.name) || !key.name.startsWith(`${originPrefix}/`))
    );
  });
  return foreign === undefined ? null : `a log line of ${foreign.name} was added`;
}
