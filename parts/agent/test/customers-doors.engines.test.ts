/** A node of an appliance whose object store and registry show a certificate of the customer's: the real agent, Podman, registry and S3. */
import { hash } from "node:crypto";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

t.test(
  "a node that is told of the customer's authority while it runs pulls, fetches and uploads through its doors",
  async (t) => {
    await using node = await TestNode.withCustomersDoors();
    const { peer } = node;
    t.teardown(() => t.passing() || t.comment(node.log()));
    // An agent says whom it trusts once a newer protocol is agreed on.
    peer.trial = () => ({ pull: null, noImage: null });
    node.run();
    await untilFound("a beat", () => peer.beats.length > 0);
    t.equal(peer.beats[0]?.trusts, hash("sha256", ""), "it joined with the root alone");

    peer.doorAuthorities = `${node.doors.rootPem.trim()}\n`;
    const wanted = hash("sha256", peer.doorAuthorities);
    await untilFound("the node trusts it", () => peer.beats.at(-1)?.trusts === wanted);
    const server = node.member("train-1", { kind: "server" }, [
      await node.input("script", "scripts/model_def.py", "print('user')\n"),
    ]);
    const client = node.member("train-1", { kind: "client", index: 0, site: "site-1" }, [
      await node.input("shard", "shard.zip", zipOf([{ name: "data/numbers.csv", body: "1\n" }])),
    ]);
    peer.want(server, client);
    await peer.event(client.member, "released");
    await peer.event(server.member, "released");
    peer.want();
    t.equal((await node.store.get("out/model_out/checkpoint.pt"))?.length, 8 << 17);
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);
