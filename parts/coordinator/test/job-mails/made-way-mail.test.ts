import t from "tap";
import { madeWayMail } from "../../src/job-mails/decisions/made-way-mail.ts";

t.test("a mail about a job that made way says for whom, what stays, and until when", async (t) => {
  const job = { jobId: "job-1", name: "study\r\nBcc: x@example.org" };
  const known = { project: "lung", afterRound: 3, expectedStart: Date.UTC(2026, 0, 1) };
  const { subject, text } = madeWayMail({ ...job, ...known }, "https://box:8000");
  t.equal(subject, "Job study Bcc: x@example.org: made way");
  t.match(text, "made way for project lung. Nothing is lost but what came after round 3.\n");
  t.match(text, "workers again at 2026-01-01T00:00:00.000Z.");
  t.match(text, "\nhttps://box:8000/dashboard/jobs/job-1\n");
  const nothing = { project: null, afterRound: null, expectedStart: null };
  const mail = madeWayMail({ ...job, ...nothing }, "https://box:8000");
  t.match(mail.text, "for another project. It begins anew.\nNobody knows yet");
});
