import t from "tap";
import { endOfJob } from "../../src/job-mails/decisions/end-of-job.ts";

t.test("a mail leads to the page of what has ended, and tells its name in one line", async (t) => {
  const mail = (kind: string, name = "study") =>
    endOfJob({ jobId: "job-1", kind, name, state: "FAILED" }, "https://box:8000");
  t.match(mail("federation"), {
    subject: "Job study: failed",
    text: "\nhttps://box:8000/dashboard/jobs/job-1\n",
  });
  t.match(mail("predictor", "echo\r\nBcc: x@example.org"), {
    subject: "Deployment echo Bcc: x@example.org: failed",
    text: "\nhttps://box:8000/dashboard/inference/jobs/job-1\n",
  });
});
