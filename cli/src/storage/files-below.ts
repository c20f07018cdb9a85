/** A folder of the project's bucket, page by page and at any depth. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ObjectsReply } from "@resontech/contracts/http-storage";
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const PAGE = 1_000;

/** @param prefix empty, or with a slash at its end @throws CliError */
export async function* pagesOf(settings: Settings, prefix: string): AsyncGenerator<ObjectsReply> {
  let after: string | undefined;
  do {
    const query = { prefix, after, limit: PAGE };
    const page: ObjectsReply = await getJson(settings, "/api/users/storage/objects", { query });
    yield page;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/**
 * Each object below a folder and the file that it goes to; the folders of that are made.
 * @throws CliError also where a key would lead out of the target, or nothing lies there
 */
export async function* filesBelow(
  settings: Settings,
  folder: string,
  target: string,
): AsyncGenerator<readonly [key: string, file: string]> {
  let found = 0;
  const waiting = [folder];
  for (let prefix; (prefix = waiting.shift()) !== undefined; )
    for await (const { folders, objects } of pagesOf(settings, prefix)) {
      waiting.push(...folders);
      for (const { key } of objects) {
        // A folder that somebody made as an object of its own.
        if (key.endsWith("/")) continue;
        found++;
        const file = join(target, pathBelow(key, folder));
        mkdirSync(dirname(file), { recursive: true });
        yield [key, file];
      }
    }
  if (found === 0)
    throw new CliError(
      "folder_empty",
      `nothing lies below ${folder}`,
      "`resontech storage ls` shows what there is.",
    );
}

/** @throws CliError for a key that as a path would lead elsewhere */
export function pathBelow(key: string, folder: string): string {
  const path = key.slice(folder.length);
  if (
    path.split("/").some((part) => part === "" || part === "." || part === "..") ||
    path.includes("\\") ||
    path.includes("\0")
  )
    throw new CliError(
      "key_unsafe",
      `${key} is no path below a folder`,
      "Fetch it by its own name, into a file that you name.",
    );
  return path;
}
