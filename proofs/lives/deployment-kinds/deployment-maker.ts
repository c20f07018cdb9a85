/** Deploys folders from the shell that an installed appliance gives out, and calls what is deployed as programs do. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { writeHttpImage } from "@resontech/house/image-layout";
import { type ApiAnswer, ApplianceApi } from "@resontech/house/appliance-api";
import { runChild } from "@resontech/house/run-child";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { embeddingsPython } from "@resontech/house/embeddings-python";
import { llamaPython } from "@resontech/house/llama-python";
import type { ProofAppliance } from "@resontech/house/proof-appliance";

/** Says how many tensors the job left, and what the first begins with. */
const COUNTS = `import torch


class Counts:
    def load_weights(self, path):
        self.saved = torch.load(path, map_location="cpu", weights_only=True)["model"]

    def predict(self, data):
        first = next(iter(self.saved.values())).float().reshape(-1)[:4]
        return {"tensors": len(self.saved), "values": sum(each.numel() for each in self.saved.values()), "first": first}
`;

export class Deployment {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly #api: ApplianceApi;

  constructor(api: ApplianceApi, { id, name, key }: Record<"id" | "name" | "key", string>) {
    this.id = id;
    this.name = name;
    this.key = key;
    this.#api = api;
  }

  /** @param path below the deployment's endpoint */
  call(path: string, body: unknown): Promise<ApiAnswer> {
    return this.#api.call("POST", `/inference/${this.id}/${path}`, body, `Bearer ${this.key}`);
  }

  /** @param path below `/v1` */
  callV1(path: string, body: unknown): Promise<ApiAnswer> {
    return this.#api.call("POST", `/v1/${path}`, body, `Bearer ${this.key}`);
  }
}

export class DeploymentMaker {
  readonly #owner: LocalAppliance;
  readonly #installed: ProofAppliance;
  readonly #api: ApplianceApi;

  constructor(owner: LocalAppliance, installed: ProofAppliance) {
    this.#owner = owner;
    this.#installed = installed;
    this.#api = new ApplianceApi(owner);
  }

  close(): void {
    this.#api.close();
  }

  /** @returns once it answers */
  async deploy(folder: string, ...more: string[]): Promise<Deployment> {
    const name = basename(folder);
    const keyFile = join(this.#installed.folder("keys"), `${name}.key`);
    const made = await this.resontech(
      ...["infer", "deploy", folder, "--gpu-models", "cpu", "--key-file", keyFile, "--wait"],
      ...["--json", ...more],
    );
    const { jobId: id } = JSON.parse(made) as { jobId: string };
    return new Deployment(this.#api, { id, name, key: readFileSync(keyFile, "utf8").trim() });
  }

  /** @returns what the shell prints of the arrays of an answer */
  async arraysOf({ id, name }: Deployment): Promise<string> {
    const folder = this.#installed.folder("arrays");
    writeFileSync(join(folder, "body"), "?");
    return await this.resontech(
      ...["infer", "call", id, join(folder, "body"), "--tensors", join(folder, "answer")],
      ...["--key-file", join(this.#installed.folder("keys"), `${name}.key`)],
    );
  }

  resontech(...words: string[]): Promise<string> {
    return runChild(join(this.#owner.root, "current", "bin", "resontech"), words, {
      ...{ env: { PATH: process.env["PATH"], ...this.#owner.quickstart() }, quiet: true },
    });
  }

  /** What the appliance's Prometheus would scrape. */
  async metrics(): Promise<string> {
    const token = (await this.#installed.appliance.command(["metrics", "token"])).trim();
    const { RESON_BASE_URL: base = "", SSL_CERT_FILE: root = "" } = this.#owner.quickstart();
    const header = join(this.#installed.folder("keys"), "metrics.header");
    writeFileSync(header, `authorization: Bearer ${token}`, { mode: 0o600 });
    return await runChild(
      "curl",
      ["--silent", "--fail", "--cacert", root, "--header", `@${header}`, `${base}/metrics`],
      { quiet: true },
    );
  }

  async embeddingsFolder(): Promise<string> {
    const folder = this.#folder("embeds", "engine: embeddings\ncluster: {device: cpu}\n");
    cpSync((await embeddingsPython()).model, join(folder, "model"), { recursive: true });
    return folder;
  }

  /** The model is in the hub, and not in the folder. */
  async hubFolder(): Promise<string> {
    const mini = join(this.#installed.folder("hub"), "mini");
    mkdirSync(mini);
    cpSync((await llamaPython()).weights, join(mini, "chat.gguf"));
    await this.resontech("storage", "put", mini, "models/mini");
    await this.resontech(
      ...["models", "add", "lab/mini@v1", "--from", "/models/mini", "--licence", "Apache-2.0"],
      "--wait",
    );
    return this.#folder(
      "from-hub",
      "engine: llama.cpp\nmodel: {path: 'hub:lab/mini@v1/chat.gguf'}\ncluster: {device: cpu, max_ongoing_requests: 2}\nllama: {context_tokens: 512}\n",
    );
  }

  checkpointFolder(job: string): string {
    const folder = this.#folder(
      "from-job",
      `model: {module: counts, class_name: Counts, path: 'job:${job}'}\ncluster: {device: cpu}\n`,
    );
    mkdirSync(join(folder, "scripts"));
    writeFileSync(join(folder, "scripts", "counts.py"), COUNTS);
    return folder;
  }

  /** Its image is admitted by the digest that its maker told. */
  async ownContainerFolder(appliance: LocalAppliance): Promise<string> {
    const made = this.#installed.folder("image");
    const digest = await writeHttpImage(made, join(made, "layout"));
    const archive = join(made, "http.tar");
    execFileSync("tar", ["--create", "--file", archive, "--directory", join(made, "layout"), "."]);
    const shown = (await appliance.command(["image", "digest", archive])).trim();
    if (shown !== digest) throw new Error(`image digest says ${shown}, and its maker ${digest}`);
    await appliance.command(["image", "add", archive, "--name", "http", "--digest", digest]);
    return this.#folder(
      "own",
      "engine: container\ncontainer: {image: http, port: 8080, health: /healthz}\ncluster: {device: cpu, max_ongoing_requests: 4}\n",
    );
  }

  #folder(name: string, inferenceYaml: string): string {
    const folder = join(this.#installed.folder("deployments"), name);
    mkdirSync(folder);
    writeFileSync(join(folder, "inference.yaml"), inferenceYaml);
    return folder;
  }
}
