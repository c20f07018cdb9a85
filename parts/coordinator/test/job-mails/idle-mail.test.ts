import t from "tap";
import { idleMail } from "../../src/job-mails/decisions/idle-mail.ts";

t.test("a mail about a job that idles says when it ends, and where it stands", async (t) => {
  const job = { jobId: "job-1", name: "study\r\nBcc: x@example.org" };
  const { subject, text } = idleMail({ ...job, warning: "it is ended soon" }, "https://box:8000");
  t.equal(subject, "Job study Bcc: x@example.org: idles");
  t.match(text, "The job study Bcc: x@example.org will end soon: it is ended soon.\n");
  t.match(text, "\nhttps://box:8000/dashboard/jobs/job-1\n");
});
