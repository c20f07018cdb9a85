import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import t from "tap";
import {
  Firewall,
  type Guarded,
} from "../../../../src/substrate/container-host/network/firewall.ts";

const instance = `fw${randomBytes(3).toString("hex")}`;
const table = `resontech-${instance}`;
const firewall = new Firewall(instance);
t.teardown(() => firewall.unload());
const nft = (...args: string[]): string => execFileSync("nft", args, { encoding: "utf8" });

const near: Guarded = { attempt: "near", openings: [] };
const home: Guarded = {
  attempt: "home",
  openings: [{ kind: "server", address: "198.18.1.2", port: 8002 }],
};
const away: Guarded = {
  attempt: "away",
  openings: [{ kind: "gateway", address: "198.18.2.1", port: 29_000 }],
};
const load = () => firewall.load([near, home, away]);

t.test("what was loaded is covered, and nothing else is", async (t) => {
  t.equal(await firewall.covers(near), false, "there is no table yet");
  await load();
  for (const guarded of [near, home, away])
    t.equal(await firewall.covers(guarded), true, guarded.attempt);
  t.equal(await firewall.covers({ attempt: "unknown", openings: [] }), false);
  t.equal(await firewall.covers({ ...home, openings: [] }), false, "more is open than should be");
  t.equal(
    await firewall.covers({ ...near, openings: away.openings }),
    false,
    "less is open than should be",
  );
  t.equal(
    await firewall.covers({
      ...away,
      openings: [{ kind: "gateway", address: "198.18.2.1", port: 29_001 }],
    }),
    false,
  );
});

const tampering: [string, ...(() => unknown)[]][] = [
  [
    "another port of the gateway",
    () => nft("add", "element", "inet", table, "reachable", element(away, "198.18.2.1", 22)),
  ],
  [
    "a rule before ours",
    () => nft("insert", "rule", "inet", table, "input", "tcp", "dport", "22", "accept"),
  ],
  [
    "a rule after ours",
    () => nft("add", "rule", "inet", table, "input", "tcp", "dport", "22", "accept"),
  ],
  ["no rules", () => nft("flush", "chain", "inet", table, "input")],
  ["nothing forbidden to pass", () => nft("flush", "chain", "inet", table, "forward")],
  ["no table", () => nft("delete", "table", "inet", table)],
];
for (const [what, tamper] of tampering)
  t.test(`seen: ${what}`, async (t) => {
    await load();
    tamper?.();
    t.equal(await firewall.covers(away), false);
    t.equal(await firewall.keep(), false);
    t.equal(await firewall.covers(away), true, "loaded anew");
    t.equal(await firewall.keep(), true);
  });

function element({ attempt }: Guarded, address: string, port: number): string {
  return `{ "${firewall.bridge(attempt)}" . ${address} . ${port} }`;
}
