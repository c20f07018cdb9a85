/** The certificate of a node, renewed by the real agent beneath a member that runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeNodeKey } from "../src/join/node-key.ts";
import { untilFound } from "@resontech/house/until-found";
import { TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

const HOUR_MS = 3_600_000;

t.setTimeout(600_000);

t.test(
  "a node renews its certificate in the last third of its life and after its end, and its members go on",
  async (t) => {
    await using node = await TestNode.start();
    const { peer } = node;
    t.teardown(() => t.passing() || t.comment(node.log()));
    // A newer protocol is agreed on.
    peer.trial = () => ({ pull: null, noImage: null });
    peer.firstLife = { from: Date.now() - 3 * HOUR_MS, to: Date.now() + HOUR_MS };
    peer.refuseOnce.set("renew", "storage_unavailable");
    node.run();
    await untilFound("a registration", () => peer.registrations.length === 1);
    const first = node.identity;
    const server = node.member("train-1", { kind: "server" }, [
      await node.input("script", "scripts/model_def.py", "print('user')\n"),
    ]);
    peer.want(server);
    await peer.event(server.member, "started");
    const inits = await node.runningInits();
    t.equal(peer.renewals.bus, 0, "it was refused, and goes on meanwhile");

    await node.kill("SIGTERM");
    node.run();
    t.equal(await node.ended(), 0, "it ends by itself once it has the next one");
    t.equal(peer.renewals.bus, 1);
    node.run();
    await untilFound("it is back", () => peer.registrations.length === 3);
    t.not(node.identity.certPem, first.certPem);
    t.not(node.identity.keyPem, first.keyPem);

    await node.kill();
    const { keyPem, csrPem } = await makeNodeKey("node-a");
    const ended = { from: Date.now() - 3 * HOUR_MS, to: Date.now() - HOUR_MS };
    writeFileSync(join(node.config.dataDir, "node.key"), keyPem);
    writeFileSync(
      join(node.config.dataDir, "node.crt"),
      await node.pki.sign(csrPem, "node-a", ended),
    );
    node.run();
    await untilFound("it is back again", () => peer.registrations.length === 4);
    t.equal(peer.renewals.door, 1);
    t.same(await node.runningInits(), inits, "the member's container runs through all of it");

    const client = node.member("train-1", { kind: "client", index: 0, site: "site-1" }, [
      await node.input("shard", "shard.zip", zipOf([{ name: "data/numbers.csv", body: "1\n" }])),
    ]);
    peer.want(server, client);
    await peer.event(server.member, "released");
    peer.want();
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);
