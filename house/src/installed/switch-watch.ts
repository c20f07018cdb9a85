/** What callers of a door see while one release takes the place of another. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "./local-appliance.ts";

const EVERY_MS = 100;
const LIMIT_MS = 5_000;

/**
 * @property awayMs each time without a good answer, milliseconds
 * @property told how often each answer came
 * @property strange answers, or lacks of one, that tell a caller nothing of when to come again
 */
export type SwitchSeen = {
  calls: number;
  awayMs: number[];
  told: Record<string, number>;
  strange: string[];
};

type Watched = { url: URL; ca: Buffer; good: number };

export class SwitchWatch {
  readonly #watched: Watched;
  readonly #over = new AbortController();
  readonly #seen: SwitchSeen = { calls: 0, awayMs: [], told: {}, strange: [] };
  #running: Promise<void> = Promise.resolve();

  private constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Of the API, by the coordinator's own health. */
  static ofApi(appliance: LocalAppliance): SwitchWatch {
    const { RESON_BASE_URL: base = "", SSL_CERT_FILE: root = "" } = appliance.quickstart();
    return SwitchWatch.#begin({
      url: new URL("/healthz", base),
      ca: readFileSync(root),
      good: 200,
    });
  }

  /** Of S3, which refuses whoever has no key. */
  static ofS3(appliance: LocalAppliance): SwitchWatch {
    const { RESON_S3_ENDPOINT: base = "", SSL_CERT_FILE: root = "" } = appliance.quickstart();
    return SwitchWatch.#begin({ url: new URL("/", base), ca: readFileSync(root), good: 403 });
  }

  static #begin(watched: Watched): SwitchWatch {
    const watch = new SwitchWatch(watched);
    watch.#running = watch.#watch();
    return watch;
  }

  async end(): Promise<SwitchSeen> {
    this.#over.abort();
    await this.#running;
    return this.#seen;
  }

  async #watch(): Promise<void> {
    const { good } = this.#watched;
    let awaySince: number | null = null;
    while (!this.#over.signal.aborted) {
      const from = Date.now();
      const said = await this.#call();
      this.#seen.calls += 1;
      this.#seen.told[said] = (this.#seen.told[said] ?? 0) + 1;
      if (said === String(good)) {
        if (awaySince !== null) this.#seen.awayMs.push(Date.now() - awaySince);
        awaySince = null;
      } else {
        awaySince ??= from;
        if (!said.startsWith("503 ") || said.endsWith(" never")) this.#seen.strange.push(said);
      }
      await sleep(EVERY_MS);
    }
  }

  /** The status; of another one than the good one also its code, and when to come again. */
  async #call(): Promise<string> {
    const { url, ca, good } = this.#watched;
    const agent = new Agent({ ca });
    try {
      const sent = request(url, { agent, timeout: LIMIT_MS });
      sent.once("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.end();
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      const body = await text(answer);
      if (answer.statusCode === good) return String(good);
      const code = /"code":"(\w+)"/.exec(body)?.[1] ?? "no code";
      return `${answer.statusCode} ${code} ${answer.headers["retry-after"] ?? "never"}`;
    } catch (error) {
      return error instanceof Error && "code" in error ? String(error.code) : String(error);
    } finally {
      agent.destroy();
    }
  }
}
