/** `resontech infer`: predictors that answer calls. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import {
  type DeployedReply,
  type DeploymentReply,
  INFERENCE_PATH,
} from "@resontech/contracts/http-inference";
import { isTerminal } from "@resontech/contracts/job-states";
import { DEPLOYMENT_WORDS } from "@resontech/contracts/state-words";
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Command } from "commander";
import { age } from "../age.ts";
import { getJson, sendJson } from "../api-client.ts";
import { askedStates, STATE_HELP } from "../asked-states.ts";
import { projectFilter, projectIdOf, projectOption, settingsInProject } from "../chosen-project.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { printLogs } from "../jobs/follow-logs.ts";
import { printable, printableLog } from "../printable.ts";
import { applianceFrom, type Settings, settingsFrom } from "../settings.ts";
import { toldWithUnits } from "../size.ts";
import { filesIn, keyOf } from "../storage/commands.ts";
import { putFile } from "../storage/put-file.ts";
import { callPredict } from "./call-predict.ts";
import { addFigureCommands } from "./figure-commands.ts";
import { predictKeyFrom, writeKeyFile } from "./key-file.ts";
import { readDeployments } from "./read-deployments.ts";
import {
  requireNew,
  TENSORS_HEAD,
  TENSORS_TYPE,
  tensorRows,
  writeTensors,
} from "./tensors-file.ts";
import {
  bodyOfPredictor,
  type DeploymentSpec,
  folderOfPredictor,
  isDeployable,
  isOfPredictor,
} from "./ready-predictor.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
  /** @param count as it was written @throws InvalidArgumentError */
  countOf: (count: string) => number;
};
type DeployOptions = {
  project?: string;
  name?: string;
  gpuModels?: string;
  maxPrice?: number;
  memory?: number;
  keyFile?: string;
  replace?: string;
  callbackUrl?: string;
  pool?: string;
  wait: boolean;
  json: boolean;
};

const HEAD = ["DEPLOYMENT", "NAME", "STATE", "READY", "AGE", "WHY"];
const HEAD_WIDE = ["OWNER", "VISIBILITY", "ENDPOINT"];
/** A folder with large weights is looked through before the answer. */
const DEPLOYED_MS = 5 * 60_000;

