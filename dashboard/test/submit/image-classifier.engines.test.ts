/** The template of a federated job, trained to its end by the runner and NVFlare of the job image. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { jobImage, runUnittest } from "@resontech/agent/testing/python-tests";
import { templateFolder } from "../../src/pages/submit/template-folder.ts";
import { IMAGE_CLASSIFIER } from "../../src/pages/submit/image-classifier.ts";

t.setTimeout(600_000);

const image = jobImage();
t.test(
  "two sites that have other shapes learn to tell all of them apart",
  { skip: image === null && "no job image in .cache/airgap: build a bundle first" },
  async (t) => {
    const folder = t.testdir();
    for (const { path, file } of templateFolder().files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), new Uint8Array(await file.arrayBuffer()));
    }
    const { status, output } = await runUnittest("test_ready_folder", {
      ...{ ...image, RT_TEST_READY_FOLDER: folder },
    });
    t.equal(status, 0, "the attempt ends well", { output });
    const metrics = [...output.matchAll(/METRIC (.+)$/gm)].map(
      ([, line]) =>
        JSON.parse(line ?? "") as {
          site: string;
          value: { round: number; accuracy?: number; loss?: number };
        },
    );
    const accuracies = metrics
      .filter(({ site, value }) => site === "site-1" && value.accuracy !== undefined)
      .map(({ value }) => value.accuracy ?? 0);
    t.equal(accuracies.length, IMAGE_CLASSIFIER.rounds, output);
    t.ok(accuracies[0]! < 0.6, `it begins knowing little: ${accuracies.join(", ")}`);
    t.ok(accuracies.at(-1)! > 0.9, `it ends knowing them: ${accuracies.join(", ")}`);
  },
);
