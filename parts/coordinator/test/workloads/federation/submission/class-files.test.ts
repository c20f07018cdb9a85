import t from "tap";
import { checkClassFiles } from "../../../../src/workloads/federation/submission/class-files.ts";

const SERVER = "config_fed_server.json";
const image = {
  profile: "fl-cpu",
  packages: { "custom-package": "1" },
  modules: ["nvflare", "torch", "collections"],
};
const { modules: _modules, ...older } = image;
const check = (paths: string[], of: typeof image | typeof older = image) =>
  checkClassFiles(
    paths.map((path) => ({ file: SERVER, path })),
    ["model_def.py", "helpers/deep.py"],
    of,
  );

t.test("scripts, their folders and what the image can import pass", async (t) => {
  t.doesNotThrow(() =>
    check([
      "model_def.Net",
      "helpers.deep.Net",
      "nvflare.app_common.X",
      "torch.nn.Linear",
      "collections.OrderedDict",
    ]),
  );
});

t.test("all that is missing is named at once, with the file that names it", async (t) => {
  t.throws(() => check(["model_def.Net", "monai.nets.UNet", "custom_executor.Mine"]), {
    code: "config_class_missing",
    message:
      "config_fed_server.json names monai.nets.UNet; config_fed_server.json names custom_executor.Mine, but scripts/ has no monai.py, custom_executor.py and the job image fl-cpu no such modules",
  });
});

t.test(
  "where the release does not say what can be imported, only the client's own modules are judged",
  async (t) => {
    t.doesNotThrow(() => check(["monai.nets.UNet", "custom_package.X"], older));
    t.throws(() => check(["custom_executor.Mine"], older), { code: "config_class_missing" });
  },
);
