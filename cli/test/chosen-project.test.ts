import { Command } from "commander";
import t from "tap";
import { chosenProject } from "../src/chosen-project.ts";
import { commandTree } from "../src/completion/command-tree.ts";
import { addInferCommands } from "../src/infer/commands.ts";
import { addJobCommands } from "../src/jobs/commands.ts";
import { addQueueCommand } from "../src/jobs/queue.ts";
import { addModelCommands } from "../src/models/commands.ts";
import { addStorageCommands } from "../src/storage/commands.ts";
import { uploadFile } from "../src/storage/kept-upload.ts";
import { addSubmitCommand } from "../src/submit/commands.ts";

const [heart, lung, other] = [
  { id: "p_1", name: "heart" },
  { id: "p_2", name: "lung" },
  { id: "p_3", name: "lung" },
];

t.test("a project is named by its id or its name, and never guessed", async (t) => {
  const all = [heart, lung, other];
  t.equal(chosenProject(all, "p_3"), "p_3");
  t.equal(chosenProject(all, "heart"), "p_1");
  t.throws(() => chosenProject(all, "lung"), { code: "project_ambiguous", hint: /p_2, p_3/ });
  for (const named of ["hear", "p_", "", "Heart"])
    t.throws(() => chosenProject(all, named), { code: "project_unknown" }, named);
  t.equal(chosenProject([...all, { id: "p_4", name: "p_1" }], "p_1"), "p_1", "an id counts first");
});

t.test("what works in one project takes it, and a list of all is cut to it", async (t) => {
  const program = new Command("resontech");
  const shell = { say: () => {}, table: () => {}, countOf: Number };
  addSubmitCommand(program, shell);
  addJobCommands(program, shell);
  addQueueCommand(program, shell);
  addInferCommands(program, shell);
  addModelCommands(program, shell);
  addStorageCommands(program, shell);
  const taking = commandTree(program)
    .filter(({ options }) => options.some(({ names }) => names.includes("--project")))
    .map(({ path }) => path);
  // The others name a job, a deployment or a model, which is of one project.
  t.same(taking, [
    ...["submit", "jobs ls", "queue", "infer deploy", "infer ls", "infer usage", "models add"],
    ...["storage ls", "storage put", "storage get", "storage rm"],
    ...["storage versions", "storage restore", "storage usage"],
  ]);
});

t.test("an upload that was cut goes on in its own project alone", async (t) => {
  const at = (project: string | null) =>
    uploadFile("/home", { baseUrl: new URL("https://a:8000"), project }, "k", "/f");
  t.equal(new Set([at(null), at("p_1"), at("p_2")]).size, 3);
  t.equal(at("p_1"), at("p_1"));
});
