/**
 * `node audit/build/keep-schema-set.ts RELEASE`: keeps the present schema set in `src/format/event/kept-sets.json` under the name of a release that is about
 * to be made, so that later releases of auditd take its producers' events. A set that is kept already stays as it is.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EVENT_TYPES, leafSchema } from "@resontech/contracts/audit-catalogue";
import { SCHEMA_SHA256 } from "../src/format/event/schema-digest.ts";
import { KEPT_SETS, type KeptSet, type KeptSets } from "../src/format/event/kept-sets.ts";

type Leaf = KeptSet["shared"];

export function presentSet(release: string): KeptSet {
  const leaves = EVENT_TYPES.map(
    (type) => [type, JSON.parse(JSON.stringify(leafSchema(type))) as Leaf] as const,
  );
  const [, first] = leaves[0]!;
  const isShared = (name: string): boolean =>
    leaves.every(([, { properties }]) =>
      isDeepStrictEqual(properties[name], first.properties[name]),
    );
  const shared = Object.fromEntries(
    Object.entries(first.properties).filter(([name]) => isShared(name)),
  );
  const narrowed = ({ properties }: Leaf) =>
    Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(shared, name)));
  return {
    release,
    shared: { ...first, properties: shared },
    types: Object.fromEntries(leaves.map(([type, leaf]) => [type, narrowed(leaf)])),
  };
}

if (import.meta.main) {
  const [release] = process.argv.slice(2);
  if (release === undefined)
    throw new Error("the release is missing: node audit/build/keep-schema-set.ts 0.2.0");
  const kept: KeptSets = { [SCHEMA_SHA256]: presentSet(release), ...KEPT_SETS };
  writeFileSync(
    join(import.meta.dirname, "../src/format/event/kept-sets.json"),
    `${JSON.stringify(kept, null, 1)}\n`,
  );
}
