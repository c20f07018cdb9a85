/** Asks the vault on its control socket: one JSON line asked, one answered, or one for each value that is disclosed. */
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import type { VaultControlError, VaultControlRequest } from "@resontech/contracts/vault-control";

/** An erasure searches every byte of the vault's files before it is confirmed. */
const SILENCE_MS = 600_000;

/** The vault understood the request and does not grant it. */
export class VaultRefusedError extends Error {
  override readonly name = "VaultRefusedError";
  readonly code: string;

  constructor({ code, message }: VaultControlError["error"]) {
    super(message);
    this.code = code;
  }
}

/** Line after line as the vault gives them; the vault waits for who takes them. @throws VaultRefusedError, or an error when nobody answers */
export async function* linesOfVault(socketPath: string, request: VaultControlRequest): AsyncGenerator<object> {
  const socket = createConnection(socketPath);
  try {
    socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error(`the vault said nothing for ${SILENCE_MS / 1000} s`)));
    const failed = new Promise<never>((_, reject) => socket.once("error", reject));
    failed.catch(() => {});
    socket.end(`${JSON.stringify(request)}\n`);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([lines.next(), failed]);
      if (next.done === true) return;
      const line = JSON.parse(next.value) as object | VaultControlError;
      if ("error" in line) throw new VaultRefusedError(line.error);
      yield line;
    }
  } finally {
    socket.destroy();
  }
}

/** The one line of an answer. @throws VaultRefusedError, or an error when nobody answers */
export async function askVault<T extends object>(socketPath: string, request: VaultControlRequest): Promise<T> {
  for await (const line of linesOfVault(socketPath, request)) return line as T;
  throw new Error("the vault hung up without an answer");
}
