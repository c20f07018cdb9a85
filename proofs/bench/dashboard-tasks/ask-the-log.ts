/** Asks the log the nine questions of an auditor; each answer has as many rows as what the page exports of it, and as the log itself. */
import { readFileSync } from "node:fs";
import { QUESTIONS, type QuestionId } from "@resontech/contracts/audit-questions";
import { typesThatAnswer } from "@resontech/contracts/audit-answers";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { strFromU8, unzipSync } from "fflate";
import type { Download } from "playwright-core";
import { submitFederation } from "../dashboard/federation.ts";
import type { Office } from "../dashboard/office.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";
import type { Visitor } from "./visitor.ts";

const GOAL_S = 60;
/** Those that name types of event alone: the log is counted beside them. */
const BY_TYPE: readonly QuestionId[] = ["data-read", "left", "rights", "model", "complete"];

export async function askTheLog(office: Office): Promise<Task[]> {
  const { house } = office;
  const auditor = await house.addUser("audrey");
  const visitor = await visitorOf(office, auditor, ["compliance-auditor"]);
  const { page } = visitor;
  const job = await submitFederation(office, "is asked about");
  await leaveTraces(office);
  const about: Partial<Record<QuestionId, () => Promise<void>>> = {
    person: async () => {
      await showNames(visitor);
      await visitor.type(page.getByLabel(/^Person/), "ada");
    },
    job: () => visitor.type(page.getByLabel(/^Job/), job),
  };
  return (Object.keys(QUESTIONS) as QuestionId[]).map((question) => {
    let exported: readonly string[] = [];
    return {
      name: `audit-${question}`,
      goal_s: GOAL_S,
      visitor,
      expected: BY_TYPE.includes(question)
        ? "as many entries as the export and the log have"
        : "as many entries as the export has",
      answer: async () => {
        await visitor.press(page.getByRole("button", { name: QUESTIONS[question].title }));
        const more = about[question];
        if (more !== undefined) {
          await more();
          await visitor.press(page.getByRole("button", { name: "Ask", exact: true }));
        }
        const count = await countOfAll(visitor);
        exported = await exportOf(visitor);
        return `${count} rows; the export has ${exported.length}`;
      },
      isRight: async (said: string) => {
        const isExported = said === `${exported.length} rows; the export has ${exported.length}`;
        if (!isExported || exported.length === 0 || !BY_TYPE.includes(question)) return isExported;
        return exported.length === (await countInLog(office, question, exported));
      },
    };
  });
}

/** Something was refused, and a deployment got another key: so each question has an answer. */
async function leaveTraces({ house, ada }: Office): Promise<void> {
  const { running } = house;
  await running.get("/api/keys", "rsk_dev_0123456789abcdef0123456789abcdef");
  await running.get("/api/nodes", ada.platformKey);
  const { id } = await house.deploy(ada, "echo");
  const rotated = await running.request(
    "POST",
    `/api/inference/jobs/${id}/rotate-key`,
    ada.platformKey,
  );
  if (rotated.status >= 300) throw new Error(JSON.stringify(rotated.body));
}

async function showNames(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await visitor.press(page.getByRole("button", { name: "Show names" }));
  const why = page.getByRole("alertdialog");
  await visitor.type(why.getByRole("textbox", { name: /^Reason/ }), "yearly review");
  await visitor.press(why.getByRole("button", { name: "Show names" }));
}

/** The page counts what it lists: all of it, once nothing older is left. */
async function countOfAll(visitor: Visitor): Promise<string> {
  const { page } = visitor;
  const older = page.getByRole("button", { name: "Older entries" });
  const told = page.getByRole("status").filter({ hasText: /^\d+ entr|^The newest \d+ entries/ });
  const nothing = page.getByText("No entry that you may see matches");
  for (;;) {
    const text = await visitor.read(told.or(nothing));
    if (text.startsWith("No entry")) throw new Error("the log has no answer");
    if (!text.startsWith("The newest")) return text.split(" ")[0]!;
    await visitor.press(older);
    await told.filter({ hasNotText: text }).waitFor();
  }
}

/** @returns keys of its entries, as the names of their proofs say them */
async function exportOf(visitor: Visitor): Promise<readonly string[]> {
  const { page } = visitor;
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    visitor.press(page.getByRole("button", { name: "Export what was found" })),
  ]);
  const archive = unzipSync(readFileSync(await pathOf(file)));
  const rows = strFromU8(archive["entries.csv"]!).trimEnd().split("\r\n").slice(1);
  const proofs = Object.keys(archive).filter((name) => name.endsWith(".tlog-proof"));
  if (rows.length !== proofs.length) throw new Error("the export has not a proof for each row");
  return proofs.map((name) => name.slice(name.lastIndexOf("entry-") + 6, -".tlog-proof".length));
}

async function pathOf(file: Download): Promise<string> {
  return await file.path();
}

/** Entries of these types up to the newest one of the answer. */
async function countInLog(
  { house }: Office,
  question: QuestionId,
  exported: readonly string[],
): Promise<number> {
  const types: readonly string[] = typesThatAnswer(question);
  const newest = Math.max(...exported.map((key) => Number(key.split("-").at(-1))));
  const leaves = await readLeaves(house.running.auditd.logDir);
  return leaves.slice(0, newest + 1).filter(({ type }) => types.includes(type)).length;
}
