/** An answer in safetensors: kept in a file, and shown as a table of what it holds. https://github.com/huggingface/safetensors#format */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { CliError } from "../cli-error.ts";
import { printable } from "../printable.ts";

export const TENSORS_TYPE = "application/vnd.safetensors";
export const TENSORS_HEAD = ["NAME", "TYPE", "SHAPE OR VALUE"];
const LENGTH_BYTES = 8;
const METADATA = "__metadata__";

/** @throws CliError file_exists: asked before a call is made for it */
export function requireNew(file: string): void {
  if (existsSync(file))
    throw new CliError("file_exists", `${file} is there already`, "Name another file.");
}

/** The file is whole or not there. @throws CliError file_exists, file_unwritable */
export function writeTensors(file: string, bytes: Buffer): void {
  requireNew(file);
  const handle = openNew(file);
  try {
    writeFileSync(handle, bytes);
  } catch (error) {
    rmSync(file, { force: true });
    throw unwritable(file, error);
  } finally {
    closeSync(handle);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, "wx");
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string, cause: unknown): CliError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliError("file_unwritable", `${file} can't be written: ${why}`, "Name another file.");
}

/**
 * A row for each tensor, then one for each thing beside them.
 * @throws CliError reply_invalid where the bytes are no such file
 */
export function tensorRows(bytes: Buffer): string[][] {
  const { [METADATA]: metadata = {}, ...tensors } = headerOf(bytes);
  return [
    ...Object.entries(tensors).map(([name, tensor]) => {
      const { dtype, shape } = tensor as { dtype?: unknown; shape?: unknown };
      if (typeof dtype !== "string" || !Array.isArray(shape)) throw invalid();
      return [name, dtype, `[${shape.join(", ")}]`];
    }),
    ...Object.entries(metadata as object).map(([name, value]) => [name, "JSON", String(value)]),
  ].map((row) => row.map(printable));
}

function headerOf(bytes: Buffer): Record<string, unknown> {
  const length =
    bytes.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : Number(bytes.readBigUInt64LE());
  if (length > bytes.length - LENGTH_BYTES) throw invalid();
  try {
    const header: unknown = JSON.parse(
      bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length).toString("utf8"),
    );
    if (isObject(header) && Object.values(header).every(isObject)) return header;
  } catch {
    // Said below.
  }
  throw invalid();
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function invalid(): CliError {
  return new CliError(
    "reply_invalid",
    "the answer is no safetensors file",
    "Look at it without --tensors.",
  );
}
