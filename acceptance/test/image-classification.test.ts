/** Trained weights from a package on the installed appliance: deployed and called by the unmodified client, as the public example of image classification is. */
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LocalAppliance, repository } from "@resontech/house/local-appliance";
import { Workstation } from "@resontech/house/workstation";
import { classifierPackages } from "./helper/classifier-packages.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

t.setTimeout(600_000);

t.test("a photograph gets the label that the trained weights give", async (t) => {
  const { code, weights, photograph } = await classifierPackages();
  const work = join(t.testdir(), "work");
  const example = join(repository, "acceptance", "test", "jobs", "image-classification");
  mkdirSync(work);
  cpSync(join(example, "scripts"), join(work, "scripts"), { recursive: true });
  cpSync(code, join(work, "scripts", "efficientnet_lite_pytorch"), {
    recursive: true,
    filter: (path) => !path.endsWith("__pycache__"),
  });
  cpSync(weights, join(work, "classifier.pt"));
  cpSync(photograph, join(work, "person.jpg"));
  const workstation = await Workstation.open(appliance, work, example);
  const printed = await workstation.python(["/example/submit.py"]);
  const told = JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  t.match(told, {
    person: { image_size: { width: 512, height: 600 } },
    ...{ many: 4, not_an_image: /./ },
    health: { status: "ok", weights: true },
  });
  const { predictions } = told["person"] as {
    predictions: { class_name: string; score: number }[];
  };
  t.equal(predictions.length, 5);
  // Of a thousand labels, untrained weights give each a thousandth.
  const uniform = predictions.find(({ class_name }) => class_name === "military uniform");
  t.ok((uniform?.score ?? 0) > 0.1, JSON.stringify(predictions));
  t.same((told["as_base64"] as typeof told)["predictions"], predictions);
  await appliance.command(["job", "cancel", String(told["id"]), "--reason", "seen"]);
});
