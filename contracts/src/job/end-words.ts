/** How a member of a job ended, as far as it is known. Pure. */
type MemberEnd = { exitCode: number | null; reason: string | null };

/** `code 137: out of memory`, `code 0`, `node lost`; null where nothing is known. */
export function endWords({ exitCode, reason }: MemberEnd): string | null {
  const why = reason === null ? "" : reason.replaceAll("_", " ");
  const code = exitCode === null ? "" : `code ${exitCode}`;
  return [code, why].filter((part) => part !== "").join(": ") || null;
}
