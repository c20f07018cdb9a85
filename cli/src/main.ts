/** `resontech`: the appliance's API from a shell. */
import { Command, InvalidArgumentError } from "commander";
import { EXIT, EXIT_WORDS } from "@resontech/contracts/exit-codes";
import { type QuestionId, QUESTIONS } from "@resontech/contracts/audit-questions";
import { JOB_HEAD, JOB_NOTES, jobRows } from "./audit/job-rows.ts";
import {
  type Asked,
  askQuestion,
  questionOf,
  questionOfReport,
  questionRows,
  REPORT_NAMES,
} from "./audit/questions.ts";
import {
  type Found,
  type Paged,
  rowOf,
  SEARCH_HEAD,
  searchAudit,
  type SearchOptions,
} from "./audit/search.ts";
import { showEntry } from "./audit/show.ts";
import { CliError, UsageError } from "./cli-error.ts";
import { onClosedPipe } from "./closed-pipe.ts";
import { addAdviseCommand } from "./advise/commands.ts";
import { addApprovalCommands } from "./approvals.ts";
import { addArrayCommands } from "./arrays/commands.ts";
import { addCompletionCommands } from "./completion/commands.ts";
import { addInferCommands } from "./infer/commands.ts";
import { addJobCommands } from "./jobs/commands.ts";
import { addQueueCommand } from "./jobs/queue.ts";
import { addScheduleCommands } from "./schedules/commands.ts";
import { addModelCommands } from "./models/commands.ts";
import { addNodeCommands } from "./nodes/commands.ts";
import { addStorageCommands } from "./storage/commands.ts";
import { addSubmitCommand } from "./submit/commands.ts";
import { addKeyCommands } from "./keys/commands.ts";
import { addPeopleCommands } from "./people/commands.ts";
import { addProjectCommands } from "./projects/commands.ts";
import { addServiceAccountCommands } from "./service-accounts/commands.ts";
import { addSignInCommands } from "./sign-in/commands.ts";
import { addSessionCommands } from "./sign-in/sessions.ts";
import { settingsFrom } from "./settings.ts";
import { asTable } from "./table.ts";
import { wrapped } from "./wrapped.ts";
import release from "../package.json" with { type: "json" };

// Nothing is half done where it leaves: what it sent stands, and an upload goes on where it stopped.
onClosedPipe(() => process.exit());

const program = new Command("resontech")
  .description(
    "work with a ResonTech appliance: sign in with `login`, or set RESON_API_KEY and RESON_BASE_URL; SSL_CERT_FILE names the root certificate",
  )
  .version(release.version)
  // Commander fits its own lists into the terminal, and not what stands behind them.
  .configureOutput({
    writeOut: (text) =>
      process.stdout.write(wrapped(text, process.stdout.isTTY ? process.stdout.columns : null)),
    writeErr: (text) =>
      process.stderr.write(wrapped(text, process.stderr.isTTY ? process.stderr.columns : null)),
  })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage))
  .addHelpText("afterAll", `\nExit codes: ${EXIT_WORDS}, such as a watched job.`);

addSignInCommands(program, say);
const table = (head: string[], rows: string[][]): void => {
  process.stdout.write(asTable(head, rows, process.stdout.isTTY ? process.stdout.columns : null));
};
addSubmitCommand(program, { say, countOf });
addAdviseCommand(program, { say, table, countOf });
addJobCommands(program, { say, table, countOf });
addQueueCommand(program, { say, table });
addArrayCommands(program, { say, table });
addScheduleCommands(program, { say, table });
addInferCommands(program, { say, table, countOf });
addModelCommands(program, { say, table });
addNodeCommands(program, { say, table });
addStorageCommands(program, { say, table });
addSessionCommands(program, say);
addPeopleCommands(program, { say, table });
addApprovalCommands(program, { say, table });
addKeyCommands(program, say);
addProjectCommands(program, say);
addServiceAccountCommands(program, say);
addCompletionCommands(program);

const audit = program
  .command("audit")
  .description("look into the audit log; each look is itself logged");

audit
  .command("search")
  .description(
    "entries, newest first: an administrator sees all, anybody else what he did or what was done for him",
  )
  .option("--type <type>", "such as job.submit; docs/auditor/events.md lists them")
  .option("--phase <phase>", "requested, completed, failed, denied, fact or observed")
  .option("--outcome <code>", "ok, or why not; refused finds all that was refused")
  .option("--actor <id>", "who acted: a key, a node, a process")
  .option("--kind <kind>", "what it was done to: job, object, key, user, …")
  .option("--object <id>", "the id of what it was done to, or how it begins: job-7f*")
  .option("--below <prefix>", "entries of objects in a folder, at any depth: bucket/jobs/study/")
  .option("--concerns <id>", "entries about a person: whose rights changed, who asked, who agreed")
  .option("--approval <id>", "the request, its answer and its effect")
  .option("--op <uuid>", "the entries of one operation")
  .option("--prod <name>", "the process that said so")
  .option(
    "--holds <field=value>",
    "a personal value that the entry keeps sealed: pii.username=anna, src.addr=10.0.0.0/28",
  )
  .option(
    "--from <time>",
    "not before: 2026-01-31, 2026-01-31 08:00, 2026-01-31T09:00:00+01:00, yesterday, 7d",
  )
  .option("--to <time>", "before that time; a day counts whole")
  .option("--oldest", "oldest first", false)
  .option("--limit <n>", "rows in all", countOf, 100)
  .option("--cursor <cursor>", "go on where an answer with the same filters ended")
  .option("--json", "one JSON line for each entry", false)
  .addHelpText(
    "after",
    "\nExamples:\n  resontech audit search --type job.submit --limit 20\n  resontech audit search --object job-7f3a --oldest --json\n  resontech audit search --outcome quota_exceeded --from 2026-01-01T00:00:00Z",
  )
  .action(async ({ json, ...options }: SearchOptions & { json: boolean }) => {
    const found = await searchAudit(settingsFrom(process.env), options);
    show(found, json, SEARCH_HEAD, found.events.map(rowOf));
  });

