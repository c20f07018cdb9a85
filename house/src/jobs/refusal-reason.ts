/** What the public client's exception names: a stable code where there is one. */
export function refusalReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, ofS3, ofApi] = /\(([A-Z]\w+)\) when calling|\d{3} \[(\w+)\]/.exec(text) ?? [];
  return ofS3 ?? ofApi ?? text.slice(-300);
}
