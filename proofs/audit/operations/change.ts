/** Requests that the appliance would grant, and how each was answered. */

/** What a request was answered; `body` for a person. */
export type Said = { status: number; body: unknown };

export type Change = {
  name: string;
  ask: () => Promise<Said>;
  /** What it is answered while the log takes records. */
  served: number;
};

export type Answered = Said & { name: string; ms: number };

/** One after the other. */
export async function askAll(changes: readonly Change[]): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const { name, ask } of changes) {
    const from = performance.now();
    const said = await ask().catch((error: unknown): Said => ({ status: 0, body: String(error) }));
    answers.push({ ...said, name, ms: Math.round(performance.now() - from) });
  }
  return answers;
}

/** For a person, where it was not what was wanted. */
export function asLine({ name, status, body }: Answered): string {
  return `${name}: ${status} ${JSON.stringify(body)}`.slice(0, 400);
}
