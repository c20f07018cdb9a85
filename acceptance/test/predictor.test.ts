/** A predictor on the installed appliance, deployed and called by the unmodified client. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LocalAppliance, repository } from "../../dev/local-appliance.ts";
import { Workstation } from "../../dev/workstation.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

t.setTimeout(300_000);

t.test("client 0.3.0 deploys an echo, waits for it and calls it", async (t) => {
  const work = join(t.testdir(), "work");
  mkdirSync(work);
  const workstation = await Workstation.open(
    appliance,
    work,
    join(repository, "acceptance", "test", "jobs"),
  );
  const printed = await workstation.python(["/example/echo.py"]);
  const told = JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  t.match(told, {
    said: { said: "> hello", bytes: 5 },
    many: Array.from({ length: 20 }, (_, at) => `> ${at}`),
    json: { said: '> {"a": 1}' },
    b64: { said: "> x" },
    health: { status: "ok" },
  });
  await appliance.command(["job", "cancel", String(told["id"]), "--reason", "seen"]);
});
