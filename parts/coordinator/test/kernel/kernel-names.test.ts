import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const KERNEL = join(import.meta.dirname, "..", "..", "src", "kernel");
/** What one kind of job has, and the kernel asks its workload about. */
const OWN = /nvflare|federation|replica|predict|endpoint/giu;
/** Names that rows and agents of other releases have. */
const KEPT = ["replicas_due", "is_replica", "federation_failed"];

t.test("the kernel names nothing that is one workload's own", async (t) => {
  const files = readdirSync(KERNEL, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts"));
  t.ok(sources.length > 40);
  for (const file of sources) {
    const text = readFileSync(join(KERNEL, file), "utf8");
    const own = KEPT.reduce((rest, name) => rest.replaceAll(name, ""), text).match(OWN) ?? [];
    t.same(own, [], file);
  }
});
