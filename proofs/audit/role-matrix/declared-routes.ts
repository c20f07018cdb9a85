import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeclaredRoute } from "@resontech/coordinator/route-config";
import { startS3Engine } from "@resontech/coordinator/testing/s3-engine";
import { makeTestApp } from "@resontech/coordinator/testing/test-app";

/** What the API's routes declare, read of the same app that the coordinator serves. */
export async function declaredRoutes(): Promise<readonly DeclaredRoute[]> {
  const dir = mkdtempSync(join(tmpdir(), "rt-routes-"));
  const engine = await startS3Engine(dir);
  try {
    const api = await makeTestApp(join(dir, "app"), engine);
    const routes = api.app.declaredRoutes;
    await api.close();
    return routes;
  } finally {
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
