/** Figure 1: what the browser loads first, and whom the pages speak with. */
import { gzipSync } from "node:zlib";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import { PATHS } from "./paths.ts";
import type { World } from "./world.ts";

const MOST_KB = 300;

export async function firstLoad(world: World): Promise<Figure> {
  const page = await world.page(world.owner.userId, { roles: ["platform-admin"] });
  const scripts: Promise<number>[] = [];
  const origins = new Set<string>();
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    // What is in the page already goes to nobody.
    if (protocol !== "data:" && protocol !== "blob:") origins.add(origin.replace(/^ws/, "http"));
  });
  page.on("response", (response) => {
    if (response.request().resourceType() === "script")
      scripts.push(response.body().then((body) => gzipSync(body, { level: 9 }).length));
  });
  await visit(page, `${world.url}/`, { waitUntil: "networkidle" });
  const kb = (await Promise.all(scripts)).reduce((sum, bytes) => sum + bytes, 0) / 1_000;
  for (const path of PATHS) await visit(page, `${world.url}${path}`, { waitUntil: "load" });
  await page.waitForTimeout(1_000);
  await page.context().close();
  const own = new URL(world.url).origin;
  const store = new URL(world.house.running.config.s3.endpoint).origin;
  const foreign = [...origins].filter((origin) => origin !== own && origin !== store);
  return {
    goal: `at most ${MOST_KB} kB gzip of script at first load; no request but to the own and the object store's address`,
    measured: { script_kb: rounded(kb), pages: PATHS.length + 1, foreign_addresses: foreign },
    met: kb > 0 && kb <= MOST_KB && foreign.length === 0,
  };
}
