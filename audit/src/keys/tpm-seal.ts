/**
 * Files that only this machine's TPM opens, and only while its boot registers (PCRs) stand as they stood when the file was sealed. Sealed and opened by
 * `systemd-creds`, whose format and TPM code are systemd's; keys pass its standard input and output, never its arguments.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";
import type { Tpm } from "@resontech/contracts/tpm";
import type { Seal } from "./seal.ts";

const PROGRAM = "systemd-creds";
const TIMEOUT_MS = 60_000;

/** @throws (its `seal`) where the registers hold nothing, and would tie a key to no boot */
export function tpmSeal({ device, pcrs }: Tpm): Seal {
  const at = `--tpm2-device=${device}`;
  return {
    suffix: ".tpm",
    seal: async (plain, name) => {
      const args = [
        "encrypt",
        "--with-key=tpm2",
        at,
        `--tpm2-pcrs=${pcrs.join("+")}`,
        `--name=${name}`,
        "-",
        "-",
      ];
      const { output, said } = await run(args, plain);
      // It goes on with a warning where the registers hold nothing: the file would open in any boot.
      if (said !== "") throw new Error(`the TPM does not tie it to the boot: ${said}`);
      return output;
    },
    unseal: async (bytes, name) =>
      (await run(["decrypt", at, `--name=${name}`, "-", "-"], bytes)).output,
  };
}

/** @throws an error with what the program said, when it fails */
async function run(
  args: readonly string[],
  input: Uint8Array,
): Promise<{ output: Buffer; said: string }> {
  const child = spawn(PROGRAM, args, { stdio: "pipe", timeout: TIMEOUT_MS });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [output, errors, [code, signal]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    closed,
  ]);
  const said = errors.trim().replaceAll("\n", "; ");
  if (code !== 0) throw new Error(`${PROGRAM} ${args[0]} ended with ${code ?? signal}: ${said}`);
  return { output, said };
}
