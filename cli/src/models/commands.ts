/** `resontech models`: what the appliance's hub has, and how a model comes in or goes. */
import { DEFAULT_REVISION } from "@resontech/contracts/http-models";
import type { Command } from "commander";
import { age } from "../age.ts";
import { getJson, sendJson } from "../api-client.ts";
import { projectOption, settingsInProject } from "../chosen-project.ts";
import { CliError } from "../cli-error.ts";
import { printable } from "../printable.ts";
import { settingsFrom } from "../settings.ts";
import { size } from "../size.ts";
import { paramsOfModel } from "./model-params.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};
type AddOptions = {
  from: string;
  licence: string;
  project?: string;
  wait: boolean;
  json: boolean;
};

const MODEL = "/api/hub/models/{organisation}/{model}/{revision}";
const LOOK_MS = 1_000;

export function addModelCommands(program: Command, { say, table }: Shell): void {
  const settings = () => settingsFrom(process.env);
  const out = (text: string) => process.stdout.write(text);
  const models = program
    .command("models")
    .description("models of the appliance's hub: add, ls, show, rm")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech models add lab/mini@v1 --from /models/mini --licence Apache-2.0 --wait\n  resontech models show lab/mini@v1\n  resontech models rm lab/mini@v1",
    );

  models
    .command("add <model>")
    .description("add a folder or a file of the bucket, as NAME/NAME or NAME/NAME@REVISION")
    .requiredOption("--from <path>", "where it lies in the bucket, with a leading slash")
    .requiredOption("--licence <text>", "as SPDX has it, or in the words of who made the model")
    .addOption(projectOption())
    .option("--wait", "until its digests are known and it can be used", false)
    .option("--json", "as the appliance says it", false)
    .action(async (model: string, options: AddOptions) => {
      const { from: path, licence, wait, json } = options;
      const inProject = await settingsInProject(process.env, options.project);
      const [name = "", revision = DEFAULT_REVISION] = model.split("@");
      const body = { name, revision, licence, path };
      let added = await sendJson(inProject, "POST", "/api/hub/models", { body });
      while (added.state === "CHECKING") {
        if (!wait) break;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        added = await getJson(settings(), MODEL, { params: paramsOfModel(model) });
      }
      if (added.state === "FAILED")
        throw new CliError(
          "model_failed",
          `${model}: ${added.why ?? "it can't be read"}`,
          "Take it out with `resontech models rm`, upload its files again, and add it.",
        );
      if (json) return void out(`${JSON.stringify(added)}\n`);
      say(`${added.name}@${added.revision} has ${added.files} files and is ${added.state}`);
    });

  models
    .command("ls", { isDefault: true })
    .description("models that everybody here may use")
    .option("--json", "one JSON line for each model", false)
    .action(async ({ json }: { json: boolean }) => {
      const { models: found } = await getJson(settings(), "/api/hub/models");
      if (json) for (const model of found) out(`${JSON.stringify(model)}\n`);
      else if (found.length > 0)
        table(
          ["MODEL", "STATE", "LICENCE", "FILES", "SIZE", "AGE"],
          found.map((model) => [
            ...[`${model.name}@${model.revision}`, model.state, printable(model.licence)],
            ...[String(model.files), size(model.sizeBytes), age(model.createdAt, Date.now())],
          ]),
        );
      if (found.length === 0) say("the hub has no model; `resontech models add` brings one in");
    });

  models
    .command("show <model>")
    .description("one model with its files and their digests")
    .option("--json", "as the appliance says it", false)
    .action(async (model: string, { json }: { json: boolean }) => {
      const found = await getJson(settings(), MODEL, { params: paramsOfModel(model) });
      if (json) return void out(`${JSON.stringify(found)}\n`);
      say(`${found.name}@${found.revision} is ${found.state}, commit ${found.commit ?? "-"}`);
      table(
        ["FILE", "SIZE", "SHA-256"],
        found.content.map((file) => [
          ...[printable(file.path), size(file.sizeBytes), file.sha256 ?? "-"],
        ]),
      );
    });

  models
    .command("rm <model>")
    .description("take it out of the hub; its files stay in the bucket, deployments go on")
    .action(async (model: string) => {
      await sendJson(settings(), "DELETE", MODEL, { params: paramsOfModel(model) });
      say(`${model} is no longer in the hub`);
    });
}
