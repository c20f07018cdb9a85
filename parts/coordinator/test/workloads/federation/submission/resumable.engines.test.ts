import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { evaluateResumable } from "../../../../src/workloads/federation/submission/resumable.ts";
import { clientPackage } from "@resontech/house/client-venv";

/** As the public client 0.3.0 renders them. */
const sag = (args: Record<string, unknown> = {}) => ({
  path: "nvflare.app_common.workflows.scatter_and_gather.ScatterAndGather",
  args: { num_rounds: 3, start_round: 0, min_clients: 2, persistor_id: "persistor", ...args },
});
const persistor = {
  id: "persistor",
  path: "custom_persistor.CustomPersistor",
  args: { model: { path: "model_def.Model" } },
};
const others = [
  {
    id: "aggregator",
    path: "nvflare.app_common.aggregators.intime_accumulate_model_aggregator.InTimeAccumulateWeightedAggregator",
    args: {},
  },
  {
    id: "shareable_generator",
    path: "nvflare.app_common.shareablegenerators.full_model_shareable_generator.FullModelShareableGenerator",
    args: {},
  },
];
const config = (
  workflows: unknown[] = [sag()],
  components: unknown[] = [persistor, ...others],
) => ({ workflows, components });

const SOURCE = `from nvflare.app_opt.pt.file_model_persistor import PTFileModelPersistor


class CustomPersistor(PTFileModelPersistor):
    def save_model(self, ml, fl_ctx):
        super().save_model(ml, fl_ctx)
`;
const judge = (value: Parameters<typeof evaluateResumable>[0], source: string | null = SOURCE) =>
  evaluateResumable(value, (module) => (module === "custom_persistor" ? source : null));

t.test("what the public client renders is resumable", async (t) => {
  t.same(judge(config()), { isResumable: true, firstRound: 0 });
  t.same(judge(config([sag({ start_round: 7 })])), { isResumable: true, firstRound: 7 });
  const shipped = join(await clientPackage("0.3.0"), "rt/_platform/custom_persistor.py");
  t.same(
    judge(config(), readFileSync(shipped, "utf8")),
    { isResumable: true, firstRound: 0 },
    "the client's own persistor",
  );
});

t.test("so are NVFlare's own persistor and FedAvg", async (t) => {
  const own = {
    id: "persistor",
    path: "nvflare.app_opt.pt.file_model_persistor.PTFileModelPersistor",
    args: {},
  };
  const fedAvg = {
    path: "nvflare.app_common.workflows.fedavg.FedAvg",
    args: { num_clients: 2, num_rounds: 3 },
  };
  t.match(judge(config([fedAvg], [own])), { isResumable: true });
  t.match(
    judge(config([{ ...fedAvg, args: { ...fedAvg.args, stop_cond: "accuracy >= 0.9" } }], [own])),
    { why: /stops early/ },
  );
});

t.test("anything that may remember more than the model is not, and says why", async (t) => {
  t.match(judge(config([sag(), sag()])), { isResumable: false, why: /more than one workflow/ });
  t.match(
    judge(
      config([{ path: "nvflare.app_common.workflows.scaffold.Scaffold", args: { num_rounds: 3 } }]),
    ),
    {
      why: /Scaffold can't start at a later round/,
    },
  );
  t.match(judge(config([{ ...sag(), path: undefined }])), { why: /without a path/ });
  t.match(judge(config([sag({ num_rounds: undefined })])), { why: /how many rounds/ });
  t.match(judge(config([sag({ start_round: -1 })])), { why: /start_round/ });
  t.match(judge(config([sag({ persistor_id: "other" })])), { why: /no persistor/ });
  const momentum = {
    id: "shareable_generator",
    path: "nvflare.app_opt.pt.fedopt.PTFedOptModelShareableGenerator",
    args: {},
  };
  t.match(judge(config([sag()], [persistor, momentum])), {
    why: /PTFedOptModelShareableGenerator may remember more/,
  });
  t.match(judge(config([sag()], [persistor, { id: "mine", path: "model_def.Scheduler" }])), {
    why: /model_def.Scheduler may remember/,
  });
});

t.test("a persistor with a way of its own to load models is not", async (t) => {
  for (const method of ["load_model", "_initialize", "__init__", "handle_event", "load"])
    t.match(
      judge(config(), `${SOURCE}\n    def ${method}(self, fl_ctx):\n        pass\n`),
      { why: /loads models in its own way/ },
      method,
    );
  t.match(judge(config(), null), { why: /own way/ }, "no such script");
  t.match(
    judge(config(), SOURCE.replace("CustomPersistor(PT", "CustomPersistor(Other, PT")),
    { why: /own way/ },
    "another base",
  );
  t.match(
    judge(config(), SOURCE.replace(/^from.*$/m, "class PTFileModelPersistor: pass")),
    { why: /own way/ },
    "another class",
  );
  t.match(
    judge(
      config(),
      SOURCE.replace("import PTFileModelPersistor", "import Other as PTFileModelPersistor"),
    ),
    {
      why: /own way/,
    },
  );
});
