import t from "tap";
import {
  type ComparedRelease,
  describePlan,
  planUpgrade,
} from "../../src/upgrade/decisions/upgrade-plan.ts";

const file = (path: string, sha256: string) => ({ path, sha256, sizeBytes: 1, executable: false });
const image = (repository: string, digest: string, unpackedBytes?: number) =>
  ({ repository, digest, ...(unpackedBytes === undefined ? {} : { unpackedBytes }) }) as never;
const engines = (keycloak: string): ComparedRelease["engines"] => ({
  keycloak: { version: keycloak, licence: "Apache-2.0", source: "maven:keycloak" },
});
const holding = (isStored: (sha256: string) => boolean) => ({ isStored, databaseBytes: 61e6 });
const from: ComparedRelease = {
  version: "1.0.0",
  engines: engines("26.7.3"),
  tree: [file("app/coordinator.mjs", "a"), file("app/agent.mjs", "b"), file("docs/old", "c")],
  images: [image("keycloak", "k", 10), image("fl-cpu", "f", 20), image("gone", "g", 1)],
};
const to = {
  version: "1.1.0",
  engines: engines("26.7.3"),
  tree: [file("app/coordinator.mjs", "A"), file("app/agent.mjs", "b"), file("engines/nats", "n")],
  images: [image("keycloak", "k", 10), image("fl-cpu", "F", 7e6), image("serve-cpu", "s", 3e6)],
  blobs: [
    { sha256: "A", sizeBytes: 2e6 },
    { sha256: "b", sizeBytes: 9e6 },
    { sha256: "n", sizeBytes: 1e6 },
  ],
};

t.test("a plan counts what is other, new and gone, and what has to be read in", async (t) => {
  t.same(
    planUpgrade(
      from,
      to,
      holding((sha256) => sha256 === "b"),
    ),
    {
      programs: ["coordinator", "nats"],
      files: { changed: 3, of: 4 },
      images: [
        { name: "keycloak", change: "same" },
        { name: "fl-cpu", change: "other" },
        { name: "serve-cpu", change: "new" },
        { name: "gone", change: "gone" },
      ],
      newBytes: 3e6,
      keptDatabase: null,
      unpackedBytes: 10e6,
    },
  );
});

t.test("a release that does not say what its images take unpacked is not guessed at", async (t) => {
  const silent = { ...to, images: [image("keycloak", "k"), image("fl-cpu", "F")] };
  t.equal(
    planUpgrade(
      from,
      silent,
      holding(() => true),
    ).unpackedBytes,
    null,
  );
});

t.test("a person reads the plan in lines that fit a terminal", async (t) => {
  const many = Array.from({ length: 40 }, (_, at) => `program-${at}`);
  const plan = {
    ...planUpgrade(
      from,
      to,
      holding(() => false),
    ),
    programs: many,
  };
  const lines = describePlan(plan, 14_200);
  t.ok(
    lines.every((line) => line.length <= 100),
    lines.join("\n"),
  );
  const text = lines.join("\n");
  for (const name of many) t.match(text, name);
  t.match(text, /fl-cpu \(other\), serve-cpu \(new\), gone \(gone\); 1 stay/);
  t.match(text, /12 MB to import, 10 MB of images/);
  t.match(text, /healthy after 15 s the last time/);
});

t.test("another Keycloak costs a copy of people's database, and the plan says so", async (t) => {
  const plan = planUpgrade(
    from,
    { ...to, engines: engines("27.0.0") },
    holding(() => true),
  );
  t.same(plan.keptDatabase, { from: "26.7.3", to: "27.0.0", bytes: 61e6 });
  t.match(describePlan(plan, null).join("\n"), /Keycloak 26\.7\.3 → 27\.0\.0; .* 61 MB/);
});
