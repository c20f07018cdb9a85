/** The dashboard from its sources, in front of an appliance that runs: what changes shows at once, and all else is the appliance's. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { createServer, type Plugin } from "vite";
import { dashboardOptions } from "./dashboard-options.ts";
import { isPage, isSource } from "./paths-of-sources.ts";
import { Upstream } from "./upstream.ts";

export type ServeOptions = {
  /** Of the appliance's front door. */
  appliance: URL;
  /** Vouches for the door, PEM; null: the authorities that Node knows. */
  ca: string | null;
  /** Where it listens, and the certificate for the name that browsers call it by. */
  own: { name: string; address: string; port: number; key: string; cert: string };
  /** Outside the room. Made at will, and kept for the next start. */
  cacheDir: string;
  /** Folder of the dashboard. @default this one */
  room?: string;
};

/** @throws Error when the port is taken */
export async function serveDashboard(
  options: ServeOptions,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { own, appliance, ca, cacheDir } = options;
  const common = dashboardOptions(options.room);
  const url = `https://${own.name}:${own.port}`;
  const upstream = new Upstream({ url: appliance, ca, ownOrigin: () => url });
  const server = await createServer({
    ...common,
    plugins: [...(common.plugins ?? []), inFrontOf(upstream, join(common.root!, "index.html"))],
    cacheDir,
    appType: "custom",
    server: {
      https: { key: own.key, cert: own.cert },
      ...{ host: own.address, port: own.port, strictPort: true },
      allowedHosts: [own.name],
      cors: false,
    },
  });
  await server.listen();
  // Compiled before the first page asks, so that this one is no slower than the next.
  await server.warmupRequest("/src/main.tsx");
  return {
    url,
    close: async () => {
      upstream.close();
      await server.close();
    },
  };
}

function inFrontOf(upstream: Upstream, indexFile: string): Plugin {
  return {
    name: "in-front-of-an-appliance",
    configureServer: (server) => {
      const givePage = async (
        request: IncomingMessage,
        response: ServerResponse,
      ): Promise<void> => {
        // Who is signed in is known to the appliance alone.
        if (!(await upstream.hasPageFor(request, response))) return;
        try {
          const index = readFileSync(indexFile, "utf8");
          const page = await server.transformIndexHtml(request.url ?? "/", index);
          response.writeHead(200, {
            "content-type": "text/html; charset=utf-8",
            "cache-control": "no-store",
          });
          response.end(page);
        } catch (error) {
          // It may be half written just now.
          response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
          response.end(`${indexFile}: ${error instanceof Error ? error.message : String(error)}\n`);
        }
      };
      // Before Vite's own: they would answer for paths of the API.
      server.middlewares.use((request, response, next) => {
        const path = request.url ?? "/";
        if (isSource(path)) return next();
        if (request.method !== "GET" || !isPage(path)) return upstream.pass(request, response);
        void givePage(request, response);
      });
      const { httpServer } = server;
      (httpServer as Server | null)?.on("upgrade", (request: IncomingMessage, socket, head) => {
        const protocol = request.headers["sec-websocket-protocol"] ?? "";
        if (!protocol.startsWith("vite-")) upstream.upgrade(request, socket, head);
      });
    },
  };
}
