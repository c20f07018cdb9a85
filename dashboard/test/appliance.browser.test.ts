/** The page of the appliance in a real browser, on what a supervisor writes. */
import { writeFileSync } from "node:fs";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import { DashboardHouse } from "./helper/dashboard-house.ts";

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;
t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const root = await house.addUser("root");
const factsFile = house.running.config.metrics?.factsFile ?? "";

async function pageOfAdministrator() {
  const roles = ["platform-admin"] as const;
  const context = await house.windowOf(root.userId, {
    roles,
    width: 1440,
    height: 900,
    bypassPolicy: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${house.running.url}/dashboard/appliance`);
  await page.getByRole("heading", { level: 1, name: "Appliance" }).waitFor();
  return page;
}

t.test("a host of which nobody wrote is a fault on the page, not a calm one", async (t) => {
  const page = await pageOfAdministrator();
  await page.getByText("nothing is known of the host").waitFor();
  t.equal(await page.getByRole("region", { name: "Disks" }).count(), 0);
});

t.test(
  "parts, disks, alerts, backups, certificates and releases are seen at a glance",
  async (t) => {
    const now = Date.now();
    writeFileSync(
      factsFile,
      JSON.stringify(
        factsOfHost({
          at: now,
          parts: [
            partFact({ part: "coordinator", since: now - DAY_MS, version: "0.2.0" }),
            partFact({
              ...{
                part: "vault",
                isHealthy: false,
                phase: "exited",
                memoryBytes: null,
                restarts: 4,
              },
              ...{ lastExit: "SIGKILL" },
              lines: [
                { at: now - 9_000, level: "warn", text: "the disk is slow" },
                { at: now - 8_000, level: "fatal", text: "stopping after an error" },
              ],
            }),
          ],
          disks: [
            {
              ...{ holds: "logs", totalBytes: 100 * GIB, freeBytes: 90 * GIB },
              ...{ totalInodes: 10, freeInodes: 9 },
            },
            {
              ...{ holds: "database, audit log", totalBytes: 100 * GIB, freeBytes: 11 * GIB },
              ...{ totalInodes: 10, freeInodes: 9, refusesBelowBytes: 12 * GIB },
            },
          ],
          certificates: [
            { file: "etc/ca/root.crt", expiresAt: now + 3_000 * DAY_MS },
            { file: "etc/secrets/door/server.crt", expiresAt: now + 40 * DAY_MS },
          ],
          backup: backupFact({ takenAt: now - DAY_MS, nextAt: now + DAY_MS }),
          releases: [
            { version: "0.2.0", isCurrent: true, since: now - DAY_MS },
            { version: "0.1.0", isCurrent: false, since: now - 9 * DAY_MS },
          ],
          alerts: [
            {
              ...{ alert: "PartDown", severity: "critical", since: now - 60_000 },
              ...{ summary: "The part vault is not healthy.", todo: "Run `appliance logs vault`." },
              runbook: "part-down",
            },
          ],
          findings: [
            {
              ...{ severity: "fault", code: "part_down", what: "vault does not run: SIGKILL" },
              todo: "appliance logs vault",
            },
            ...Array.from({ length: 40 }, (_, n) => ({
              ...{ severity: "fault" as const, code: "worker_unhealthy" },
              ...{ what: `worker gpu-${n} takes no work`, todo: "look at its device" },
            })),
          ],
        }),
      ),
    );
    const page = await pageOfAdministrator();
    const findings = page.getByRole("region", { name: "What is wrong" });
    await findings.getByText("vault does not run: SIGKILL").waitFor();
    const alike = findings.getByRole("listitem").filter({ hasText: "worker gpu-" });
    t.equal(await alike.count(), 3, "those that are alike are counted");
    await findings.getByRole("button", { name: /^Show 37 more like these/ }).press("Enter");
    await findings.getByText("worker gpu-39 takes no work").waitFor();
    await findings.getByRole("button", { name: /^Show fewer/ }).click();
    const disks = await page
      .getByRole("region", { name: "Disks" })
      .getByRole("listitem")
      .allInnerTexts();
    t.match(
      disks[0],
      /database, audit log[\s\S]*89 % used, 11\.0 GiB of 100 GiB left; below 12\.0 GiB/,
    );
    const vault = page.getByRole("row", { name: /ended vault/ });
    t.match(await vault.innerText(), /4\s[\s\S]*SIGKILL/);
    await vault.getByText("stopping after an error").first().click();
    await vault.getByText("the disk is slow").waitFor();
    const [first] = await page
      .getByRole("table", { name: "Certificates, those that end first" })
      .getByRole("row")
      .filter({ hasText: ".crt" })
      .allInnerTexts();
    t.match(first, /40 d[\s\S]*server\.crt/);
    await page.getByText("The part vault is not healthy.").waitFor();
    await page.getByText("as planned").waitFor();
    t.match(
      await page.getByRole("table", { name: "Releases on this host" }).innerText(),
      /0\.2\.0\s+running[\s\S]*0\.1\.0\s+kept/,
    );
    await page.getByText("When they fill is not known").waitFor();
    await page.getByText("Earlier alerts are not known").waitFor();
    t.same(await accessibilityFaults(page), []);
    await page.getByText("Runbook", { exact: true }).click();
    await page.getByText("there is no runbook part-down").waitFor();
    const shots = process.env["RT_TEST_SHOTS"];
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/appliance.png`, fullPage: true });
  },
);
