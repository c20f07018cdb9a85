/**
 * A researcher's workstation: the public Python client, unmodified, and the example's own scripts in a container of the appliance's
 * job image on the host's network. It has what a workstation would have: torch, scikit-learn, the client. It gets nothing of ours but
 * the quickstart's environment and the appliance's root certificate.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "../run-child.ts";
import { type LocalAppliance, repository } from "./local-appliance.ts";

export type JobOutcome = { id: string; state: string; seconds: number; accuracyByRound: number[] };

export class Workstation {
  readonly #appliance: LocalAppliance;
  readonly #work: string;
  readonly #example: string;
  readonly #image: string;

  private constructor(appliance: LocalAppliance, work: string, example: string, image: string) {
    this.#appliance = appliance;
    this.#work = work;
    this.#example = example;
    this.#image = image;
  }

  /**
   * @param work folder of the host that the scripts see as `/work`
   * @param example folder that they see as `/example`
   */
  static async open(
    appliance: LocalAppliance,
    work: string,
    example = join(repository, "examples", "digits"),
  ): Promise<Workstation> {
    const image = (await appliance.command(["image", "pull", "fl-cpu"])).trim();
    return new Workstation(appliance, work, example, image);
  }

  /** Through the appliance's own engine; where that is the Docker of its host, by the command there. */
  #command(script: readonly string[]): [program: string, args: readonly string[]] {
    const { dockerOf } = this.#appliance;
    if (dockerOf === null)
      return [
        "podman",
        ["--url", `unix://${this.#appliance.engineSocket}`, ...this.#run(script, ["--pull=never"])],
      ];
    // What enters another host takes no environment along, and the values are none for argv.
    const file = join(this.#work, "environment");
    const lines = Object.entries(this.#appliance.quickstart()).map(
      ([key, value]) => `${key}=${value}\n`,
    );
    writeFileSync(file, lines.join(""), { mode: 0o600 });
    return dockerOf("docker", this.#run(script, [`--env-file=${file}`]));
  }

  #run(script: readonly string[], more: readonly string[]): string[] {
    const environment = this.#appliance.quickstart();
    const certificate = environment["SSL_CERT_FILE"] ?? "";
    return [
      "run",
      "--rm",
      "--network=host",
      ...more,
      "--user=0",
      `--volume=${this.#example}:/example:ro`,
      `--volume=${this.#work}:/work`,
      `--volume=${certificate}:${certificate}:ro`,
      "--workdir=/work",
      // Names alone: the values pass through the environment, never through argv.
      ...(this.#appliance.dockerOf === null
        ? Object.keys(environment).map((name) => `--env=${name}`)
        : []),
      "--entrypoint=python3",
      this.#image,
      "-u",
      ...script,
    ];
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.#appliance.quickstart() };
  }

  async python(script: readonly string[]): Promise<string> {
    return await runChild(...this.#command(script), { env: this.#environment(), quiet: true });
  }

  /** Submits, follows and downloads; calls `onProgress` with a line for a person at each change. `more` are the script's own options. */
  async submit(
    onProgress: (line: string) => void,
    more: readonly string[] = [],
  ): Promise<JobOutcome> {
    const outcome: JobOutcome = { id: "", state: "UNKNOWN", seconds: 0, accuracyByRound: [] };
    const from = Date.now();
    await this.#follow(
      ["/example/submit.py", "--shards", "/work/shards", "--out", "/work", ...more],
      (line) => {
        const event = parse(line);
        if (event === null) {
          if (line.trim() !== "") onProgress(line);
          return;
        }
        if (typeof event["id"] === "string") outcome.id = event["id"];
        if (typeof event["state"] === "string") outcome.state = event["state"];
        if (Array.isArray(event["accuracyByRound"]))
          outcome.accuracyByRound = event["accuracyByRound"].map(Number);
        onProgress(describe(event));
      },
    );
    outcome.seconds = (Date.now() - from) / 1000;
    return outcome;
  }

  async evaluate(): Promise<number> {
    const output = await this.python([
      "/example/evaluate.py",
      "--checkpoint",
      "/work/checkpoint.pt",
      "--data",
      "/work/held_out.npz",
    ]);
    const event = parse(output.trimEnd().split("\n").at(-1) ?? "");
    return Number(event?.["accuracy"] ?? Number.NaN);
  }

  /** Runs a script and answers each JSON object that it printed, whatever its exit code. */
  async events(script: readonly string[]): Promise<Record<string, unknown>[]> {
    const events: Record<string, unknown>[] = [];
    await this.#follow(script, (line) => {
      const event = parse(line);
      if (event !== null) events.push(event);
    }).catch((error: unknown) => {
      if (events.length === 0) throw error;
    });
    return events;
  }

  async #follow(script: readonly string[], onLine: (line: string) => void): Promise<void> {
    const child = spawn(...this.#command(script), {
      env: this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let rest = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      errors = (errors + chunk).slice(-4096);
    });
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (rest !== "") onLine(rest);
    if (status !== 0) throw new Error(`the client's script ended with ${status}:\n${errors}`);
  }
}

function parse(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function describe(event: Record<string, unknown>): string {
  return Object.entries(event)
    .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("  ");
}
