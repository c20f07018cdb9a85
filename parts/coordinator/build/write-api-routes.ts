/** Writes the table of the API's routes: `node parts/coordinator/build/write-api-routes.ts` after a change of one. A test compares it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { API_ROUTES_FILE, apiRoutesText, readContracts } from "./api-routes.ts";
import type { S3Engine } from "../test/helper/s3-engine.ts";
import { makeTestApp } from "../test/helper/test-app.ts";

const dir = mkdtempSync(join(tmpdir(), "rt-api-routes-"));
const noEngine = { endpoint: "", region: "", volumePath: dir } as unknown as S3Engine;
const api = await makeTestApp(dir, noEngine);
const text = apiRoutesText(api.app.declaredRoutes, await readContracts());
await api.close();
rmSync(dir, { recursive: true, force: true });
writeFileSync(API_ROUTES_FILE, text);
