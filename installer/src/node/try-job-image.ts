/** A container of a job image on this host, which prints: engine, registry, storage and control groups work together. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { podmanEnvironment } from "@resontech/appliance/podman-environment";
import { toolsEnvironment } from "@resontech/appliance/tools-environment";
import { Layout } from "@resontech/appliance/layout";
import type { TrialPull } from "@resontech/contracts/agent-protocol";
import type { NodeConfig } from "@resontech/contracts/node-config";

const PULL_MS = 900_000;
const RUN_MS = 60_000;
const PRINTS = "ready for jobs";

/**
 * Pulls the image unless the engine has it. Of all that a job is denied a trial needs nothing: it has no network and no capability.
 *
 * @returns why it did not print; null when it did, undefined when the image is not here and nothing is left to pull it with
 */
export function tryJobImage(
  root: string,
  config: NodeConfig,
  trial: TrialPull,
): string | null | undefined {
  const { image } = trial;
  const engine = new Engine(root, config);
  const isMissing = engine.run(["image", "inspect", image], RUN_MS) !== null;
  if (isMissing && trial.password === "") return undefined;
  const pulled = isMissing ? engine.pull(trial) : null;
  if (pulled !== null) return `its image can't be pulled: ${pulled}`;
  const limits = ["--network=none", "--read-only", "--cap-drop=all", "--pids-limit=64"];
  const user = `--user=${config.jobUids.from}:${config.jobUids.from}`;
  const script = ["--entrypoint=python3", image, "-c", `print(${JSON.stringify(PRINTS)})`];
  const run = ["run", "--rm", "--memory=256m", user, ...limits, ...script];
  const failed = engine.run(run, RUN_MS, PRINTS);
  return failed === null ? null : `its container failed: ${failed}`;
}

class Engine {
  readonly #program: string;
  readonly #env: Record<string, string>;
  readonly #folder: string;

  constructor(root: string, config: NodeConfig) {
    const { containerEngine, instance } = config;
    const layout = new Layout(root, instance);
    const tools = toolsEnvironment(config, layout.current);
    this.#program = containerEngine.kind;
    this.#folder = join(root, "data");
    this.#env =
      containerEngine.kind === "podman"
        ? { ...tools, ...podmanEnvironment(layout) }
        : { ...tools, DOCKER_HOST: `unix://${containerEngine.socket}` };
  }

  /** The login goes by a file of root's: every user can read arguments. */
  pull({ image, username, password }: TrialPull): string | null {
    const folder = mkdtempSync(join(this.#folder, "trial-"));
    try {
      const auth = Buffer.from(`${username}:${password}`).toString("base64");
      const auths = { [image.split("/")[0] ?? ""]: { auth } };
      writeFileSync(join(folder, "config.json"), JSON.stringify({ auths }), { mode: 0o600 });
      const where =
        this.#program === "docker"
          ? ["--config", folder, "pull"]
          : ["pull", "--authfile", join(folder, "config.json")];
      return this.run([...where, "--quiet", image], PULL_MS);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** @returns what went wrong, in one line; null when it did what it should */
  run(args: readonly string[], timeoutMs: number, prints = ""): string | null {
    const { status, stdout, stderr, error } = spawnSync(this.#program, args, {
      env: this.#env,
      encoding: "utf8",
      timeout: timeoutMs,
      cwd: "/",
    });
    if (status === 0 && stdout.includes(prints)) return null;
    const said = (error?.message ?? stderr).trim().split("\n").at(-1) ?? "";
    return said === ""
      ? `${this.#program} ${args[0] ?? ""} ended with ${status ?? "a signal"}`
      : said.slice(0, 400);
  }
}
