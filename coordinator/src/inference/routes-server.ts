/** The socket where the inference gateway hears who answers (inference-routes.ts). Who may open it is decided by its folder: the gateway's group alone. */
import { once } from "node:events";
import { chmod, lstat, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { type Route, ROUTES_EVERY_MS } from "@resontech/contracts/inference-routes";
import type { FastifyBaseLogger } from "fastify";

/** So soon after a change the gateway knows of it. */
const LOOK_MS = 100;

export class RoutesServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes: () => Route[];
  readonly #sockets = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #told = "";
  #toldAt = Number.NEGATIVE_INFINITY;

  private constructor(routes: () => Route[], logger: FastifyBaseLogger) {
    this.#routes = routes;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", (err) => logger.warn({ err }, "connection of the gateway failed"));
      socket.resume();
      socket.write(`${this.#line()}\n`);
    });
    this.#timer = setInterval(() => this.#tell(), LOOK_MS).unref();
  }

  /** @throws when the socket's folder lets others in */
  static async listen(
    path: string,
    routes: () => Route[],
    logger: FastifyBaseLogger,
  ): Promise<RoutesServer> {
    const folder = await lstat(dirname(path));
    if (!folder.isDirectory() || (folder.mode & 0o007) !== 0)
      throw new Error(`the folder of ${path} must be closed to others: 0750`);
    await rm(path, { force: true });
    const server = new RoutesServer(routes, logger);
    server.#server.listen(path);
    await once(server.#server, "listening");
    await chmod(path, 0o660);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #line(): string {
    return JSON.stringify({ routes: this.#routes() });
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
