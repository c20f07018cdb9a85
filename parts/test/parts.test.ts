/** What all declarations must be together, and what no later one may change. */
import { UID_OFFSETS } from "@resontech/contracts/appliance-config";
import {
  type PartDeclaration,
  type PartFacts,
  secretOf,
  socketOf,
} from "@resontech/frame/define-part";
import { processConfigOf, processConfigSchema } from "@resontech/frame/process-config";
import t from "tap";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { dataFolders, firstDataBytes, PARTS, userOffsets } from "../index.ts";
import { NODE_PARTS } from "../node-parts.ts";
import { factsIn, SECRET_VALUE } from "./helper/facts-in.ts";

/** Files of installed appliances belong to these. */
const USERS: Readonly<Record<string, number | "root">> = {
  ...{ coordinator: 0, "s3-front": 1, auditd: 2, "audit-out": 3, vault: 4, dispatcher: 5, door: 6 },
  ...{ notifier: 7, serving: 8, nats: 10, s3: 11, registry: 12, postgres: 13, keycloak: 14 },
  ...{ prometheus: 15, shared: 20 },
  ...{ agent: "root", follower: "root", podman: "root" },
};

function derivedConfig(
  part: PartDeclaration,
  facts: PartFacts,
): { schema: TSchema; config: unknown } | null {
  if ("config" in part)
    return { schema: processConfigSchema(part), config: processConfigOf(part, facts) };
  const own = "ownConfig" in part ? part.ownConfig : "hosts" in part ? part.hostConfig : undefined;
  return own === undefined ? null : { schema: own.schema, config: own.from(facts) };
}

t.test("each process has the user that it always had, and none has another's", async (t) => {
  t.same(
    { ...UID_OFFSETS, ...Object.fromEntries(PARTS.map(({ name, user }) => [name, user])) },
    USERS,
  );
  t.equal(new Set(userOffsets()).size, userOffsets().length);
  t.notOk(userOffsets().some((offset) => typeof offset !== "number"));
});

t.test("keys of log and vault are their parts' own: no backup has them", async (t) => {
  const keepers = PARTS.filter(({ keepsSecrets }) => keepsSecrets === true);
  t.same(keepers.map(({ name }) => name).toSorted(), ["auditd", "vault"]);
});

t.test("each folder of data is one part's", async (t) => {
  t.equal(new Set(dataFolders()).size, dataFolders().length);
  t.ok(dataFolders().includes("notifier"));
});

t.test("what a part's configuration is derived to be is what it reads", async (t) => {
  const facts = factsIn("/opt/resontech", "a".repeat(40));
  for (const part of PARTS) {
    const derived = derivedConfig(part, facts);
    if (derived !== null) t.same([...Value.Errors(derived.schema, derived.config)], [], part.name);
  }
  t.same(
    PARTS.filter((part) => derivedConfig(part, facts) === null).map(({ name }) => name),
    [
      ...["door", "nats", "s3", "registry", "postgres", "keycloak"],
      "prometheus",
      "follower",
      "podman",
    ],
    "engines, containers, and what reads no file of its own",
  );
});

t.test("each socket fits into an address of the kernel, and is one part's", async (t) => {
  const { layout } = factsIn("/opt/resontech", "a".repeat(40));
  const paths = PARTS.flatMap((part) =>
    Object.keys(part.sockets).map((socket) => socketOf(part, layout, socket)),
  );
  for (const path of paths) t.ok(path.length <= 107, path);
  t.equal(new Set(paths).size, paths.length);
});

t.test("whoever a socket is for is a part", async (t) => {
  const names = new Set(["root", ...PARTS.map(({ name }) => name)]);
  for (const { name, sockets } of PARTS)
    for (const { for: peer } of Object.values(sockets)) t.ok(names.has(peer), `${name}: ${peer}`);
});

t.test("what an engine is given names no file that it is not given", async (t) => {
  const facts = factsIn("/opt/resontech", "main");
  const engines = PARTS.filter((part) => "engine" in part);
  t.ok(engines.length > 0);
  for (const part of engines) {
    const given = [...part.files, ...(part.secrets ?? [])].map(({ name }) =>
      secretOf(part, facts.layout, name),
    );
    const named = part
      .args(facts)
      .flatMap((arg) => arg.match(/\/opt\/[^,]*\/secrets\/[^,]*/) ?? []);
    t.same(
      named.filter((file) => !given.includes(file)),
      [],
      part.name,
    );
    for (const { text } of part.files) t.ok(text(facts).length > 0);
  }
});

t.test(
  "a container is given no secret by its command line, and mounts its own alone",
  async (t) => {
    const facts = factsIn("/opt/resontech", "main");
    const containers = PARTS.filter((part) => "image" in part);
    t.same(containers.map(({ name }) => name).toSorted(), ["keycloak", "postgres"]);
    for (const part of containers) {
      const { args, binds } = part.container(facts);
      t.notMatch(args.join(" "), SECRET_VALUE);
      for (const bind of binds.filter((one) => one.includes("/secrets")))
        t.equal(bind, `${secretOf(part, facts.layout)}:/secrets:ro`);
    }
  },
);

t.test("the operator reads how much they take of a disk", async (t) => {
  t.equal(firstDataBytes(), 1.5 * 1024 ** 3, "docs/operator/disks.md has this number");
});

t.test("what runs on a node is declared for nodes, in the order of need", async (t) => {
  const onNodes = PARTS.filter((part) => "hosts" in part && part.hosts.includes("node"));
  t.same(onNodes, NODE_PARTS);
});

t.test("parts start after parts that are there", async (t) => {
  const names = new Set(PARTS.map(({ name }) => name));
  for (const { name, after } of PARTS)
    for (const before of after) t.ok(names.has(before), `${name} after ${before}`);
});
