/** Extended attributes by the release's `rt-xattr`: the object store keeps what it knows of an object in them, and Node has no call for them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { BackupError } from "../backup-error.ts";
import { textLines } from "./text-lines.ts";

export type Attributes = Readonly<Record<string, string>>;

/**
 * Of each path, in their order.
 * @param program `rt-xattr`
 * @throws BackupError `backup_source_changes` where a file went away meanwhile
 */
export async function readAttributes(
  program: string,
  paths: readonly string[],
): Promise<Attributes[]> {
  if (paths.length === 0) return [];
  const found: Attributes[] = [];
  await withProgram(
    program,
    "get",
    paths.map((path) => `${path}\0`),
    async (output) => {
      for await (const line of textLines(output))
        found.push((JSON.parse(line) as { attributes: Attributes }).attributes);
    },
  );
  if (found.length === paths.length) return found;
  throw new BackupError("backup_source_changes", "attributes of some files could not be read");
}

export async function writeAttributes(
  program: string,
  files: readonly { path: string; attributes: Attributes }[],
): Promise<void> {
  const lines = files.map(({ path, attributes }) => `${JSON.stringify({ path, attributes })}\n`);
  if (lines.length > 0) await withProgram(program, "set", lines, async () => {});
}

async function withProgram(
  program: string,
  verb: string,
  input: readonly string[],
  read: (output: Readable) => Promise<void>,
): Promise<void> {
  const child = spawn(program, [verb], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  // A program that ends early closes its input: what it said tells why.
  const given = pipeline(Readable.from(input), child.stdin).catch(() => {});
  await read(child.stdout);
  await given;
  const [code] = await closed;
  if (code !== 0)
    throw new BackupError("backup_source_changes", `extended attributes: ${said.trim()}`);
}
