import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import { CertificateAuthority } from "@resontech/appliance/certificate-authority";
import type { AlertRule } from "@resontech/prometheus/alert-rules";
import {
  prometheusEnvironment,
  prometheusFlags,
  type PrometheusSettings,
  renderAlertRules,
  renderPrometheusConfig,
  renderWebConfig,
} from "@resontech/prometheus/prometheus-config";
import { READER_NAME } from "@resontech/prometheus/reader-name";
import { freePort } from "../network/free-port.ts";

export type Reader = { cert: Buffer; key: Buffer } | null;
export type Alert = {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: string;
};

/** The real Prometheus with the files that the appliance gives it. Whoever runs the test is root, as the appliance's CA wants. */
export class RunningPrometheus implements AsyncDisposable {
  readonly settings: PrometheusSettings;
  readonly reader: NonNullable<Reader>;
  /** Of the same CA, and of another name. */
  readonly stranger: NonNullable<Reader>;
  #child: ChildProcess | null = null;
  #output = "";

  private constructor(settings: PrometheusSettings, dir: string) {
    this.settings = settings;
    const read = (name: string) => readFileSync(join(dir, name));
    this.reader = { cert: read("reader.crt"), key: read("reader.key") };
    this.stranger = { cert: read("stranger.crt"), key: read("stranger.key") };
  }

  /** @param dir its own folder @param asked the door, the token, and who vouches for the door */
  static async create(
    dir: string,
    asked: Pick<PrometheusSettings, "door" | "tokenFile"> & {
      doorCa: string;
      keycloakPort?: number;
      /** Where whoever asks it expects it. @default a free one */
      port?: number;
    },
    rules?: readonly AlertRule[],
  ): Promise<RunningPrometheus> {
    mkdirSync(dir, { recursive: true });
    const ca = new CertificateAuthority(join(dir, "ca"));
    const owner = { uid: 0, gid: 0 };
    await ca.ensureRoot("test");
    await ca.ensureServer(dir, owner, "server", ["localhost", "127.0.0.1", READER_NAME]);
    await ca.ensureServer(dir, owner, "reader", [READER_NAME]);
    await ca.ensureServer(dir, owner, "stranger", ["localhost"]);
    const caFile = join(dir, "both.pem");
    writeFileSync(caFile, [readFileSync(ca.rootCertFile), readFileSync(asked.doorCa)].join("\n"));
    const settings: PrometheusSettings = {
      ...{ port: asked.port ?? (await freePort()), dataDir: join(dir, "data"), everyS: 1 },
      keycloakPort: asked.keycloakPort ?? null,
      ...{ configFile: join(dir, "prometheus.yml"), webConfigFile: join(dir, "web.yml") },
      ...{ rulesFile: join(dir, "rules.yml"), caFile },
      ...{ certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
      ...{ door: asked.door, tokenFile: asked.tokenFile },
    };
    writeFileSync(settings.configFile, renderPrometheusConfig(settings));
    writeFileSync(settings.webConfigFile, renderWebConfig(settings));
    writeFileSync(settings.rulesFile, renderAlertRules(rules));
    const running = new RunningPrometheus(settings, dir);
    await running.start();
    return running;
  }

  get output(): string {
    return this.#output;
  }

  async start(): Promise<void> {
    const child = spawn(await ensureEngine("prometheus"), prometheusFlags(this.settings), {
      stdio: ["ignore", "pipe", "pipe"],
      env: prometheusEnvironment(),
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    for (const deadline = Date.now() + 120_000; ; await sleep(50)) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`Prometheus is not ready: ${this.#output}`);
      if ((await this.ask("/-/ready").catch(() => null))?.status === 200) return;
    }
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  ask(path: string, reader: Reader = this.reader): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const { port, caFile } = this.settings;
    const sent = request(
      {
        ...{ host: "127.0.0.1", port, path, servername: "localhost", agent: false },
        ca: readFileSync(caFile),
        ...reader,
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject);
    sent.end();
    return promise;
  }

  async data<T>(path: string): Promise<T> {
    const { status, text } = await this.ask(path);
    const { data } = JSON.parse(text) as { data?: T };
    if (status !== 200 || data === undefined) throw new Error(`${path}: ${status} ${text}`);
    return data;
  }

  /** Values of an instant query. */
  async query(expr: string): Promise<{ metric: Record<string, string>; value: number }[]> {
    const { result } = await this.data<{
      result: { metric: Record<string, string>; value: [number, string] }[];
    }>(`/api/v1/query?query=${encodeURIComponent(expr)}`);
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  async alerts(): Promise<Alert[]> {
    return (await this.data<{ alerts: Alert[] }>("/api/v1/alerts")).alerts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}
