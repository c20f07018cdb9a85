/** `resontech storage`: the project's bucket. */
import { readdirSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import type { Command } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { projectOption, settingsInProject } from "../chosen-project.ts";
import { size } from "../size.ts";
import { filesBelow, pagesOf } from "./files-below.ts";
import { getFile } from "./get-file.ts";
import { putFile } from "./put-file.ts";

type Shell = { say: (text: string) => void; table: (head: string[], rows: string[][]) => void };

export function addStorageCommands(program: Command, { say, table }: Shell): void {
  type InProject = { project?: string; json: boolean };
  const settingsOf = ({ project }: InProject) => settingsInProject(process.env, project);
  const storage = program
    .command("storage")
    .description("a project's bucket: ls, put, get, rm, versions, restore, usage")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech storage ls jobs/\n  resontech storage put data.zip jobs/study/shards/a.zip\n  resontech storage get jobs/study/model_out/model.pt\n  resontech storage get jobs/study/files_out/ results\n  resontech storage ls jobs/ --project study",
    );

  storage
    .command("ls [prefix]")
    .description("one folder: its objects, and the folders below; each listing is logged")
    .addOption(projectOption())
    .option("--json", "one JSON line for each", false)
    .action(async (folder: string | undefined, options: InProject) => {
      const { json } = options;
      const settings = await settingsOf(options);
      const prefix = folder === undefined || folder === "" ? "" : folder.replace(/\/*$/, "/");
      const rows: [key: string, size: string, at: string][] = [];
      for await (const page of pagesOf(settings, prefix)) {
        for (const key of page.folders)
          if (json) process.stdout.write(`${JSON.stringify({ folder: key })}\n`);
          else rows.push([key, "", ""]);
        for (const object of page.objects)
          if (json) process.stdout.write(`${JSON.stringify(object)}\n`);
          else rows.push([object.key, size(object.sizeBytes), object.modifiedAt]);
      }
      if (rows.length > 0) table(["KEY", "SIZE", "CHANGED"], rows);
      else if (!json) say("nothing lies there");
    });

  storage
    .command("put <file> [key]")
    .description(
      "a file, or a folder with all that is in it; an upload that was cut goes on where it stopped",
    )
    .addOption(projectOption())
    .option("--json", "one JSON line for each file", false)
    .action(async (file: string, key: string | undefined, options: InProject) => {
      const { json } = options;
      const settings = await settingsOf(options);
      const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
      const target = key ?? basename(file);
      const files = isFolder ? filesIn(file) : [file];
      for (const one of files) {
        const below = isFolder ? `${target.replace(/\/*$/, "")}/${keyOf(file, one)}` : target;
        const { versionId: _, ...put } = await putFile(settings, one, below);
        if (json) process.stdout.write(`${JSON.stringify(put)}\n`);
        const { sizeBytes, resumedBytes, isAnew } = put;
        if (isAnew) say(`${below}: what was sent before could not be used; all was sent anew`);
        say(
          `${below}: ${size(sizeBytes)}${resumedBytes === 0 ? "" : `, ${size(resumedBytes)} of them sent before`}`,
        );
      }
    });

  storage
    .command("get <key> [file]")
    .description(
      "an object into a file, or a folder, named with / at its end, with all that is below; a download that was cut goes on where it stopped",
    )
    .addOption(projectOption())
    .option("--json", "one JSON line for each file", false)
    .action(async (key: string, file: string | undefined, options: InProject) => {
      const { json } = options;
      const settings = await settingsOf(options);
      const target = file ?? basename(key);
      for await (const [from, to] of key.endsWith("/")
        ? filesBelow(settings, key, target)
        : [[key, target] as const]) {
        const got = await getFile(settings, from, to);
        if (json) process.stdout.write(`${JSON.stringify(got)}\n`);
        const before =
          got.resumedBytes === 0 ? "" : `, ${size(got.resumedBytes)} of them had before`;
        say(`${got.file}: ${size(got.sizeBytes)}${before}`);
      }
    });

  storage
    .command("rm <key>")
    .description("remove an object; its versions stay until the appliance collects them")
    .addOption(projectOption())
    .option("--json", "the appliance's answer", false)
    .action(async (key: string, options: InProject) => {
      const { json } = options;
      const path = "/api/users/storage/objects";
      const settings = await settingsOf(options);
      const removed = await sendJson(settings, "DELETE", path, { query: { key } });
      if (json) process.stdout.write(`${JSON.stringify(removed)}\n`);
      say(`removed ${key}`);
    });

  storage
    .command("versions <key>")
    .description("what an object was, newest first; that you looked is logged")
    .addOption(projectOption())
    .option("--json", "one JSON line for each", false)
    .action(async (key: string, options: InProject) => {
      const settings = await settingsOf(options);
      const path = "/api/users/storage/versions";
      const versions = await getJson(settings, path, { query: { key } });
      if (options.json)
        for (const one of versions) process.stdout.write(`${JSON.stringify(one)}\n`);
      else
        table(
          ["VERSION", "WHAT", "SIZE", "MADE"],
          versions.map(({ versionId, isLatest, isRemoval, sizeBytes, modifiedAt }) => [
            versionId,
            isRemoval ? "removed then" : isLatest ? "the newest" : "older",
            isRemoval ? "" : size(sizeBytes),
            modifiedAt,
          ]),
        );
    });

  storage
    .command("restore <key> <version>")
    .description("make an older version the newest again; all versions stay")
    .addOption(projectOption())
    .option("--json", "the appliance's answer", false)
    .action(async (key: string, versionId: string, options: InProject) => {
      const settings = await settingsOf(options);
      const path = "/api/users/storage/restore";
      const restored = await sendJson(settings, "POST", path, { body: { key, versionId } });
      if (options.json) process.stdout.write(`${JSON.stringify(restored)}\n`);
      say(`restored ${key}: ${size(restored.sizeBytes)}`);
    });

  storage
    .command("usage")
    .description("what the bucket holds, and its quota")
    .addOption(projectOption())
    .option("--json", "as the appliance says it", false)
    .action(async (options: InProject) => {
      const { json } = options;
      const usage = await getJson(await settingsOf(options), "/api/users/storage/usage");
      if (json) return void process.stdout.write(`${JSON.stringify(usage)}\n`);
      const { usedBytes, quotaBytes, objects } = usage;
      process.stdout.write(`${size(usedBytes)} of ${size(quotaBytes)}, ${objects} objects\n`);
    });
}

/** Files of a folder at any depth, in order. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

export function keyOf(folder: string, file: string): string {
  return relative(folder, file).replaceAll(sep, "/");
}