audit
  .command("questions")
  .description("the questions that the log answers")
  .action(() => table(["QUESTION", "ABOUT", "ASKS"], questionRows()));

audit
  .command("ask <question>")
  .description("entries that answer a question; resontech audit questions lists them")
  .option("--data <path>", "a folder or an object: bucket/study/, bucket/study/scan.nii")
  .option("--person <id>", "a person's pseudonym: u_4f…")
  .option("--job <id>", "a job's id")
  .option("--deployment <id>", "a deployment's id")
  .option("--from <time>", "not before: 2026-01-31, 2026-01-31 08:00, yesterday, 7d")
  .option("--to <time>", "before that time; a day counts whole")
  .option("--oldest", "oldest first", false)
  .option("--limit <n>", "rows in all", countOf, 1_000)
  .option("--cursor <cursor>", "go on where an answer to the same question ended")
  .option("--json", "one JSON line for each entry", false)
  .addHelpText(
    "after",
    "\nExamples:\n  resontech audit ask data-read --data hospital/study/ --from 7d\n  resontech audit ask rights --person u_4f0c --json\n  resontech audit ask job --job job-7f3a --oldest",
  )
  .action(async (question: string, { json, ...asked }: Asked & Paged & { json: boolean }) =>
    answer(questionOf(question), asked, json),
  );

audit
  .command("report <name> [job]")
  .description(
    `the older name of a question, oldest entry first: ${REPORT_NAMES.join(", ")}; see audit ask`,
  )
  .option("--from <time>", "not before: 2026-01-31, or a time")
  .option("--to <time>", "before that time; a day counts whole")
  .option("--limit <n>", "rows in all", countOf, 1_000)
  .option("--json", "one JSON line for each entry", false)
  .addHelpText(
    "after",
    "\nExamples:\n  resontech audit report job job-7f3a\n  resontech audit report refused --from 2026-11-01 --to 2026-11-30\n  resontech audit report admin --json",
  )
  .action(
    async (
      name: string,
      job: string | undefined,
      { json, ...asked }: { from?: string; to?: string; limit: number; json: boolean },
    ) => {
      const question = questionOfReport(name);
      if ((name === "job") !== (job !== undefined))
        throw new UsageError(
          "report_invalid",
          "a job's id goes with the report job alone",
          "resontech audit report job job-7f3a",
        );
      await answer(
        question,
        { ...asked, ...(job === undefined ? {} : { job }), oldest: true },
        json,
      );
    },
  );

async function answer(question: QuestionId, asked: Asked & Paged, json: boolean): Promise<void> {
  const found = await askQuestion(settingsFrom(process.env), question, asked);
  const { job } = asked;
  if (question === "job") show(found, json, JOB_HEAD, jobRows(found.events));
  else show(found, json, SEARCH_HEAD, found.events.map(rowOf));
  if (!found.areObjectsKnown)
    say(`which objects are those of ${job} is not known: entries of the job alone`);
  if (found.sameFolder.length > 0)
    say(
      `entries of objects may be of other jobs with the same folder: ${found.sameFolder.join(", ")}`,
    );
  if (question === "job") say(JOB_NOTES);
  say(QUESTIONS[question].limits);
}

function show(
  { events, cursor, behind, incomplete }: Found,
  json: boolean,
  head: string[],
  rows: string[][],
): void {
  if (json) for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`);
  else if (rows.length > 0)
    process.stdout.write(asTable(head, rows, process.stdout.isTTY ? process.stdout.columns : null));
  if (events.length === 0) say("no entry that you may see matches");
  if (cursor !== null) say(`there is more: the same command with --cursor ${cursor}`);
  if (behind > 0) say(`the newest ${behind} entries are not searched yet`);
  if (incomplete.length > 0)
    say(
      `entries of ${incomplete.join(", ")} may be missing: the appliance can't read or believe them`,
    );
}

audit
  .command("show <entry>")
  .description("one entry as the log has it, by its number or as the search names it: 2026/17")
  .option("--proof <file>", "write its proof for the offline verifier")
  .addHelpText(
    "after",
    "\nExample:\n  resontech audit show 2026/17 --proof entry.tlog-proof && node sov-verify.mjs entry.tlog-proof --policy audit.policy",
  )
  .action(async (entry: string, { proof }: { proof?: string }) => {
    const { shard, index, leafHash, event } = await showEntry(
      settingsFrom(process.env),
      entry,
      proof,
    );
    process.stdout.write(
      `${JSON.stringify({ entry: `${shard}/${index}`, leafHash, event }, null, 2)}\n`,
    );
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  if (error instanceof CliError)
    say(`${error.code}: ${error.message}${error.hint === "" ? "" : `\n  ${error.hint}`}`);
  else say(`failed: ${error instanceof Error ? error.message : String(error)}`);
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1_000_000)
    throw new InvalidArgumentError("a number from 1 to 1000000 is meant");
  return count;
}

function say(text: string): void {
  const columns = process.stderr.isTTY ? process.stderr.columns : null;
  process.stderr.write(`${wrapped(text, columns)}\n`);
}
