/** An object of the project's bucket into a file. A second try goes on where the first stopped, as long as the object is the same. */
import {
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { pipeline } from "node:stream/promises";
import { sendJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { Progress } from "./progress.ts";
import { counted, getFrom } from "./send-bytes.ts";

export type Got = { file: string; sizeBytes: number; resumedBytes: number };

/** @throws CliError */
export async function getFile(settings: Settings, key: string, file: string): Promise<Got> {
  if (existsSync(file))
    throw new CliError(
      "file_exists",
      `${file} is there already`,
      "Name another file, or remove it.",
    );
  const { url, versionId, sizeBytes } = await sendJson(
    settings,
    "POST",
    "/api/users/storage/download",
    { body: { key } },
  );
  const [part, of] = [`${file}.part`, `${file}.part.version`];
  const resumedBytes = keptBytes(part, of, versionId, sizeBytes);
  if (resumedBytes === 0) writeFileSync(of, versionId);
  const progress = new Progress(key, sizeBytes, resumedBytes);
  if (resumedBytes < sizeBytes || sizeBytes === 0)
    await pipeline(
      await getFrom(url, settings.ca, resumedBytes),
      counted((bytes) => progress.add(bytes)),
      createWriteStream(part, { flags: resumedBytes === 0 ? "w" : "a" }),
    );
  progress.end();
  if (statSync(part).size !== sizeBytes)
    throw new CliError(
      "download_cut",
      `${key} came with ${statSync(part).size} of ${sizeBytes} bytes`,
      "Send the same command again: it goes on where it stopped.",
    );
  renameSync(part, file);
  rmSync(of, { force: true });
  return { file, sizeBytes, resumedBytes };
}

/** Bytes of an earlier try that are the beginning of this very version. */
function keptBytes(part: string, of: string, versionId: string, sizeBytes: number): number {
  const size = statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > sizeBytes || !existsSync(of)) return 0;
  return readFileSync(of, "utf8") === versionId ? size : 0;
}
