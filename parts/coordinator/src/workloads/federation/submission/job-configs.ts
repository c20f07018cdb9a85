/**
 * The three configs of a job. What NVFlare accepts is accepted; refused is what NVFlare itself would refuse at the start, hours
 * later and in words of its own.
 */
import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import { ApiError } from "../../../api-error.ts";

export const CONFIG_FILES = [
  "config_fed_client.json",
  "config_fed_server.json",
  "meta.json",
] as const;
export type ConfigFile = (typeof CONFIG_FILES)[number];

export const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;

type JsonObject = { [name: string]: unknown };

/** What the platform shows and plans with; the files themselves go to NVFlare untouched. */
export type JobFacts = {
  /** Null when no workflow names its rounds. */
  numRounds: number | null;
  minClients: number;
  /** Dotted class paths with the file that names them. */
  classes: { file: ConfigFile; path: string }[];
  warnings: string[];
  /** config_fed_server.json as it was read. */
  server: { [name: string]: unknown };
};

/** @throws ApiError config_* or meta_invalid or min_clients_exceeds_shards */
export function readJobConfigs(texts: Record<ConfigFile, string>, shardCount: number): JobFacts {
  const client = parseConfig("config_fed_client.json", texts["config_fed_client.json"]);
  const server = parseConfig("config_fed_server.json", texts["config_fed_server.json"]);
  const meta = parseConfig("meta.json", texts["meta.json"]);
  requireList("config_fed_client.json", client, "executors", "config_executors_missing");
  const workflows = requireList(
    "config_fed_server.json",
    server,
    "workflows",
    "config_workflows_missing",
  );
  const metaMinClients = readMeta(meta, shardCount);
  const args = workflows.map((workflow) => asObject(asObject(workflow)["args"]));
  for (const [at, workflow] of workflows.entries()) checkCounts(at, asObject(workflow));
  const workflowMinClients =
    args.map((arg) => positiveInteger(arg["min_clients"])).find((value) => value !== null) ?? null;
  const warnings: string[] = [];
  if (workflowMinClients !== null && workflowMinClients > shardCount) {
    warnings.push(
      `config_fed_server.json waits for ${workflowMinClients} clients, but the job has ${shardCount}: its rounds may never end.`,
    );
  }
  return {
    numRounds:
      args.map((arg) => positiveInteger(arg["num_rounds"])).find((value) => value !== null) ?? null,
    minClients: Math.min(metaMinClients ?? workflowMinClients ?? shardCount, shardCount),
    classes: [
      ...classPaths(client).map((path) => ({ file: "config_fed_client.json" as const, path })),
      ...classPaths(server).map((path) => ({ file: "config_fed_server.json" as const, path })),
    ],
    warnings,
    server,
  };
}

/** NVFlare takes some of these, runs no round, waits for nobody or ends at its first second. A workflow of the user's own may read text. */
function checkCounts(at: number, { path, args }: JsonObject): void {
  const isNvflares = typeof path === "string" && path.startsWith("nvflare.");
  for (const name of ["num_rounds", "min_clients"]) {
    const value = asObject(args)[name];
    if (value === undefined || (typeof value !== "number" && !isNvflares)) continue;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) continue;
    const shown = JSON.stringify(value)?.slice(0, 40);
    const place = `config_fed_server.json: workflows[${at}].args.${name}`;
    throw new ApiError(
      "config_value_invalid",
      `${place} is ${shown}, not a whole number of at least 1`,
    );
  }
}

function readMeta(meta: JsonObject, shardCount: number): number | null {
  const {
    name,
    resource_spec: resourceSpec,
    deploy_map: deployMap,
    min_clients: minClients,
  } = meta;
  const invalid = (what: string) => new ApiError("meta_invalid", `meta.json: ${what}`);
  if (name !== undefined && (typeof name !== "string" || name === ""))
    throw invalid("`name` is not a text");
  if (resourceSpec !== undefined && !isObject(resourceSpec))
    throw invalid("`resource_spec` is not an object");
  if (!isObject(deployMap) || !("app" in deployMap))
    throw invalid("`deploy_map` does not deploy `app`");
  if (!Array.isArray(deployMap["app"]) || deployMap["app"].length === 0)
    throw invalid("`deploy_map.app` names no site");
  if (minClients === undefined || minClients === null) return null;
  const value = positiveInteger(minClients);
  if (value === null) throw invalid("`min_clients` is not a whole number of at least 1");
  if (value > shardCount) {
    throw new ApiError(
      "min_clients_exceeds_shards",
      `meta.json asks for ${value} clients, the job has ${shardCount} shards`,
    );
  }
  return value;
}

function parseConfig(file: ConfigFile, text: string): JsonObject {
  // Python's `json`, which NVFlare reads with, refuses it.
  if (text.startsWith("\ufeff"))
    throw new ApiError(
      "config_invalid_json",
      `${file}: not JSON at line 1, column 1: it begins with a byte order mark`,
    );
  if (depthOf(text) > MAX_DEPTH)
    throw new ApiError("config_too_deep", `${file} nests more than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(withoutPythonNumbers(text));
  } catch (error) {
    throw new ApiError("config_invalid_json", `${file}: ${jsonFault(error)}`);
  }
  if (!isObject(value)) throw new ApiError("config_not_object", `${file} does not hold an object`);
  return value;
}

/** NVFlare reads with Python's `json`, which takes NaN and Infinity. */
function withoutPythonNumbers(text: string): string {
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|-?\b(?:NaN|Infinity)\b/g,
    (_, quoted?: string) => quoted ?? "null",
  );
}

/** Measures how deep a text nests, before parsing: a parser must not be the one to find out. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isInString) {
      if (char === "\\") at++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth--;
  }
  return deepest;
}

/** Says where the parser stopped, without what it read there. */
function jsonFault(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const place = /position (\d+)(?: \(line (\d+) column (\d+)\))?/.exec(message);
  if (place?.[2] !== undefined) return `not JSON at line ${place[2]}, column ${place[3]}`;
  return place === null
    ? "not JSON: it ends too early or starts wrongly"
    : `not JSON at position ${place[1]}`;
}

function requireList(
  file: ConfigFile,
  config: JsonObject,
  field: string,
  code: ErrorCode,
): unknown[] {
  const list = config[field];
  if (!Array.isArray(list) || list.length === 0)
    throw new ApiError(code, `${file} has no ${field}`);
  return list;
}

/** Every `path` beside `args` or `id`, wherever NVFlare would build an object. */
function classPaths(config: JsonObject): string[] {
  const found = new Set<string>();
  const queue: unknown[] = [config];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (Array.isArray(node))
      queue.push(...node.filter((item) => item !== undefined && item !== null));
    else if (isObject(node)) {
      const { path, args } = node;
      if (
        typeof path === "string" &&
        isObject(args) &&
        /^[A-Za-z_][\w.]*\.[A-Za-z_]\w*$/.test(path)
      )
        found.add(path);
      queue.push(...Object.values(node).filter((item) => item !== undefined && item !== null));
    }
  }
  return [...found].sort();
}

function positiveInteger(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 1 ? number : null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
