/**
 * What the coordinator last told of who answers, and the way to tell it what is under way here. It serves on without the coordinator for as long as
 * leases may live, and then knows nobody.
 */
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import {
  type CallerKey,
  type CallReport,
  MAX_ROUTES_LINE_BYTES,
  REPORT_AFTER_MS,
  REPORT_EVERY_MS,
  type Route,
  ROUTES_LIFE_MS,
  RouteTable,
} from "@resontech/contracts/inference-routes";
import type { DeploymentNumbers, UsageRow } from "@resontech/contracts/gateway-numbers";
import { reader } from "@resontech/contracts/readable";
import type { Logger } from "pino";

/** Who follows the routes, and what it tells. */
export type Follower = {
  follow(routes: readonly Route[]): void;
  report(): CallReport;
  numbers(): DeploymentNumbers[];
  /** @param isAll to a coordinator that has heard nothing yet; else what has changed since */
  usage(isAll: boolean): UsageRow[];
};

/** So many rows make a line. */
const USAGE_ROWS = 1_000;

const RETRY_MS = 250;
const readTable = reader(RouteTable);

export class RouteFollower implements Disposable {
  readonly #path: string;
  readonly #log: Logger;
  #routes = new Map<string, Route>();
  /** By the address that was taken over. */
  #successors = new Map<string, string>();
  #keys = new Map<string, CallerKey>();
  /** By the monotonic clock; -Infinity before the first word. */
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Over the connection that is open now. */
  #isTold = false;
  readonly #first = new EventEmitter();
  #socket: Socket | null = null;
  #retry: NodeJS.Timeout | undefined;
  readonly #follower: Follower;
  readonly #telling: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(path: string, follower: Follower, log: Logger) {
    this.#path = path;
    this.#follower = follower;
    this.#log = log;
    this.#telling = setInterval(() => this.#tellAll(false), REPORT_EVERY_MS).unref();
    this.#connect();
  }

  /** Who answers at the deployment's address: itself, or the one that took its place. Null where nobody does. */
  find(deployment: string): Route | null {
    if (!this.isFresh) return null;
    return this.#routes.get(this.#successors.get(deployment) ?? deployment) ?? null;
  }

  /** Every deployment that somebody answers for. */
  all(): Route[] {
    return this.isFresh ? [...this.#routes.values()] : [];
  }

  /** Platform keys that may call, by their digest; none once nobody has told of them for long. */
  get keys(): ReadonlyMap<string, CallerKey> {
    return this.isFresh ? this.#keys : new Map();
  }

  /** Resolves with the first table, and without one after so long. */
  async heard(limitMs: number): Promise<void> {
    if (this.isFresh) return;
    const late = AbortSignal.timeout(limitMs);
    await once(this.#first, "heard", { signal: late }).catch(() => undefined);
  }

  get isFresh(): boolean {
    return performance.now() - this.#heardAt < ROUTES_LIFE_MS;
  }

  /** The coordinator tells of each change as it comes: a key that is in no table is nobody's. While it is away, a newer key may be in none. */
  get isTold(): boolean {
    return this.#isTold;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#telling);
    clearTimeout(this.#soon);
    this.#socket?.destroy();
  }

  /** What there is to report has changed: the coordinator hears of it soon, of many changes at once. */
  noteChange(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#tell();
    }, REPORT_AFTER_MS);
  }

  #tell(): void {
    this.#write(this.#follower.report());
  }

  #tellAll(isFirst: boolean): void {
    if (this.#socket?.readyState !== "open") return;
    this.#tell();
    this.#write({ numbers: this.#follower.numbers() });
    const usage = this.#follower.usage(isFirst);
    for (let from = 0; from < usage.length; from += USAGE_ROWS)
      this.#write({ usage: usage.slice(from, from + USAGE_ROWS) });
  }

  #write(line: object): void {
    if (this.#socket?.readyState === "open") this.#socket.write(`${JSON.stringify(line)}\n`);
  }

  #connect(): void {
    const socket = connect(this.#path);
    this.#socket = socket;
    let pending = "";
    socket.setEncoding("utf8");
    socket.once("connect", () => this.#tellAll(true));
    socket.on("data", (text: string) => {
      const lines = (pending + text).split("\n");
      pending = lines.pop() ?? "";
      if (pending.length > MAX_ROUTES_LINE_BYTES) socket.destroy();
      const newest = lines.at(-1);
      if (newest !== undefined) this.#take(newest);
    });
    socket.on("error", (err) => this.#log.debug({ err }, "the coordinator is not there"));
    socket.once("close", () => {
      this.#isTold = false;
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#connect(), RETRY_MS);
    });
  }

  #take(line: string): void {
    const table = readTable(parse(line));
    if (table === null) {
      this.#log.error("the coordinator told what is no table of routes");
      this.#socket?.destroy();
      return;
    }
    this.#successors = new Map(
      table.routes.flatMap(({ deployment, aliases }) =>
        aliases.map((alias) => [alias, deployment]),
      ),
    );
    this.#routes = new Map(
      table.routes
        .filter(({ deployment }) => !this.#successors.has(deployment))
        .map((route) => [route.deployment, route]),
    );
    this.#keys = new Map((table.keys ?? []).map((key) => [key.sha256, key]));
    this.#heardAt = performance.now();
    this.#isTold = true;
    this.#first.emit("heard");
    this.#follower.follow(table.routes);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}
