/** The Python of parts/agent/runners: its own decisions, and whole attempts that succeed. */
import t from "tap";
import { jobPackages, runUnittest, testAttempts } from "./helper/python-tests.ts";

t.test("the runner's own decisions", async (t) => {
  const { status, output } = await runUnittest("test_units");
  t.equal(status, 0, "every unit test passes", { output });
  t.match(output, /Ran \d\d tests/);
});

t.test(
  "what members of a distributed training decide, and how they reach one another",
  async (t) => {
    const { status, output } = await runUnittest("test_distributed");
    t.equal(status, 0, "every unit test passes", { output });
    t.match(output, /Ran [1-9]\d* tests/);
  },
);

t.test("what the programs of replicas decide, and a predictor served", async (t) => {
  const suites = [
    "test_engine",
    "test_llama_units",
    "test_vllm_units",
    "test_replica",
    "test_tools",
  ];
  for (const suite of [...suites, "test_predictor"]) {
    const { status, output } = await runUnittest(suite);
    t.equal(status, 0, suite, { output });
    t.match(output, /Ran [1-9]\d* tests/);
  }
});

const packages = jobPackages();
t.test(
  "arrays that a predictor returned are read back by safetensors",
  { skip: packages === null && "no job image in .cache/airgap: build a bundle first" },
  async (t) => {
    const { status, output } = await runUnittest("test_tensors", packages ?? {});
    t.equal(status, 0, "every unit test passes", { output });
    t.match(output, /Ran [1-9]\d* tests/);
  },
);

testAttempts(t, "test_attempts", {
  Success: "a whole federated attempt succeeds and tells its rounds",
});
