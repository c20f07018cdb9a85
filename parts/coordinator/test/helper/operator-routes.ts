import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildControlApp, type ControlAppDeps } from "../../src/control-app.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import type { DeclaredRoute } from "../../src/http/route-config.ts";

/** What the routes on root's socket declare, read of the same app that the coordinator serves; none of them can answer. Each schema is compiled. */
export async function operatorRoutes(): Promise<readonly DeclaredRoute[]> {
  const dir = mkdtempSync(join(tmpdir(), "rt-operator-"));
  const database = openDatabase(join(dir, "coordinator.db"));
  try {
    const parts = { read: database.read, now: Date.now, logger: pino({ level: "silent" }) };
    const deps = { ...parts, schemasCompiled: "at start" } as unknown as ControlAppDeps;
    const app = await buildControlApp(deps);
    await app.ready();
    const routes = app.declaredRoutes;
    await app.close();
    return routes;
  } finally {
    database[Symbol.dispose]();
    rmSync(dir, { recursive: true, force: true });
  }
}
