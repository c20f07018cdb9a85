/** `appliance config` on the files of an install, with the real auditd. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PARTS } from "@resontech/parts";
import { coordinator } from "@resontech/coordinator/part";
import { userOf } from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import { Command } from "commander";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { config as installed } from "@resontech/installer/testing/request";
import { addConfigCommands } from "../../src/commands/config-commands.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { prepare } from "../../src/first-boot/prepare.ts";
import type { PartContext } from "../../src/parts/context.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const LATER = "of a later release";

async function house(t: Test) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `config-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const policies = layout.release("app", "policies");
  mkdirSync(policies, { recursive: true });
  writeFileSync(
    join(policies, "retention.json"),
    JSON.stringify({ leavesYears: 10, disclosuresMonths: 12, anonymousMonths: 3 }),
  );
  mkdirSync(layout.etc, { recursive: true });
  const config = { ...installed, instance: layout.instance, name: "localhost", agent: null };
  writeFileSync(layout.configFile, JSON.stringify({ ...config, later: LATER }));
  const context = (): PartContext => ({
    ...{ layout, config: loadConfig(layout.configFile), parts: PARTS },
    release: {
      version: "1",
      images: [],
      tree: [],
      engines: {},
    } as unknown as PartContext["release"],
  });
  await prepare(context());
  const said: unknown[] = [];
  const restarted: string[] = [];
  const run = async (...words: string[]): Promise<unknown> => {
    const program = new Command("appliance").exitOverride();
    addConfigCommands(
      program,
      {
        openContext: context,
        ask: () => Promise.reject(new Error("the coordinator is not asked")),
        print: (value) => said.push(value),
        table: (_head, rows, none) => said.push(rows.length === 0 ? none : rows),
        say: (line) => said.push(line),
      },
      async (parts) => void restarted.push(...parts),
    );
    await program.parseAsync(["config", ...words], { from: "user" });
    return said.at(-1);
  };
  const file = join(root, "settings.json");
  const write = (document: unknown): Buffer => {
    writeFileSync(file, JSON.stringify(document));
    return readFileSync(file);
  };
  return { root, layout, context, run, said, restarted, file, write };
}

t.test("what is shown is what applying it changes nothing of", asRoot, async (t) => {
  const { run, write, file, layout } = await house(t);
  const shown = await run("show", "--json");
  t.match(shown, {
    formatVersion: 1,
    appliance: { bucketQuotaBytes: installed.bucketQuotaBytes, unwitnessed: null },
    parts: { notifier: { "alerts.json": null }, serving: {}, "audit-out": {} },
  });
  write(shown);
  t.match(await run("diff", file, "--json"), { changes: [] });
  t.equal(process.exitCode ?? 0, 0);
  const before = readFileSync(layout.configFile, "utf8");
  t.match(await run("apply", file, "--json"), { changes: [], restarts: [] });
  t.equal(readFileSync(layout.configFile, "utf8"), before);
});

t.test(
  "a file is set as a whole, on record, and whoever reads it anew is told",
  asRoot,
  async (t) => {
    const { root, run, write, file, layout, context, restarted, said } = await house(t);
    const socket = layout.run("audit", "appliance", "sock");
    const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
    await auditd.start();
    const outbound = { formatVersion: 1, hosts: [{ host: "data.example.org", port: 443 }] };
    const bytes = write({
      formatVersion: 1,
      appliance: { bucketQuotaBytes: 4_096, hangAfterMinutes: 7 },
      parts: { serving: { "outbound.json": outbound } },
    });
    await run("diff", file);
    t.equal(process.exitCode, 3);
    process.exitCode = 0;
    t.notOk(context().config.hangAfterMinutes, "a look changes nothing");
    t.same(
      await run("apply", file),
      "in force once they start anew: appliance restart coordinator",
    );
    t.same(said.at(-2), [
      ["appliance.bucketQuotaBytes", String(installed.bucketQuotaBytes), "4096"],
      ["appliance.hangAfterMinutes", "-", "7"],
      ["serving/outbound.json", "-", JSON.stringify(outbound)],
    ]);
    t.match(context().config, { bucketQuotaBytes: 4_096, hangAfterMinutes: 7 });
    t.match(JSON.parse(readFileSync(layout.configFile, "utf8")), { later: LATER, agent: null });
    t.match(JSON.parse(readFileSync(layout.processConfig("coordinator"), "utf8")), {
      ...{ hangAfterMinutes: 7, s3: { bucketQuotaBytes: 4_096 } },
    });
    t.same(JSON.parse(readFileSync(layout.setting("outbound.json"), "utf8")), outbound);
    const { mode, gid } = statSync(layout.setting("outbound.json"));
    t.same([mode & 0o777, gid], [0o440, installed.uidBase + 8]);
    t.equal(statSync(layout.processConfig("coordinator")).gid, userOf(installed, coordinator));

    write({
      formatVersion: 1,
      appliance: { hangAfterMinutes: null },
      parts: { serving: { "outbound.json": null } },
    });
    await run("apply", file, "--restart");
    t.same(restarted, ["coordinator"]);
    t.notOk(context().config.hangAfterMinutes);
    t.match(await run("show", "--json"), { parts: { serving: { "outbound.json": null } } });
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "admin.config");
    t.match(
      leaves.map(({ phase }) => phase),
      ["requested", "completed", "requested", "completed"],
    );
    t.match(leaves[0]?.detail, {
      changed: [
        "appliance.bucketQuotaBytes",
        "appliance.hangAfterMinutes",
        "serving:outbound.json",
      ],
      file_sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  },
);

t.test(
  "a target whose secret is not here is refused, and nothing is changed",
  asRoot,
  async (t) => {
    const { run, write, file, context, layout } = await house(t);
    const target = { kind: "webhook", name: "pager", url: "https://pager.example/x" };
    write({
      formatVersion: 1,
      appliance: { hangAfterMinutes: 9 },
      parts: { notifier: { "alerts.json": { formatVersion: 1, targets: [target] } } },
    });
    await t.rejects(run("apply", file), {
      code: "settings_secrets_missing",
      message: /secrets\/notifier\/pager\.secret/,
    });
    t.notOk(context().config.hangAfterMinutes);
    await t.rejects(run("apply", layout.configFile), { code: "settings_invalid" });
    await t.rejects(run("diff", join(layout.etc, "none")), { code: "settings_invalid" });
  },
);
