/** `resontech approvals`: what waits for a second person, and one's own requests. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requestPath } from "@resontech/contracts/api-request";
import type { ApprovalReply, Requested } from "@resontech/contracts/http-approvals";
import { summaryWords } from "@resontech/contracts/size-words";
import { type Command, Option } from "commander";
import { CliError, UsageError } from "./cli-error.ts";
import { getJson, sendJson } from "./api-client.ts";
import { printable } from "./printable.ts";
import { addShareRequest } from "./share-request.ts";
import { settingsFrom } from "./settings.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

const HEAD = ["REQUEST", "STATE", "WHAT", "BY", "SINCE", "ANSWERED BY"];
const GIVEN = ["platform-admin", "security-officer", "compliance-auditor", "data-steward"];

export function addApprovalCommands(program: Command, { say, table }: Shell): void {
  const approvals = program
    .command("approvals")
    .description("what needs a second person: list, show, request, approve, deny, withdraw")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech approvals ls\n  resontech approvals request role u_4f21 security-officer\n  resontech approvals approve a_7c30 --reason 'agreed on the phone'",
    );

  const json = new Option("--json", "one JSON line for each request").default(false);
  const show = (found: ApprovalReply[], asJson: boolean) => {
    if (asJson) for (const one of found) process.stdout.write(`${JSON.stringify(one)}\n`);
    else if (found.length === 0) say("no request that you may see");
    else table(HEAD, found.map(row));
  };

  approvals
    .command("ls")
    .description("requests that you may see, newest first")
    .addOption(json)
    .action(async (options: { json: boolean }) =>
      show(await getJson(settingsFrom(process.env), "/api/approvals"), options.json),
    );

  approvals
    .command("show <request>")
    .description("one request")
    .addOption(json)
    .action(async (id: string, options: { json: boolean }) => {
      const settings = settingsFrom(process.env);
      const found = await getJson(settings, "/api/approvals/{id}", { params: { id } });
      show([found], options.json);
      if (!options.json) for (const line of changeLines(found)) say(printable(line));
    });

  approvals
    .command("acknowledge <user>")
    .description(
      "say that an administrator whom the host's root made is rightly one; needs a fresh sign-in of a second person",
    )
    .addHelpText("after", "\nExample:\n  resontech approvals acknowledge u_4f21…")
    .action(async (userId: string) => {
      const path = "/api/people/{id}/acknowledge";
      await sendJson(settingsFrom(process.env), "POST", path, { params: { id: userId } });
      say(`acknowledged ${userId}`);
    });

  const request = approvals.command("request").description("ask for something");
  const ask = async (what: Requested, reason: string | undefined) => {
    const settings = settingsFrom(process.env);
    const made = await sendJson(settings, "POST", "/api/approvals", { body: { what, reason } });
    say(
      made.isSigned === false
        ? `asked: ${summaryWords(made.summary)}. ${made.id} is to be signed by you in a browser: ${new URL("/dashboard/approvals", settings.baseUrl).href}`
        : made.singlePerson
          ? `done, alone: nobody else could approve. ${made.id}`
          : `asked: ${summaryWords(made.summary)}. ${made.id} waits for a second person`,
    );
  };
  request
    .command("role <user> <role>")
    .description(`give a role of the whole appliance: ${GIVEN.join(", ")}`)
    .option("--revoke", "take the role away", false)
    .option("--reason <text>", "what the second person should know")
    .action((userId: string, role: string, options: { revoke: boolean; reason?: string }) =>
      ask(
        {
          ...{ kind: "role", userId, role },
          change: options.revoke ? "revoke" : "grant",
        } as Requested,
        options.reason,
      ),
    );
  request
    .command("second-factor <user>")
    .description("take a lost second factor away; the person sets up a new one")
    .option("--reason <text>", "what the second person should know")
    .action((userId: string, { reason }: { reason?: string }) =>
      ask({ kind: "second-factor", userId }, reason),
    );

  request
    .command("erasure <pseudonym>")
    .description("have what opens a person's values in the audit log destroyed")
    .requiredOption("--request <id>", "name of the person's request in the operator's files")
    .requiredOption("--legal-basis <code>", "such as gdpr-17")
    .option("--reason <text>", "what the second person should know")
    .action(
      (subject: string, options: { request: string; legalBasis: string; reason?: string }) => {
        const { request: name, legalBasis, reason } = options;
        return ask({ kind: "erasure", subject, request: name, legalBasis }, reason);
      },
    );
  for (const [kind, description] of [
    ["hold", "have nothing of a person erased while a legal hold stands; your signature is enough"],
    ["lift", "have a legal hold end; a second person must agree"],
  ] as const)
    request
      .command(`${kind} <pseudonym>`)
      .description(description)
      .requiredOption("--hold <id>", "name of the hold in the operator's files")
      .option("--reason <text>", "what is to be known about it")
      .action((subject: string, { hold, reason }: { hold: string; reason?: string }) =>
        ask({ kind, subject, hold }, reason),
      );
  request
    .command("disclosure <pseudonyms...>")
    .description("have an export open what these people's entries in the audit log hold")
    .requiredOption("--receiver <id>", "who gets the file")
    .requiredOption("--shard <name>", "the shard of the log that is exported, such as 2026")
    .option("--reason <text>", "what the second person should know")
    .action((subjects: string[], options: { receiver: string; shard: string; reason?: string }) => {
      const { receiver, shard, reason } = options;
      return ask({ kind: "disclosure", shard, subjects, receiver }, reason);
    });
  request
    .command("audit-policy <file>")
    .description("have other witnesses countersign the audit log: the whole trust policy")
    .option("--reason <text>", "what the second person should know")
    .action((file: string, { reason }: { reason?: string }) =>
      ask({ kind: "audit-policy", policy: readFileSync(file, "utf8") }, reason),
    );
  request
    .command("image <name> <digest>")
    .description("have an image of one's own admitted; who has its file on the host admits it then")
    .option("--reason <text>", "what the second person should know")
    .action((name: string, digest: string, { reason }: { reason?: string }) =>
      ask({ kind: "image", name, digest }, reason),
    );
  addShareRequest(request, ask);
  request
    .command("export <job> [keys...]")
    .description(
      "ask for outputs of a job, where the project's outputs leave by approval alone; all of them unless some are named",
    )
    .option("--reason <text>", "what the second person should know")
    .action(async (jobId: string, keys: string[], { reason }: { reason?: string }) => {
      const path = "/api/tasks/{id}/outputs";
      const params = { id: jobId };
      const left = await getJson(settingsFrom(process.env), path, { params });
      const files = left.filter(({ key }) => keys.length === 0 || keys.includes(key));
      const missing = keys.find((key) => !files.some((one) => one.key === key));
      if (missing !== undefined || files.length === 0)
        throw new CliError(
          "export_files_unknown",
          missing === undefined ? "the job left no outputs" : `the job left no ${missing}`,
          `List what it left: GET ${requestPath(path, { params })}.`,
        );
      const asked = files.map(({ key, versionId, sha256 }) => ({ key, versionId, sha256 }));
      await ask({ kind: "export", jobId, files: asked }, reason);
    });
  approvals
    .command("exports <project> <on|off>")
    .description("let outputs of a project's jobs leave by approval alone; or as members like")
    .action(async (project: string, state: string) => {
      if (state !== "on" && state !== "off")
        throw new UsageError("usage", "on or off is meant", "See --help.");
      await sendJson(settingsFrom(process.env), "PUT", "/api/projects/{id}/exports", {
        params: { id: project },
        body: { byApproval: state === "on" },
      });
      say(
        state === "on"
          ? "outputs leave by approval alone from now on"
          : "outputs leave as members like",
      );
    });
  request
    .command("policy <folder>")
    .description(
      "put other policies in force: all files of a folder, as `appliance policy try` takes them",
    )
    .option("--reason <text>", "what the second person should know")
    .action((folder: string, { reason }: { reason?: string }) => {
      const files = readdirSync(folder).map(
        (name) => [name, readFileSync(join(folder, name), "utf8")] as const,
      );
      return ask({ kind: "policy", files: Object.fromEntries(files) }, reason);
    });

  for (const [verb, done] of [
    ["approve", "approved"],
    ["deny", "denied"],
    ["withdraw", "taken back"],
  ] as const)
    approvals
      .command(`${verb} <request>`)
      .description(
        verb === "withdraw" ? "take the own request back" : `${verb} somebody else's request`,
      )
      .option("--reason <text>", "kept with the answer")
      .action(async (id: string, { reason }: { reason?: string }) => {
        const settings = settingsFrom(process.env);
        const params = { id };
        const answered =
          verb === "withdraw"
            ? await sendJson(settings, "POST", "/api/approvals/{id}/withdraw", { params })
            : await sendJson(settings, "POST", `/api/approvals/{id}/${verb}`, {
                params,
                body: { reason },
              });
        say(`${done}: ${summaryWords(answered.summary)}`);
      });
}

function row({
  id,
  state,
  summary,
  requester,
  createdAt,
  decider,
  singlePerson,
}: ApprovalReply): string[] {
  return [
    ...[id, singlePerson ? `${state} alone` : state, summaryWords(summary), requester.username],
    ...[createdAt.slice(0, 16).replace("T", " "), decider?.username ?? ""],
  ];
}

/** What would be different, line by line: as it is now, and as it would be. */
function changeLines({ changes, reason, expiresAt, state }: ApprovalReply): string[] {
  if (state !== "requested") return [];
  const side = (sign: string, text: string | null) =>
    (text ?? "none").split("\n").map((line) => `${sign} ${line}`);
  return [
    `reason: ${reason ?? "none was given"}`,
    `ends by itself: ${expiresAt.slice(0, 16).replace("T", " ")} UTC`,
    ...changes.flatMap(({ what, before, after }) => [
      `${what}:`,
      ...side("-", before),
      ...side("+", after),
    ]),
  ];
}
