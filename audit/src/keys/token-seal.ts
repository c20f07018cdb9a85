/**
 * Files that only one PKCS#11 token opens, by an AES-256 key that it made and keeps. The token's module works in a process of its own for each file:
 * every one of its calls may hang, and a thread of ours that hangs in one can't be ended.
 */
import { fork } from "node:child_process";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import type { Seal } from "./seal.ts";
import type { TokenAnswer, TokenRequest } from "./token-program.ts";

/** Twice this, for a file that is sealed and opened, is less than the supervisor waits for a start. */
const TIMEOUT_MS = 20_000;
/** Compiled, it stands beside the vault. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "token-program.ts" : "audit-token.mjs",
  import.meta.url,
);

/**
 * Sealing makes the token's key where there is none, and looks whether what it sealed opens.
 *
 * @param token `keyLabel`: of the key in the token
 * @param timeoutMs for each file
 */
export function tokenSeal(token: Pkcs11Token & { keyLabel: string }, timeoutMs = TIMEOUT_MS): Seal {
  const ask = async (
    verb: TokenRequest["verb"],
    bytes: Uint8Array,
    name: string,
  ): Promise<Buffer> => {
    const answer = await answerOf({ verb, token, bytes, name }, timeoutMs);
    if ("error" in answer) throw new Error(answer.error);
    return Buffer.from(answer.bytes);
  };
  return {
    suffix: ".p11",
    seal: (plain, name) => ask("seal", plain, name),
    unseal: (bytes, name) => ask("unseal", bytes, name),
  };
}

/** @throws an error when its process dies, or does not answer in time */
async function answerOf(request: TokenRequest, timeoutMs: number): Promise<TokenAnswer> {
  const { label } = request.token;
  const answer = Promise.withResolvers<TokenAnswer>();
  // Over the channel alone: what a module prints is nobody's key.
  const child = fork(PROGRAM, {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const late = setTimeout(
    () => answer.reject(new Error(`the token ${label} does not answer for ${timeoutMs} ms`)),
    timeoutMs,
  );
  child.on("message", (message) => answer.resolve(message as TokenAnswer));
  child.on("error", answer.reject);
  child.on("exit", (code, signal) =>
    answer.reject(new Error(`the process of the token ${label} ended with ${signal ?? code}`)),
  );
  child.send(request, (error) => {
    if (error !== null) answer.reject(error);
  });
  try {
    return await answer.promise;
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}
