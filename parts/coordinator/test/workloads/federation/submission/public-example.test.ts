/** What the public examples and their readers put into `requirements.txt`, against the job image that the lock pins. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkRequirements } from "../../../../src/workloads/federation/submission/requirements.ts";

type Pin = { name: string; version: string };
const lock = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../../../airgap/lock.json"), "utf8"),
) as {
  pypi: Record<string, Pin[]>;
};
const pins = ["fl-cpu", "vision", "torch"].flatMap((set) => lock.pypi[set] ?? []);
const image = {
  profile: "fl-cpu",
  pythonVersion: "3.11.2",
  packages: Object.fromEntries(pins.map(({ name, version }) => [name, version])),
};

t.test("the lines of the public example job_training_sdk", async (t) => {
  t.doesNotThrow(() =>
    checkRequirements(
      "torch>=2.0\ntorchvision>=0.15\nresontech>=0.2.1\nnvflare\npython-dotenv>=1.0\n",
      image,
    ),
  );
});

t.test("what training scripts import beside torch", async (t) => {
  t.doesNotThrow(() =>
    checkRequirements("numpy\npandas\nscikit-learn\nscipy\nmatplotlib\ntqdm\npillow\n", image),
  );
});
