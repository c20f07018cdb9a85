/** SmolLM2 on llama.cpp on an installed appliance: deployed from the shell that the appliance gives out, called by streams that count how they end. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { runChild } from "../run-child.ts";
import type { LocalAppliance } from "./local-appliance.ts";
import { llamaPython } from "../python/llama-python.ts";

const AGAIN_MS = 200;

export type ChatOptions = {
  /** Of the deployment, and of its model in the API. */
  name?: string;
  /** Calls at once. */
  slots: number;
  /** More of `cluster:` in its inference.yaml. */
  cluster?: string;
};

export class ChatDeployment {
  readonly appliance: LocalAppliance;
  readonly name: string;
  readonly #folder: string;

  private constructor(appliance: LocalAppliance, folder: string, name: string) {
    this.appliance = appliance;
    this.name = name;
    this.#folder = folder;
  }

  /** @param folder of its own, an empty one */
  static async make(
    appliance: LocalAppliance,
    folder: string,
    { name = "small chat", slots, cluster = "" }: ChatOptions,
  ): Promise<ChatDeployment> {
    const source = join(folder, name);
    mkdirSync(join(source, "model"), { recursive: true });
    cpSync((await llamaPython()).weights, join(source, "model", "chat.gguf"));
    writeFileSync(
      join(source, "inference.yaml"),
      `engine: llama.cpp\nmodel: {path: chat.gguf}\ncluster: {device: cpu, max_ongoing_requests: ${slots}${cluster}}\nllama: {context_tokens: 512}\n`,
    );
    return new ChatDeployment(appliance, folder, name);
  }

  get keyFile(): string {
    return join(this.#folder, "chat.key");
  }

  get key(): string {
    return readFileSync(this.keyFile, "utf8").trim();
  }

  /** Resolves with its id once it answers. */
  async deploy(replaces: string | null = null): Promise<string> {
    const said = await this.#resontech(
      ...["infer", "deploy", join(this.#folder, this.name), "--wait", "--json"],
      ...(replaces === null ? ["--key-file", this.keyFile] : ["--replace", replaces]),
    );
    return (JSON.parse(said) as { jobId: string }).jobId;
  }

  /** A short greedy answer: the same from the same weights. */
  async answer(): Promise<string> {
    return await this.streams().answer();
  }

  /** Whether the first answer that comes, within so long, is the one of before. */
  async saysAgain(said: string, limitMs: number): Promise<boolean> {
    for (const end = Date.now() + limitMs; Date.now() < end; await sleep(500)) {
      const answer = await this.answer().catch(() => null);
      if (answer !== null) return answer === said;
    }
    return false;
  }

  async remove(id: string): Promise<void> {
    await this.#resontech("infer", "rm", id);
  }

  streams(): ChatStreams {
    const { RESON_BASE_URL: base = "", SSL_CERT_FILE: root = "" } = this.appliance.quickstart();
    return new ChatStreams(base, readFileSync(root), this.key, this.name);
  }

  #resontech(...words: string[]): Promise<string> {
    const program = join(this.appliance.root, "current", "bin", "resontech");
    const env = { PATH: process.env["PATH"], ...this.appliance.quickstart() };
    return runChild(program, words, { env, quiet: true });
  }
}

/** Streams that begin anew as soon as they have ended. */
export class ChatStreams {
  readonly #base: string;
  readonly #key: string;
  readonly #model: string;
  readonly #agent: Agent;
  #isEnding = false;
  whole = 0;
  /** Why each of the others did not come to its end. */
  readonly dropped: string[] = [];
  /** Streams by the replica that answered. */
  readonly replicas = new Map<string, number>();

  constructor(base: string, ca: Buffer, key: string, model: string) {
    this.#base = base;
    this.#key = key;
    this.#model = model;
    this.#agent = new Agent({ ca, keepAlive: true });
  }

  /** Resolves once each has ended after {@link end}. */
  async run(count: number, tokens: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        for (let round = 0; !this.#isEnding; round++) await this.#one(tokens, `${at}.${round}`);
      }),
    );
    this.#agent.destroy();
  }

  end(): void {
    this.#isEnding = true;
  }

  /** One call, whole. @throws with what was said instead */
  async answer(): Promise<string> {
    const { status, said } = await this.#ask({
      ...{ stream: false, max_tokens: 12 },
      messages: [{ role: "user", content: "Say a word." }],
    });
    this.#agent.destroy();
    if (status !== 200) throw new Error(`${status} ${said.slice(0, 200)}`);
    const { choices } = JSON.parse(said) as { choices: [{ message: { content: string } }] };
    return choices[0].message.content;
  }

  async #one(tokens: number, name: string): Promise<void> {
    const dropped = this.dropped.length;
    try {
      const { status, said, replica } = await this.#ask({
        ...{ stream: true, max_tokens: tokens },
        messages: [{ role: "user", content: `Tell the story number ${name}.` }],
      });
      if (status !== 200) this.dropped.push(`${status} ${said.slice(0, 200)}`);
      else if (!said.trimEnd().endsWith("data: [DONE]"))
        this.dropped.push(`a stream ended with ${said.trimEnd().slice(-200)}`);
      else {
        this.whole += 1;
        this.replicas.set(replica, (this.replicas.get(replica) ?? 0) + 1);
      }
    } catch (error) {
      this.dropped.push(String(error));
    }
    // Whoever is turned away comes again a moment later, as clients do.
    if (this.dropped.length > dropped) await sleep(AGAIN_MS);
  }

  async #ask(body: object): Promise<{ status: number; said: string; replica: string }> {
    const asked = request(new URL("/v1/chat/completions", this.#base), {
      ...{ method: "POST", agent: this.#agent },
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
    });
    asked.end(JSON.stringify({ model: this.#model, temperature: 0, ...body }));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const said = await text(answer);
    return {
      ...{ status: answer.statusCode ?? 0, said },
      replica: String(answer.headers["x-replica-id"] ?? ""),
    };
  }
}
