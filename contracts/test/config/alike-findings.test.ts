import t from "tap";
import { alikeFindings } from "@resontech/contracts/alike-findings";

t.test("three of a code are told, the rest is counted, and codes keep their order", async (t) => {
  const worker = (n: number) => ({ code: "worker_unhealthy", what: `worker ${n}` });
  const dead = { code: "node_dead", what: "node a" };
  const found = alikeFindings([worker(1), dead, worker(2), worker(3), worker(4), worker(5)]);
  t.same(found, [
    { code: "worker_unhealthy", first: [1, 2, 3].map(worker), more: [4, 5].map(worker) },
    { code: "node_dead", first: [dead], more: [] },
  ]);
  t.same(alikeFindings([]), []);
});
