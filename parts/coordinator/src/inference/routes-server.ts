/** The socket where the inference gateway hears who answers, and tells what it has under way (inference-routes.ts). Who may open it is decided by its folder: the gateway's group alone. */
import { once } from "node:events";
import { chmod, lstat, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import {
  CallReport,
  type CallerKey,
  MAX_ROUTES_LINE_BYTES,
  type Route,
  ROUTES_EVERY_MS,
} from "@resontech/contracts/inference-routes";
import {
  type DeploymentNumbers,
  NumbersReport,
  UsageReport,
  type UsageRow,
} from "@resontech/contracts/gateway-numbers";
import { reader } from "@resontech/contracts/readable";
import type { FastifyBaseLogger } from "fastify";
import type { GatewayReports } from "./gateway-reports.ts";

/** So soon after a change the gateway knows of it. */
const LOOK_MS = 100;

const readReport = reader(CallReport);
const readNumbers = reader(NumbersReport);
const readUsage = reader(UsageReport);

export type RoutesServerParts = {
  routes: () => Route[];
  /** Platform keys that may call. */
  keys: () => CallerKey[];
  reports: Pick<GatewayReports<Socket>, "join" | "leave" | "take">;
  numbers: {
    take(connection: Socket, numbers: readonly DeploymentNumbers[], now: number): void;
    leave(connection: Socket): void;
  };
  /** Keeps it. A gateway whose word was not kept tells all of it anew. */
  onUsage: (rows: readonly UsageRow[]) => Promise<void>;
  /** A gateway came, went, or said something. */
  onReport: () => void;
  now: () => number;
  logger: FastifyBaseLogger;
};

export class RoutesServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #parts: RoutesServerParts;
  readonly #sockets = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #told = "";
  #toldAt = Number.NEGATIVE_INFINITY;

  private constructor(parts: RoutesServerParts) {
    this.#parts = parts;
    this.#server = createServer((socket) => this.#greet(socket));
    this.#timer = setInterval(() => this.#tell(), LOOK_MS).unref();
  }

  /** @throws when the socket's folder lets others in */
  static async listen(path: string, parts: RoutesServerParts): Promise<RoutesServer> {
    const folder = await lstat(dirname(path));
    if (!folder.isDirectory() || (folder.mode & 0o007) !== 0)
      throw new Error(`the folder of ${path} must be closed to others: 0750`);
    await rm(path, { force: true });
    const server = new RoutesServer(parts);
    server.#server.listen(path);
    await once(server.#server, "listening");
    await chmod(path, 0o660);
    return server;
  }

  /** The gateway hears at once what has changed. */
  tell(): void {
    this.#tell();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #greet(socket: Socket): void {
    const { reports, onReport, now, logger } = this.#parts;
    this.#sockets.add(socket);
    reports.join(socket, now());
    let pending = "";
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      const lines = (pending + text).split("\n");
      pending = lines.pop() ?? "";
      if (pending.length > MAX_ROUTES_LINE_BYTES) socket.destroy();
      for (const line of lines) if (!socket.destroyed) this.#take(socket, line);
    });
    socket.on("error", (err) => logger.warn({ err }, "connection of the gateway failed"));
    socket.on("close", () => {
      this.#sockets.delete(socket);
      reports.leave(socket);
      this.#parts.numbers.leave(socket);
      onReport();
    });
    socket.write(`${this.#line()}\n`);
  }

  #take(socket: Socket, line: string): void {
    const { reports, numbers, onReport, onUsage, now, logger } = this.#parts;
    const said = parse(line);
    const report = readReport(said);
    if (report !== null) {
      reports.take(socket, report, now());
      return onReport();
    }
    const counted = readNumbers(said);
    if (counted !== null) return numbers.take(socket, counted.numbers, now());
    const used = readUsage(said);
    if (used === null) {
      logger.error("the gateway told what is no report of calls");
      socket.destroy();
      return;
    }
    onUsage(used.usage).catch((err: unknown) => {
      logger.error({ err }, "usage was not kept, and is asked for anew");
      socket.destroy();
    });
  }

  #line(): string {
    const { routes, keys } = this.#parts;
    return JSON.stringify({ routes: routes(), keys: keys() });
  }

  #tell(): void {
    if (this.#sockets.size === 0) return;
    const line = this.#line();
    const now = performance.now();
    if (line === this.#told && now - this.#toldAt < ROUTES_EVERY_MS) return;
    this.#told = line;
    this.#toldAt = now;
    for (const socket of this.#sockets) socket.write(`${line}\n`);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}
