import t from "tap";
import { calendarMail } from "../../src/job-mails/decisions/calendar-mail.ts";

t.test(
  "a mail about a node that is needed says what for, and no name breaks its head",
  async (t) => {
    const text =
      "node-a goes into maintenance from 2026-12-05 18:00 UTC until 2026-12-05 22:00 UTC";
    const mail = calendarMail(
      { jobId: "job-1", name: "study\r\nBcc: x@example.org", text },
      "https://box:8000",
    );
    t.equal(mail.subject, "Job study Bcc: x@example.org: its node is needed");
    t.match(mail.text, `needed for something else. ${text}.\n`);
    t.match(mail.text, "https://box:8000/dashboard/jobs/job-1\n");
  },
);
