/** What the verifier asks of the runtime that it runs in. */
export type Platform = {
  sha256: (bytes: Uint8Array) => Uint8Array;
  /** Into memory that is there: a tree has two digests for each entry. */
  sha256Into: (bytes: Uint8Array, into: Uint8Array, at: number) => void;
  /** Null: this runtime does not know the algorithm. */
  verify: (
    algorithm: SignatureAlgorithm,
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ) => Promise<boolean | null>;
};

export type SignatureAlgorithm = "ed25519" | "ml-dsa-44" | "ecdsa-p256";
