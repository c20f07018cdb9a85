/** Asks the vault on its control socket: a question asked, one line answered, or one for each value that is disclosed. */
import type { VaultControlRequest } from "@resontech/contracts/vault-control";
import { askLines } from "@resontech/frame/ask-lines";
import { OperationError } from "@resontech/frame/operation-error";

/** An erasure searches every byte of the vault's files before it is confirmed. */
const SILENCE_MS = 600_000;

/** The vault understood the request and does not grant it. */
export class VaultRefusedError extends Error {
  override readonly name = "VaultRefusedError";
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.code = code;
  }
}

/** Line after line as the vault gives them; the vault waits for who takes them. @throws VaultRefusedError, or an error when nobody answers */
export async function* linesOfVault(
  socketPath: string,
  request: VaultControlRequest,
  silenceMs = SILENCE_MS,
): AsyncGenerator<object> {
  try {
    yield* askLines(socketPath, request, silenceMs);
  } catch (error) {
    if (error instanceof OperationError && error.code !== "part_away")
      throw new VaultRefusedError(error);
    throw error;
  }
}

/** The one line of an answer. @throws VaultRefusedError, or an error when nobody answers */
export async function askVault<T extends object>(
  socketPath: string,
  request: VaultControlRequest,
  silenceMs?: number,
): Promise<T> {
  for await (const line of linesOfVault(socketPath, request, silenceMs)) return line as T;
  throw new Error("the vault hung up without an answer");
}
