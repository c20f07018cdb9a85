/** What the API says is wrong, or that it says nothing. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** Of the catalogue; `unreachable` where nothing answered. */
  readonly code: string;
  readonly hint: string;
  readonly status: number;
  readonly requestId: string | null;

  constructor({
    code,
    message,
    hint,
    status,
    requestId,
  }: { code: string; message: string; hint: string; status: number; requestId: string | null }) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.status = status;
    this.requestId = requestId;
  }
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({
    code: "unreachable",
    message: "the appliance did not answer",
    hint: "Check the network. The page tries again by itself.",
    status: 0,
    requestId: null,
  });
}
