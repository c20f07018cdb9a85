import { createHash } from "node:crypto";
import t from "tap";
import { TestNode } from "./helper/test-node.ts";
import { untilFound } from "@resontech/house/until-found";
import { zipOf } from "./helper/zip.ts";

const SHARD = zipOf([{ name: "data/numbers.csv", body: "1,2,3\n" }]);

t.test(
  "a federated attempt of two members runs, its outputs are stored, and nothing is left over",
  async (t) => {
    await using node = await TestNode.start();
    const { peer } = node;
    t.teardown(() => t.passing() || t.comment(node.log()));
    node.run();
    const server = node.member("train-1", { kind: "server" }, [
      await node.input("script", "scripts/model_def.py", "print('user')\n"),
      await node.input("config", "configs/meta.json", "{}"),
    ]);
    const client = node.member("train-1", { kind: "client", index: 0, site: "site-1" }, [
      await node.input("shard", "shard.zip", SHARD),
    ]);
    await untilFound("registration", () => peer.registrations.length === 1);
    peer.want(server, client);
    await peer.event(client.member, "released");
    await peer.event(server.member, "released");
    peer.want();

    const kinds = peer
      .of(server.member)
      .map(({ kind }) => kind)
      .filter((kind) => kind !== "progress");
    t.strictSame(kinds, [
      ...["staged", "started", "ready", "job-started", "round-started", "metric", "round-ended"],
      ...["finished", "outputs-uploaded", "released"],
    ]);
    t.strictSame(await peer.event(server.member, "released"), {
      kind: "released",
      processesGone: true,
      diskGone: true,
      devicesAtBaseline: true,
    });
    t.equal((await node.store.get("out/model_out/checkpoint.pt"))?.length, 8 << 17);
    t.equal((await node.store.get("out/model_out/GLOBAL_MODEL.pt"))?.length, 8 << 17);
    t.equal(await node.store.get("out/files_out/training_log.txt"), "round 0 done\n");
    t.match(await node.store.get(`logs/${server.member}-1.1/00000001`), /hello from server/);
    t.ok(peer.tails.some(({ text }) => text?.includes("hello from client")));
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);

t.test(
  "brisk rounds are committed every two seconds and logged every five, not each; the last is committed and the log whole when the job is over",
  async (t) => {
    await using node = await TestNode.start();
    const { peer } = node;
    t.teardown(() => t.passing() || t.comment(node.log()));
    node.run();
    const server = node.member("brisk-1", { kind: "server" }, [], {}, { isResumable: true });
    await untilFound("registration", () => peer.registrations.length === 1);
    peer.want(server);
    await peer.event(server.member, "ready");
    const from = performance.now();
    await peer.event(server.member, "released");
    const seconds = (performance.now() - from) / 1000;
    peer.want();
    const writes = peer.completed.filter((key) => key === "out/files_out/training_log.txt").length;
    t.ok(writes >= 2, "while rounds end, and at the job's end");
    t.ok(writes <= 1 + Math.ceil(seconds / 5), `${writes} in ${seconds} s`);
    const rounds = peer
      .of(server.member)
      .flatMap((event) => (event.kind === "checkpoint" ? [event.round] : []));
    t.ok(rounds.length >= 3, "the first at once, the last at the end, and more between them");
    // The last one is not waited for.
    t.ok(rounds.length <= 2 + Math.ceil(seconds / 2), `${rounds.length} in ${seconds} s`);
    t.ok((rounds[0] ?? 70) < 20, `the first committed is ${rounds[0]}`);
    t.equal(rounds.at(-1), 69);
    t.equal(await node.store.get(`ckpt/${server.member}-1.1/69/model`), "model of round 69");
    const lines = Array.from({ length: 70 }, (_, round) => `round ${round} done\n`);
    t.equal(await node.store.get("out/files_out/training_log.txt"), lines.join(""));
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);

t.test(
  "a round whose model is still what the runner saw is committed, any other is not; a resumed server finds its model",
  async (t) => {
    await using node = await TestNode.start();
    const { peer } = node;
    t.teardown(() => t.passing() || t.comment(node.log()));
    node.run();
    const committed = "model of round 6";
    const checkpoint = await node.input("checkpoint", "resume/model.pt", committed);
    const sha256 = createHash("sha256").update(committed).digest("hex");
    const server = node.member(
      "rounds-1",
      { kind: "server" },
      [{ ...checkpoint, sha256 }],
      {},
      { isResumable: true },
    );
    await untilFound("registration", () => peer.registrations.length === 1);
    peer.want(server);
    await peer.event(server.member, "released");
    peer.want();
    const told = peer.of(server.member).filter(({ kind }) => kind === "checkpoint");
    t.match(told, [{ kind: "checkpoint", round: 0 }]);
    const folder = `ckpt/${server.member}-1.1/0`;
    t.equal(await node.store.get(`${folder}/model`), "model of round 0");
    t.match(JSON.parse((await node.store.get(`${folder}/manifest.json`)) ?? "null"), {
      round: 0,
      files: [
        {
          name: "model",
          sizeBytes: 16,
          sha256: createHash("sha256").update("model of round 0").digest("hex"),
        },
      ],
    });
    t.equal(await node.store.get(`ckpt/${server.member}-1.1/1/model`), null);
    t.equal(await node.store.get(`ckpt/${server.member}-1.1/2/model`), null);
    t.match(
      await node.store.get(`logs/${server.member}-1.1/00000001`),
      /resumed from model of round 6/,
    );
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);
