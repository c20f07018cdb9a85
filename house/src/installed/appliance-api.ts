/** The public API of an installed appliance, as a proof asks it: TLS under the appliance's own root, answers as they came. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import type { LocalAppliance } from "./local-appliance.ts";

/** It only ends a hang. */
const TIMEOUT_MS = 60_000;

export type ApiAnswer = { status: number; body: unknown };

export class ApplianceApi {
  readonly #base: string;
  readonly #key: string;
  /** One connection is kept, as a client keeps it. */
  readonly #agent: Agent;

  constructor(appliance: LocalAppliance) {
    const {
      RESON_BASE_URL: base = "",
      RESON_API_KEY: key = "",
      SSL_CERT_FILE: root = "",
    } = appliance.quickstart();
    this.#base = base;
    this.#key = key;
    this.#agent = new Agent({ ca: readFileSync(root), keepAlive: true });
  }

  /** @param authorization the first user's platform key unless said otherwise */
  async call(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    authorization = `Bearer ${this.#key}`,
  ): Promise<ApiAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
    const headers = {
      authorization,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = request(
      new URL(path, this.#base),
      { method, headers, agent: this.#agent, timeout: TIMEOUT_MS },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: answer.statusCode ?? 0, body: text === "" ? null : JSON.parse(text) });
        });
      },
    );
    sent.on("error", reject);
    sent.on("timeout", () =>
      sent.destroy(new Error(`${method} ${path} was not answered in ${TIMEOUT_MS / 1_000} s`)),
    );
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return await promise;
  }

  /** Asks until the task has ended, through restarts of whoever answers. @throws Error after `timeoutMs` */
  async untilEnded(id: string, timeoutMs: number): Promise<TaskReply> {
    let last = "nothing was answered";
    for (const from = Date.now(); Date.now() - from < timeoutMs; await sleep(250)) {
      try {
        const { status, body } = await this.call("GET", `/api/tasks/${id}`);
        if (status !== 200) last = `${status} ${JSON.stringify(body)}`;
        else {
          const task = body as TaskReply;
          if (task.status === "FINISHED" || task.status === "FAILED") return task;
          last = `${task.detail.state}: ${task.detail.waitingFor ?? ""}`;
        }
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
      }
    }
    throw new Error(`task ${id} has not ended after ${timeoutMs} ms; last: ${last}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}
