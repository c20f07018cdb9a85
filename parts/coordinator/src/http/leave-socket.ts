/**
 * A stop that loses no request: the front door finds the socket gone and says `restarting` to whoever comes, each answer meanwhile ends its
 * connection, and only then the rest is closed. Without it the stop would meet requests that are on their way.
 */
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import fp from "fastify-plugin";

/** In which every connection that the front door uses under load is used once more. */
const DRAIN_MS = 200;

/** For an app that answers while it closes (`return503OnClosing: false`). */
export const leaveSocket = fp(
  async (app) => {
    app.addHook("preClose", async () => {
      const address = app.server.address();
      if (typeof address !== "string") return;
      await rm(address, { force: true });
      await sleep(DRAIN_MS);
    });
  },
  { name: "leave-socket" },
);
