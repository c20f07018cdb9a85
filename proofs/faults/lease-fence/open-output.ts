/** An output that a member has open while its node is lost: opened as its own agent would, tried again once the member is fenced. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { agentInboxPrefix, agentSubject } from "@resontech/contracts/agent-protocol";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import type { SecondNode } from "@resontech/house/second-node";

/** From the fence until the object store knows the upload no more. */
const ABORT_LIMIT_MS = 10_000;
const CONTENT = "an output that nobody may complete";

/** As far as the agent tells the coordinator who it speaks for. */
export type FencedMember = { id: string; generation: number; counter: number };

type Reply = { ok: boolean; error?: { code: string } } & Record<string, unknown>;

export class OpenOutput {
  readonly #second: SecondNode;
  readonly #member: FencedMember;
  readonly #jobs: RecordedJobs;
  readonly #upload: string;
  readonly #url: string;

  private constructor(
    second: SecondNode,
    member: FencedMember,
    jobs: RecordedJobs,
    upload: string,
    url: string,
  ) {
    this.#second = second;
    this.#member = member;
    this.#jobs = jobs;
    this.#upload = upload;
    this.#url = url;
  }

  /** With the node's certificate, epoch and fence. */
  static async open(
    second: SecondNode,
    member: FencedMember,
    jobs: RecordedJobs,
  ): Promise<OpenOutput> {
    const sha256 = createHash("sha256").update(CONTENT).digest("hex");
    const key = "model_out/checkpoint.pt";
    const fields = { key, sizeBytes: CONTENT.length, sha256 };
    const reply = await ask(second, "output-open", jobs, member, fields);
    if (!reply.ok) throw new Error(`no upload was opened: ${JSON.stringify(reply)}`);
    const [url = ""] = reply["urls"] as string[];
    return new OpenOutput(second, member, jobs, String(reply["upload"]), url);
  }

  /** What becomes of its part, once the upload was aborted, and of its completion: `status, code`. */
  async tryToEnd(): Promise<string> {
    const ca = readFileSync(this.#second.config.rootCertFile);
    let status = await put(this.#url, ca);
    for (
      const from = Date.now();
      status === 200 && Date.now() - from < ABORT_LIMIT_MS;
      status = await put(this.#url, ca)
    )
      await sleep(100);
    const fields = { upload: this.#upload, etags: ["0".repeat(32)] };
    const late = true;
    const reply = await ask(
      ...([this.#second, "output-complete", this.#jobs, this.#member, fields, late] as const),
    );
    return `${status}, ${reply.ok ? "completed" : (reply.error?.code ?? "?")}`;
  }
}

async function ask(
  { config }: SecondNode,
  verb: "output-open" | "output-complete",
  jobs: RecordedJobs,
  { id, generation, counter }: FencedMember,
  fields: object,
  isLate = false,
): Promise<Reply> {
  const { node } = config;
  const read = (name: string): string => readFileSync(join(config.dataDir, name), "utf8");
  const db = jobs.open();
  const epoch = db
    .prepare<[string], { generation: number; counter: number }>(
      "SELECT generation, counter FROM nodes WHERE id = ?",
    )
    .get(node)!;
  db.close();
  const connection = await connect({
    servers: read("nats-url"),
    tls: {
      ca: readFileSync(config.rootCertFile, "utf8"),
      cert: read("node.crt"),
      key: read("node.key"),
    },
    inboxPrefix: agentInboxPrefix(node),
    name: `proof ${randomUUID()}`,
  });
  try {
    // The lost agent knows the epoch that it had; the coordinator has given the next one to nobody yet.
    const nodeEpoch = isLate ? { ...epoch, counter: epoch.counter - 1 } : epoch;
    const body = { nodeEpoch, member: id, fence: { generation, counter }, ...fields };
    const message = await connection.request(agentSubject(node, verb), JSON.stringify(body), {
      timeout: 10_000,
    });
    return message.json<Reply>();
  } finally {
    await connection.close();
  }
}

async function put(url: string, ca: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { method: "PUT", ca }, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  sent.on("error", reject);
  sent.end(CONTENT);
  return await promise;
}
