import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import t, { type Test } from "tap";
import { addInstallOptions, applyAnswers, type InstallFlags, toRequest } from "../src/options.ts";

/** The flags that come of an answers file and a command line. */
function flagsOf(t: Test, answers: string, args: readonly string[] = []): InstallFlags {
  const file = join(t.testdir(), "answers.json");
  writeFileSync(file, answers);
  const command = addInstallOptions(new Command());
  command.parse(["--bundle", "/b", "--key", "/k", "--answers", file, ...args], { from: "user" });
  applyAnswers(command);
  return command.opts<InstallFlags>();
}

t.test("an answers file sets what the command line leaves open, and a flag wins", async (t) => {
  const flags = flagsOf(t, '{"name":"gpu.example","cpu-workers":4,"yes":true,"customer":"a"}', [
    "--customer",
    "b",
  ]);
  t.match(flags, { name: "gpu.example", cpuWorkers: "4", yes: true, customer: "b" });
});

t.test(
  "models leave freely unless the site says otherwise, and nothing else can be said",
  async (t) => {
    // Any file: the key is read here, and used later.
    const key = import.meta.filename;
    const requestOf = (args: readonly string[]) => toRequest({ ...flagsOf(t, "{}", args), key });
    t.equal(requestOf([]).config.outputExport, "open");
    t.equal(requestOf(["--output-export", "controlled"]).config.outputExport, "controlled");
    t.throws(() => requestOf(["--output-export", "never"]), {
      code: "option_invalid",
      message: /--output-export/,
    });
  },
);

const wrong: [string, RegExp][] = [
  ['{"nam":"x"}', /there is no option nam/],
  ['{"key":"/other"}', /there is no option key/],
  ['{"yes":"true"}', /yes must be true or false/],
  ['{"name":["x"]}', /name must be a text or a number/],
  ["[]", /one JSON object/],
  ["{", /answers\.json/],
];
for (const [answers, message] of wrong)
  t.test(`${answers} is refused`, async (t) => {
    t.throws(() => flagsOf(t, answers), { code: "option_invalid", message });
  });

t.test("job ports are a range", async (t) => {
  const key = import.meta.filename;
  const asked = (range: string) =>
    toRequest({ ...flagsOf(t, "{}", ["--job-ports", range]), key }).config.jobPorts;
  t.same(asked("31000-31049"), { from: 31_000, to: 31_049 });
  for (const range of ["31000", "31049-31000", "0-10", "31000-99999", "a-b"])
    t.throws(() => asked(range), { code: "option_invalid", message: /--job-ports/ }, range);
});

t.test("users of jobs are a range, none of the system's", async (t) => {
  const key = import.meta.filename;
  const asked = (range: string) =>
    toRequest({ ...flagsOf(t, "{}", ["--job-uids", range]), key }).config.jobUids;
  t.same(asked("700000-709999"), { from: 700_000, to: 709_999 });
  for (const range of ["700000", "709999-700000", "0-70000", "700000-9999999999", "a-b"])
    t.throws(() => asked(range), { code: "option_invalid", message: /--job-uids/ }, range);
});
