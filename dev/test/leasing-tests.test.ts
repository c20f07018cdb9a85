import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { leasingTests } from "../tests/leasing-tests.ts";

const imports: [string, string[]][] = [
  ["a/test/signs-in.engines.test.ts", ["a/test/helper/house.ts"]],
  ["a/test/helper/house.ts", ["house/src/keycloak/running-keycloak.ts"]],
  ["house/src/keycloak/running-keycloak.ts", ["house/src/pool-client.ts"]],
  ["a/test/decides.test.ts", ["a/src/a.ts"]],
  ["acceptance/test/people.test.ts", ["a/test/helper/house.ts"]],
];
const sources = new Map(imports.map(([file, imported]) => [file, { imports: imported }]));

t.test("a test leases a Keycloak where it reaches the pool's client", async (t) => {
  t.same(
    [...leasingTests([...sources.keys()], { sources })],
    [
      ...["a/test/signs-in.engines.test.ts", "a/test/helper/house.ts"],
      ...["house/src/keycloak/running-keycloak.ts"],
    ],
  );
});

t.test("the client of the pool lies where it is looked for", async (t) => {
  const client = join(import.meta.dirname, "..", "..", "house", "src", "pool-client.ts");
  t.match(readFileSync(client, "utf8"), "export async function leaseKeycloak(");
});
