import { USE_MEASURES } from "@resontech/contracts/http-use";
import t from "tap";
import {
  fleetUseQuery,
  jobUseQuery,
  nodeUseQuery,
  servingUseQuery,
} from "../../../src/use/decisions/use-queries.ts";

const measuresIn = (query: string): string[] =>
  [...query.matchAll(/"measure", "(\w+)"/g)].map(([, measure = ""]) => measure);

t.test("a job is one question, of its own series alone", async (t) => {
  const query = jobUseQuery("job-1", [], 15);
  t.same(measuresIn(query), [
    ...["cpu", "memory", "memory_peak", "memory_limit"],
    ...["disk_read", "disk_write", "network_in", "network_out"],
  ]);
  t.equal(query.match(/exported_job="job-1"/g)?.length, 8);
  t.ok(
    query.startsWith(
      'label_replace(rate(resontech_member_cpu_seconds_total{exported_job="job-1"}[45s]), "measure", "cpu", "", "") or ',
    ),
  );
});

t.test("devices are asked for where members held some, and told by who held them", async (t) => {
  const query = jobUseQuery("job-1", ["node-a-0", "node.b-1"], 15);
  t.ok(measuresIn(query).includes("device_power"));
  t.ok(query.includes('resontech_device_power_watts{worker=~"node-a-0|node\\\\.b-1"}'));
  t.ok(
    query.includes(
      'last_over_time(resontech_member_device{exported_job="job-1"}[30s]) * on (node, worker)',
    ),
  );
});

t.test("on a long axis a value is of all the time since the one before", async (t) => {
  t.match(jobUseQuery("job-1", [], 600), /cpu_seconds_total\{[^}]*\}\[600s\]/);
  t.match(
    nodeUseQuery("node-a", 600),
    /max_over_time\(resontech_node_memory_used_bytes\{[^}]*\}\[600s\]/,
  );
});

t.test("every measure is asked of somebody", async (t) => {
  const asked = [
    ...[jobUseQuery("j", ["w"], 15), nodeUseQuery("n", 15)],
    ...[fleetUseQuery(15), servingUseQuery("d", 15)],
  ];
  t.same(
    USE_MEASURES.filter((measure) => !asked.some((query) => measuresIn(query).includes(measure))),
    [],
  );
});

t.test("what a name holds can't end the text that it stands in", async (t) => {
  t.ok(nodeUseQuery('a"} or up{x="', 15).includes('{node="a\\"} or up{x=\\""}'));
});
