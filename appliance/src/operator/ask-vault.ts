/** Asks the vault on its control socket: one JSON line asked, one answered, or one for each value that is disclosed. */
import type { VaultControlError, VaultControlRequest } from "@resontech/contracts/vault-control";
import { askJsonLines } from "@resontech/frame/ask-json-lines";

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
export async function* linesOfVault(
  socketPath: string,
  request: VaultControlRequest,
  silenceMs = SILENCE_MS,
): AsyncGenerator<object> {
  for await (const line of askJsonLines(socketPath, request, silenceMs)) {
    if ("error" in line) throw new VaultRefusedError((line as VaultControlError).error);
    yield line;
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