export function addInferCommands(program: Command, { say, table, countOf }: Shell): void {
  const settings = () => settingsFrom(process.env);
  const out = (text: string) => process.stdout.write(text);
  const infer = program
    .command("infer")
    .description("deployments of predictors: deploy, ls, top, usage, logs, call, rotate-key, rm")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech infer deploy echo/ --gpu-models cpu --key-file echo.key --wait\n  resontech infer call job-7f3a photo.png --key-file echo.key\n  resontech infer rotate-key job-7f3a --key-file echo.key\n  resontech infer rm job-7f3a",
    );

  infer
    .command("deploy <folder>")
    .description("deploy a folder: inference.yaml, and where it needs them scripts/ and model/")
    .option("--name <name>", "what it is called; the folder's name where none is given")
    .option(
      "--gpu-models <ids>",
      "catalogue ids in order of preference, with commas: cpu, rtx_5090",
    )
    .option("--max-price <cents>", "at most so much for an hour of a device", countOf)
    .option("--memory <MiB>", "what the replica needs of its device", countOf)
    .option("--key-file <file>", "write the key to call it there, for your eyes alone")
    .option(
      "--replace <deployment>",
      "take over its address and key once this one is ready; calls go on meanwhile",
    )
    .option("--pool <pool>", "replicas start on nodes of this pool alone, by its name or id")
    .option("--callback-url <url>", "post each answer there as well; the operator allows its host")
    .addOption(projectOption())
    .option("--wait", "until it answers; exit code 3 when it never does", false)
    .option("--json", "the appliance's answer, the key in it", false)
    .addHelpText(
      "after",
      "\nThe key is shown this once.\n\nExamples:\n  resontech infer deploy echo/ --gpu-models cpu --key-file echo.key --wait\n  resontech infer deploy echo/ --gpu-models cpu --replace job-7f3a --wait",
    )
    .action(async (folder: string, options: DeployOptions) => {
      const { keyFile, json } = options;
      const name = options.name ?? basename(resolve(folder));
      const inProject = await settingsInProject(process.env, options.project);
      const deploy = () => deployFolder(inProject, folder, name, wishesOf(options));
      if (options.replace !== undefined) {
        if (keyFile !== undefined)
          throw new UsageError(
            "options_conflict",
            "one that replaces another has the key of the one before",
            "Leave --key-file out. `resontech infer rotate-key` makes a new key.",
          );
        const made = await deploy();
        if (json) out(`${JSON.stringify(made)}\n`);
        else out(`${made.jobId}\n`);
        for (const warning of made.warnings) say(`warning: ${warning}`);
        say(`deployed ${name}: it takes the place of ${options.replace} once it is ready`);
        if (options.wait) await sayWhenReady(made.jobId);
        return;
      }
      const made =
        keyFile === undefined
          ? withKey(await deploy())
          : await writeKeyFile(keyFile, { isReplaced: false }, async () => withKey(await deploy()));
      if (json) out(`${JSON.stringify(keyFile === undefined ? made : withoutKey(made))}\n`);
      else if (keyFile === undefined)
        out(
          `deployment  ${made.jobId}\nendpoint    ${made.endpoint}\nkey         ${made.apiKey}\n`,
        );
      else out(`${made.jobId}\n`);
      for (const warning of made.warnings) say(`warning: ${warning}`);
      say(
        keyFile === undefined
          ? `deployed ${name}: keep the key, which is shown this once`
          : `deployed ${name}: its key is in ${keyFile}`,
      );
      if (options.wait) await sayWhenReady(made.jobId);
    });

  async function sayWhenReady(id: string): Promise<void> {
    const last = await waitUntilReady(() => find(settings(), id), say);
    if (last === "RUNNING") return say("it answers");
    process.exitCode = EXIT.notAsWanted;
    say(`it is ${DEPLOYMENT_WORDS[last]}: resontech infer logs ${id} may say why`);
  }

  infer
    .command("ls")
    .description("deployments that you may read, newest first")
    .option("--state <states>", STATE_HELP, askedStates)
    .addOption(projectFilter())
    .option("--text <text>", "part of a name, or of an id")
    .option("--limit <n>", "rows in all", countOf, 100)
    .option("--wide", "also who deployed it, how visible it is, and where it is called", false)
    .option("--json", "one JSON line for each deployment", false)
    .addHelpText(
      "after",
      "\nExamples:\n  resontech infer ls --state running,waiting\n  resontech infer ls --wide",
    )
    .action(
      async ({
        limit,
        json,
        wide,
        project: named,
        ...filter
      }: {
        state?: string;
        project?: string;
        text?: string;
        limit: number;
        wide: boolean;
        json: boolean;
      }) => {
        const { deployments, areMore } = await readDeployments(
          settings(),
          { ...filter, project: await projectIdOf(settings(), named) },
          limit,
        );
        const now = Date.now();
        if (json) for (const one of deployments) out(`${JSON.stringify(one)}\n`);
        else if (deployments.length > 0)
          table(
            wide ? [...HEAD, ...HEAD_WIDE] : HEAD,
            deployments.map((one) => [
              ...[
                one.id,
                one.name,
                DEPLOYMENT_WORDS[one.state],
                String(one.ready),
                age(one.createdAt, now),
              ],
              toldWithUnits(one.waitingFor ?? one.reason ?? ""),
              ...(wide ? [one.owner, one.visibility, one.endpoint] : []),
            ]),
          );
        if (deployments.length === 0) say("no deployment matches");
        if (areMore) say("there are more: the same command with a larger --limit");
      },
    );

  addFigureCommands(infer, { say, table });

  infer
    .command("logs <deployment>")
    .description(
      "what its replicas printed, earlier ones too, and why each ended; each reading is logged",
    )
    .option("-f, --follow", "go on until it ends", false)
    .option("--tail <bytes>", "begin so many bytes before the stored end", countOf)
    .addHelpText("after", "\nExample:\n  resontech infer logs -f job-7f3a")
    .action(async (id: string, { follow, tail }: { follow: boolean; tail?: number }) => {
      const isOver = async () => isTerminal((await find(settings(), id)).detail.state);
      // One that is no deployment is said to be none, whatever it has printed.
      await isOver();
      await printLogs(
        ...([
          settings(),
          id,
          { of: null, areReplicas: true, tailBytes: tail ?? null, isFollowed: follow, isOver },
        ] as const),
        (_member, text) => void out(printableLog(text)),
        say,
      );
    });

  infer
    .command("call <deployment> <file>")
    .description(
      "send a file to the predictor and print what it answers; the key is in RESON_INFERENCE_API_KEY or in a file",
    )
    .option("--key-file <file>", "where the key lies")
    .option("--content-type <type>", "what the file is", "application/octet-stream")
    .option(
      "--tensors <file>",
      "write the arrays of the answer there as they are, in safetensors, and print what they are",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  resontech infer call job-7f3a photo.png --key-file echo.key --content-type image/png\n  resontech infer call job-7f3a photo.png --key-file echo.key --tensors scores.safetensors\n  RESON_INFERENCE_API_KEY=$(cat echo.key) resontech infer call job-7f3a words.txt",
    )
    .action(
      async (
        id: string,
        file: string,
        {
          keyFile,
          contentType,
          tensors,
        }: { keyFile?: string; contentType: string; tensors?: string },
      ) => {
        const { baseUrl, ca } = applianceFrom(process.env);
        const url = new URL(`${INFERENCE_PATH}/${encodeURIComponent(id)}/predict`, baseUrl);
        const key = predictKeyFrom(process.env, keyFile ?? null);
        const call = { url, key, ca, file, contentType };
        if (tensors !== undefined) {
          requireNew(tensors);
          const body = await callPredict({ ...call, accept: TENSORS_TYPE });
          const rows = tensorRows(body);
          writeTensors(tensors, body);
          return table(TENSORS_HEAD, rows);
        }
        const body = await callPredict({ ...call, accept: "application/json" });
        const text = body.toString("utf8");
        // A pipe gets the answer as it came.
        const shown = process.stdout.isTTY ? printable(text) : text;
        out(shown.endsWith("\n") ? shown : `${shown}\n`);
      },
    );

  infer
    .command("rotate-key <deployment>")
    .description("a new key to call it; the one before it is refused from now on")
    .option("--key-file <file>", "write the key there, in place of the one before it")
    .option("--json", "the appliance's answer, the key in it", false)
    .addHelpText("after", "\nExample:\n  resontech infer rotate-key job-7f3a --key-file echo.key")
    .action(async (id: string, { keyFile, json }: { keyFile?: string; json: boolean }) => {
      const rotate = async () =>
        await sendJson(settings(), "POST", "/api/inference/jobs/{id}/rotate-key", {
          params: { id },
        });
      const made =
        keyFile === undefined
          ? await rotate()
          : await writeKeyFile(keyFile, { isReplaced: true }, rotate);
      if (json) out(`${JSON.stringify(keyFile === undefined ? made : withoutKey(made))}\n`);
      else if (keyFile === undefined) out(`${made.apiKey}\n`);
      say(
        keyFile === undefined
          ? "keep the key, which is shown this once; the one before it is void"
          : `the new key is in ${keyFile}; the one before it is void`,
      );
    });

  infer
    .command("rm <deployment>")
    .description("ask a deployment to stop; its files and logs stay")
    .option("--json", "the appliance's answer", false)
    .addHelpText("after", "\nExample:\n  resontech infer rm job-7f3a")
    .action(async (id: string, { json }: { json: boolean }) => {
      const params = { id };
      const stopping = await sendJson(settings(), "DELETE", "/api/inference/jobs/{id}", { params });
      if (json) out(`${JSON.stringify(stopping)}\n`);
      say(`${id} was asked to stop: resontech infer ls tells when it has`);
    });
}

