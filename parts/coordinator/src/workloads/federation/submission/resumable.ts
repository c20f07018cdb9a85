/**
 * Whether a lost attempt of a job can go on from a committed round. NVFlare itself resumes nothing: we run the user's own configuration with
 * another first round and the saved model. That is right only where the model is all that the server carries from one round to the next, so
 * everything that the configuration builds must be known to carry nothing else.
 *
 * Source: nvflare 2.9.0, app_common/workflows/scatter_and_gather.py and fedavg.py, app_opt/pt/file_model_persistor.py.
 */

export type ServerConfig = { [name: string]: unknown };

export type ResumeVerdict =
  | { isResumable: true; firstRound: number }
  | { isResumable: false; why: string };

const WORKFLOWS = [
  "nvflare.app_common.workflows.scatter_and_gather.ScatterAndGather",
  "nvflare.app_common.workflows.fedavg.FedAvg",
];
const PERSISTORS = [
  "nvflare.app_opt.pt.file_model_persistor.PTFileModelPersistor",
  "nvflare.app_opt.pt.PTFileModelPersistor",
];
/** Without memory between rounds: aggregators start each round anew, the others only convert, find or report. */
const STATELESS = [
  "nvflare.app_common.aggregators.",
  "nvflare.app_common.shareablegenerators.full_model_shareable_generator.",
  "nvflare.app_common.widgets.validation_json_generator.",
  "nvflare.app_opt.pt.file_model_locator.",
];
/** Methods of PTFileModelPersistor by which the saved model comes in. */
const LOADING =
  /^\s+def\s+(?:__init__|_initialize|handle_event|load_model|load|_get_persistence_manager)\b/m;

/** @param scriptOf source of a module among the user's scripts; null when it is none */
export function evaluateResumable(
  config: ServerConfig,
  scriptOf: (module: string) => string | null,
): ResumeVerdict {
  const workflows = listOf(config["workflows"]);
  const [workflow] = workflows;
  if (workflow === undefined || workflows.length !== 1) return no("it has more than one workflow");
  const path = pathOf(workflow);
  const args = argsOf(workflow);
  if (!WORKFLOWS.includes(path))
    return no(`the workflow ${path || "without a path"} can't start at a later round`);
  if (args["stop_cond"] !== undefined && args["stop_cond"] !== null)
    return no("its workflow stops early by what it remembers");
  if (!isCount(args["num_rounds"], 1))
    return no("its workflow does not say how many rounds it has");
  const firstRound = args["start_round"] ?? 0;
  if (!isCount(firstRound, 0)) return no("its workflow's start_round is not a whole number");

  const components = listOf(config["components"]);
  const persistorId = args["persistor_id"] ?? "persistor";
  const persistor = components.find(({ id }) => id === persistorId);
  if (persistor === undefined)
    return no("it has no persistor that a saved model could be given to");
  const other = components.find(
    (component) =>
      component !== persistor && !STATELESS.some((known) => pathOf(component).startsWith(known)),
  );
  if (other !== undefined)
    return no(
      `its component ${pathOf(other) || "without a path"} may remember more than the model`,
    );
  if (!takesModel(pathOf(persistor), scriptOf))
    return no(`its persistor ${pathOf(persistor) || "without a path"} loads models in its own way`);
  return { isResumable: true, firstRound };
}

/** NVFlare's own PyTorch persistor, or a script's class that extends it and leaves loading alone. */
function takesModel(path: string, scriptOf: (module: string) => string | null): boolean {
  if (PERSISTORS.includes(path)) return true;
  const [module = "", name = "", ...rest] = path.split(".");
  const source = rest.length === 0 ? scriptOf(module) : null;
  if (source === null || !/^\w+$/.test(name)) return false;
  const declares = new RegExp(`^class ${name}\\(PTFileModelPersistor\\):`, "m");
  return importsPersistor(source) && declares.test(source) && !LOADING.test(source);
}

/** Looks for the persistor by its own name, on a line of its own: a class that only bears the name is another one. */
function importsPersistor(source: string): boolean {
  const lines = source.matchAll(
    /^from nvflare\.app_opt\.pt(?:\.file_model_persistor)? import ([^#\n]+)/gm,
  );
  return [...lines].some(([, names = ""]) =>
    names.split(",").some((one) => one.trim() === "PTFileModelPersistor"),
  );
}

function no(why: string): ResumeVerdict {
  return { isResumable: false, why };
}

function listOf(value: unknown): ServerConfig[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function argsOf({ args }: ServerConfig): ServerConfig {
  return isObject(args) ? args : {};
}

function pathOf({ path }: ServerConfig): string {
  return typeof path === "string" ? path : "";
}

function isCount(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}

function isObject(value: unknown): value is ServerConfig {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
