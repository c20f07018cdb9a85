/** What a file directly in one of the five folders exports by default: one proof, too long for a test. */
export type ProofContext = {
  /** One line of progress for the person who waits, on standard error. */
  progress: (line: string) => void;
  args: readonly string[];
};

export type ProofResult = {
  ok: boolean;
  /** Numbers and words with their unit in the key; ratios to a peer or limit measured in the same run. */
  figures: Record<string, unknown>;
};

type Proof = { default: (context: ProofContext) => Promise<ProofResult> };

export function isProof(module: unknown): module is Proof {
  return (
    typeof module === "object" &&
    module !== null &&
    "default" in module &&
    typeof module.default === "function"
  );
}
