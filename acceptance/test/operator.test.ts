/** What the operator of the installed appliance does with `appliance`: keys, users, jobs, nodes, and looks at the host. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
t.not(root, "", "npm test gives the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const json = async <T>(...args: string[]): Promise<T> =>
  JSON.parse(await appliance.command([...args, "--json"])) as T;
type Key = { key: string; state: string; expiresAt: string };

t.test(
  "a user is made, seen, given a quota, disabled and enabled; the key is renewed and revoked",
  async (t) => {
    await appliance.command(["add-user", "operated"]);
    const [key] = await json<Key[]>("key", "ls", "--user", "operated");
    t.equal(key?.state, "living");
    const renewed = await json<Key>("key", "renew", key!.key, "--days", "120");
    t.ok(Date.parse(renewed.expiresAt) > Date.parse(key!.expiresAt));
    await appliance.command(["user", "quota", "operated", "5GB"]);
    await appliance.command(["user", "disable", "operated"]);
    t.match(await json("user", "show", "operated"), {
      user: { isDisabled: true, quotaBytes: 5e9 },
    });
    t.match(JSON.parse(await appliance.command(["user", "enable", "operated"])), {
      secretAccessKey: /.{20}/,
    });
    await appliance.command(["key", "revoke", key!.key]);
    t.match(await json("key", "ls", "--user", "operated"), [{ state: "revoked" }]);
    t.match(await appliance.command(["user", "ls"]), /operated +user/);
  },
);

t.test(
  "nodes are listed, drained and given back; jobs, disks, certificates and logs are shown",
  async (t) => {
    const [node] = await json<{ node: string; drained: string | null }[]>("node", "ls");
    t.equal(node?.drained, null);
    await appliance.command(["node", "drain", node!.node]);
    t.match(await json("node", "show", node!.node), { node: { drained: /operator/ } });
    await appliance.command(["node", "undrain", node!.node]);
    t.match(await json("node", "ls"), [{ drained: null }]);
    t.ok(Array.isArray(await json("job", "ls", "--all")));
    t.match(await json("disk"), [{ freeBytes: Number }]);
    t.ok(
      (await json<{ daysLeft: number }[]>("certificates")).every(({ daysLeft }) => daysLeft > 300),
    );
    t.match(
      await appliance.command(["logs", "coordinator", "-n", "500"]),
      /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} coordinator info/,
    );
    t.match(await appliance.command(["logs", "-n", "3"]), / auditd /);
    t.match(await appliance.command(["ca", "show", "--pem"]), /^-----BEGIN CERTIFICATE-----/);
  },
);

t.test("what is set is kept in a file, compared, set and taken back", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "rt-settings-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, settings: unknown): string => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(settings));
    return file;
  };
  const before = await json("config", "show");
  const allowed = await json("outbound", "ls");
  const kept = write("before.json", before);
  t.same(
    await json("config", "diff", kept),
    { changes: [], outdated: [] },
    "all runs as it is set",
  );
  const hosts = [{ host: "data.example.org", port: 443 }];
  const wanted = write("wanted.json", {
    formatVersion: 1,
    parts: { serving: { "outbound.json": { formatVersion: 1, hosts } } },
  });
  t.match(await json("config", "apply", wanted), {
    changes: [{ name: "serving/outbound.json" }],
    restarts: [],
  });
  t.match(await json("outbound", "ls"), { hosts });
  t.match(await json("config", "apply", kept), { changes: [{ name: "serving/outbound.json" }] });
  t.match(await json("config", "diff", kept), { changes: [] });
  t.same(await json("outbound", "ls"), allowed);
});

t.test(
  "a part that was not started anew is told of, and who goes back restarts nobody",
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "rt-settings-"));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const fileOf = (name: string, value: unknown): string => {
      const file = join(folder, name);
      const parts = { "audit-out": { "audit-sinks.json": value } };
      writeFileSync(file, JSON.stringify({ formatVersion: 1, parts }));
      return file;
    };
    const wanted = fileOf("wanted.json", { witnessCaFile: "/etc/witness.crt" });
    t.match(await json("config", "apply", wanted), { restarts: ["audit-out"], restarted: false });
    const { status, stdout } = spawnSync(
      join(root, "current", "bin", "appliance"),
      ["--root", root, "config", "diff", wanted, "--json"],
      { encoding: "utf8" },
    );
    t.same([status, JSON.parse(stdout)], [3, { changes: [], outdated: ["audit-out"] }]);
    t.match(await json("config", "apply", wanted), { changes: [], restarts: ["audit-out"] });
    const before = fileOf("before.json", null);
    await json("config", "apply", before);
    t.same(await json("config", "diff", before), { changes: [], outdated: [] });
  },
);