/** @throws CliError path_missing, folder_invalid, and what the appliance refuses */
async function deployFolder(
  settings: Settings,
  folder: string,
  name: string,
  wishes: DeploymentSpec,
): Promise<DeployedReply> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CliError("path_missing", `${folder} is no folder`, "Name a predictor's folder.");
  const files = filesIn(folder).filter((file) => isOfPredictor(keyOf(folder, file)));
  // What can't be deployed is said before anything is sent.
  if (!isDeployable(files.map((file) => keyOf(folder, file))))
    throw new CliError(
      "folder_invalid",
      "the folder has no inference.yaml",
      "Beside it a predictor has scripts/, and an engine's model model/ or a path of the bucket or the hub.",
    );
  const version = wishes.replaces === undefined ? null : randomBytes(4).toString("hex");
  const target = folderOfPredictor(name, version);
  for (const file of files) await putFile(settings, file, `${target}/${keyOf(folder, file)}`);
  return await sendJson(settings, "POST", "/api/inference/jobs", {
    body: bodyOfPredictor(name, target, wishes),
    timeoutMs: DEPLOYED_MS,
  });
}

/** @throws CliError no_key where the appliance gave none, as it does for one that replaces another */
function withKey({ apiKey, ...made }: DeployedReply): DeployedReply & { apiKey: string } {
  if (apiKey === null)
    throw new CliError(
      "no_key",
      `${made.jobId} was deployed without a key`,
      "`resontech infer rotate-key` makes one.",
    );
  return { ...made, apiKey };
}

function wishesOf({
  gpuModels,
  maxPrice,
  memory,
  replace,
  callbackUrl,
  pool,
}: DeployOptions): DeploymentSpec {
  return {
    gpuModels: gpuModels?.split(","),
    maxPriceCents: maxPrice,
    memoryMb: memory,
    replaces: replace,
    callbackUrl,
    pool,
  };
}

async function find(settings: Settings, id: string): Promise<DeploymentReply> {
  return await getJson(settings, "/api/inference/jobs/{id}", { params: { id } });
}

/** Leaves the key out, for a script that has it in a file: the script's own output is kept in many places. */
function withoutKey<T extends { apiKey: string }>({ apiKey: _key, ...rest }: T): Omit<T, "apiKey"> {
  return rest;
}
