import t from "tap";
import type { JobParametersReply } from "../../src/http/http-jobs.ts";
import { parameterRows } from "../../src/compare/parameter-rows.ts";

const WORDS = { projectName: () => "Lab", size: String };
const PARAMETERS: JobParametersReply = {
  ...{ name: "a", kind: "federation", projectId: "p", script: null, arguments: [] },
  ...{
    environment: {},
    gpuModels: null,
    workerIds: null,
    onlyMineWorkers: false,
    workersPerMember: 1,
    cpusPerMember: null,
    hostMemoryMbPerMember: null,
    ranks: null,
    strategy: null,
  },
  ...{
    maxPricePerGpuHourCents: null,
    estimatedMemoryMb: null,
    timeLimitMinutes: null,
    class: null,
    preemptible: null,
    pool: null,
  },
  images: [{ profile: "fl-cpu", reference: `r/fl-cpu@sha256:${"a".repeat(64)}` }],
  ...{ rounds: 3, minSites: 2, codeDigest: "c".repeat(64) },
  inputs: [
    { kind: "script", key: "k", versionId: "v", sizeBytes: 16, path: "scripts/a.py", etag: '"1"' },
    { kind: "shard", key: "z", versionId: "v", sizeBytes: 16, path: "shard.zip", etag: '"2"' },
  ],
};

t.test(
  "what differs stands first, file by file; what is not known differs from nothing",
  async (t) => {
    const other: JobParametersReply = {
      ...{ ...PARAMETERS, codeDigest: "d".repeat(64), timeLimitMinutes: 5 },
      ...{ ranks: 4, strategy: "fsdp" },
      arguments: ["--level", "it's 2"],
      inputs: PARAMETERS.inputs.map((input) =>
        input.kind === "script" ? { ...input, etag: '"9"' } : input,
      ),
    };
    const rows = parameterRows([PARAMETERS, other, null], WORDS);
    const differing = rows.filter(({ isDifferent }) => isDifferent);
    t.same(
      differing.map(({ name, cells }) => [name, ...cells]),
      [
        ["Code", "cccccccccccc", "dddddddddddd", "–"],
        ["Arguments", "–", "--level 'it'\\''s 2'", "–"],
        ["Ranks", "–", "4", "–"],
        ["Strategy", "–", "fsdp", "–"],
        ["Time limit", "none", "5 min", "–"],
        ["scripts/a.py", "16, 1", "16, 9", "–"],
      ],
    );
    t.same(rows.slice(0, differing.length), differing, "they stand first");
    t.same(rows.find(({ name }) => name === "data of site 1")?.cells, ["16, 2", "16, 2", "–"]);
    t.ok(
      parameterRows([PARAMETERS, { ...PARAMETERS, name: "b" }], WORDS).every(
        ({ isDifferent }) => !isDifferent,
      ),
    );
  },
);
