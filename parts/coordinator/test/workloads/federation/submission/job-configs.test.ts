import t from "tap";
import { readJobConfigs } from "../../../../src/workloads/federation/submission/job-configs.ts";

const workflow = (args: Record<string, unknown>) =>
  JSON.stringify({ workflows: [{ id: "w", path: "x.Y", args }] });
const client = JSON.stringify({
  executors: [{ executor: { path: "custom_client_executor.E", args: { lr: 0.1 } } }],
});
const meta = (change: Record<string, unknown> = {}) =>
  JSON.stringify({ deploy_map: { app: ["@ALL"] }, ...change });
const read = (server: string, metaText = meta(), clientText = client) =>
  readJobConfigs(
    {
      "config_fed_client.json": clientText,
      "config_fed_server.json": server,
      "meta.json": metaText,
    },
    3,
  );

t.test("rounds and clients are read where the workflow names them", async (t) => {
  t.match(read(workflow({ num_rounds: 5, min_clients: 2 })), {
    numRounds: 5,
    minClients: 2,
    warnings: [],
  });
  t.match(read(workflow({}), meta({ min_clients: 1 })), { numRounds: null, minClients: 1 });
  t.match(read(workflow({})), { minClients: 3 }, "all shards when nothing is said");
  t.match(read(workflow({ num_rounds: "7" })), { numRounds: 7 }, "NVFlare takes numbers as text");
  const several = JSON.stringify({
    workflows: [{ args: { task: "validate" } }, { args: { num_rounds: 4 } }],
  });
  t.match(read(several), { numRounds: 4 });
});

t.test("what NVFlare accepts is accepted", async (t) => {
  t.doesNotThrow(
    () => read('{"workflows":[{"args":{"lr": NaN, "x": -Infinity, "s": "NaN"}}]}'),
    "Python's numbers",
  );
  t.doesNotThrow(() =>
    read(
      workflow({}),
      JSON.stringify({
        deploy_map: { app: ["site-1", "server"] },
        resource_spec: { "site-1": {} },
      }),
    ),
  );
  t.doesNotThrow(() => read(workflow({}), meta({ min_clients: null })));
  t.match(
    read(workflow({ min_clients: 9 })).warnings,
    [/waits for 9 clients, but the job has 3/],
    "odd, but not refused",
  );
});

t.test("classes are found wherever an object would be built", async (t) => {
  const server = JSON.stringify({
    workflows: [{ path: "nvflare.app_common.X", args: {} }],
    components: [
      { path: "custom_persistor.P", args: { model: { path: "model_def.Net", args: {} } } },
    ],
    note: { path: "not a class", args: {} },
  });
  t.same(
    read(server).classes.map(({ path }) => path),
    ["custom_client_executor.E", "custom_persistor.P", "model_def.Net", "nvflare.app_common.X"],
  );
});

const NVFLARE = "nvflare.app_common.workflows.scatter_and_gather.ScatterAndGather";
const counts: [args: Record<string, unknown>, path: string, place: string | null][] = [
  [{ num_rounds: 0 }, NVFLARE, "workflows[0].args.num_rounds is 0"],
  [{ num_rounds: -3 }, "mine.Workflow", "workflows[0].args.num_rounds is -3"],
  [{ num_rounds: 2.5 }, NVFLARE, "num_rounds is 2.5"],
  [{ num_rounds: "3" }, NVFLARE, 'num_rounds is "3"'],
  [{ num_rounds: null }, NVFLARE, "num_rounds is null"],
  [{ num_rounds: true }, NVFLARE, "num_rounds is true"],
  [{ min_clients: 0 }, NVFLARE, "min_clients is 0"],
  [{ num_rounds: "3" }, "mine.Workflow", null],
  [{ num_rounds: 1, min_clients: 1 }, NVFLARE, null],
];
for (const [args, path, place] of counts)
  t.test(`a workflow's counts: ${JSON.stringify(args)} of ${path}`, async (t) => {
    const server = JSON.stringify({ workflows: [{ path, args }] });
    if (place === null) t.doesNotThrow(() => read(server));
    else t.throws(() => read(server), { code: "config_value_invalid", message: place });
  });

t.test("a byte order mark is refused by file and place, as Python refuses it", async (t) => {
  t.throws(() => read(workflow({}), `\ufeff${meta()}`), {
    code: "config_invalid_json",
    message: /^meta\.json: not JSON at line 1, column 1/,
  });
});
