import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Sidecar } from "../../src/auditd/sidecar.ts";
import { hasRoom, temporaryFolder } from "../helper.ts";

const disclosing = (index: number) => ({
  index,
  disclosures: [{ field: "src.addr", commitment: "c".repeat(64), salt: "5".repeat(64), value: `10.0.0.${index}` }],
});
const indices = (folder: string) =>
  readdirSync(folder)
    .sort()
    .flatMap((name) =>
      readFileSync(join(folder, name), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).index),
    );

t.test("keeps lines in order over its files, and cuts those of leaves that did not make it", async (t) => {
  const folder = join(temporaryFolder(t), "disclosures");
  const sidecar = await Sidecar.open(folder, 0, hasRoom);
  await sidecar.append([disclosing(1), disclosing(5), disclosing(65_535), disclosing(65_536), disclosing(65_540)]);
  await sidecar.append([disclosing(131_072)]);
  await sidecar.close();
  t.same(readdirSync(folder), ["00000000.jsonl", "00000001.jsonl", "00000002.jsonl"]);
  await Sidecar.open(folder, 131_073, hasRoom);
  t.same(indices(folder), [1, 5, 65_535, 65_536, 65_540, 131_072]);
  await Sidecar.open(folder, 65_540, hasRoom);
  t.same(indices(folder), [1, 5, 65_535, 65_536], "an index that was cut may be given again");
  appendFileSync(join(folder, "00000001.jsonl"), '{"index":65537,"field":"src.a');
  await Sidecar.open(folder, 65_540, hasRoom);
  t.same(indices(folder), [1, 5, 65_535, 65_536], "a torn line goes");
  const again = await Sidecar.open(folder, 65_540, hasRoom);
  await again.append([disclosing(65_540)]);
  await again.close();
  t.same(indices(folder), [1, 5, 65_535, 65_536, 65_540]);
});
