/** The verifier's own code, in a file of its own: no other page needs it. */
export const loadVerifier = async () => await import("@resontech/verifier/check-proof");
