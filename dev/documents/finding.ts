/** What is wrong with a document, and where. */
export type Finding = { document: string; line: number; what: string };

export function describeFinding({ document, line, what }: Finding): string {
  return `${document}:${line}: ${what}`;
}
