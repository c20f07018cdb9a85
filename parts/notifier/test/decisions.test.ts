import t from "tap";
import { type Alert, alertOf, type News } from "../src/decisions/alert.ts";
import {
  delivered,
  type DeliveryQueue,
  EMPTY_QUEUE,
  failed,
  isDue,
  withNews,
} from "../src/decisions/delivery-queue.ts";
import { followAlerts, type Known } from "../src/decisions/follow-alerts.ts";
import { idOf, mailOf, syslogMessages, webhookBody } from "../src/decisions/messages.ts";

const told = (part: string, extra: Record<string, string> = {}): Alert =>
  alertOf({
    labels: { alertname: "PartDown", severity: "critical", instance: "appliance", part, ...extra },
    annotations: {
      summary: `The part ${part} is not healthy.`,
      ...{ todo: "Look.", runbook: "docs/operator/runbooks/part-down.md" },
    },
    activeAt: "2026-11-26T10:00:00.000Z",
  })!;
const nats = told("nats");
const s3 = told("s3");
const ids = (...alerts: Alert[]) => new Set(alerts.map(({ id }) => id));
const words = (news: readonly News[]) =>
  news.map(({ status, alert }) => `${status} ${alert.labels["part"]}`);

t.test("an alert is told once, again after a day, and its end once it has lasted", async (t) => {
  let known: Known = {};
  const look = (firing: Alert[], active: ReadonlySet<string> | null, now: number): string[] => {
    const next = followAlerts(known, firing, active, now);
    known = next.known;
    return words(next.news);
  };
  t.same(look([nats], ids(nats), 0), ["firing nats"]);
  t.same(look([nats], ids(nats), 15_000), []);
  t.same(look([nats, s3], ids(nats, s3), 30_000), ["firing s3"]);
  t.same(look([s3], ids(s3), 45_000), [], "gone for 15 s: Prometheus may have been started");
  t.same(look([nats, s3], ids(nats, s3), 60_000), [], "there again");
  t.same(
    look([], ids(nats), 200_000),
    ["resolved s3"],
    "one that is about to be again is not over",
  );
  t.same(look([], null, 9_000_000), [], "nobody can say");
  t.same(look([nats], ids(nats), 9_000_001), []);
  t.same(look([nats], ids(nats), 24 * 3_600_000), ["firing nats"]);
  t.same(look([], ids(), 24 * 3_600_000 + 90_000), ["resolved nats"]);
  t.same(known, {});
});

t.test("a target that fails is tried later and later, and hears all at once", async (t) => {
  const news: News[] = [{ status: "firing", alert: nats, at: 0 }];
  t.notOk(isDue(EMPTY_QUEUE, 0), "nothing to say");
  let queue: DeliveryQueue = withNews(EMPTY_QUEUE, news);
  t.ok(isDue(queue, 0));
  const waits: number[] = [];
  for (let now = 0; waits.length < 9; ) {
    queue = failed(queue, { code: "unreachable", message: "no" }, now);
    let wait = 0;
    while (!isDue(queue, now + wait)) wait += 1_000;
    waits.push(wait / 1_000);
    now += wait;
  }
  t.same(waits, [15, 30, 60, 120, 240, 480, 900, 900, 900]);
  t.ok(isDue({ ...queue, failure: { ...queue.failure!, at: 9e12 } }, 0), "a clock set back");
  const more = withNews(queue, [{ status: "resolved", alert: nats, at: 5 }]);
  t.equal(more.pending.length, 2);
  const late: News = { status: "firing", alert: s3, at: 6 };
  const after = delivered(withNews(more, [late]), more.pending, 7);
  t.same(after.pending, [late], "what came meanwhile still waits");
  t.match(after, { failure: null, dropped: 0, deliveredAt: 7 });
});

t.test("too much that waits is bounded, and the loss is told", async (t) => {
  const news = Array.from(
    { length: 250 },
    (_, at): News => ({ status: "firing", alert: nats, at }),
  );
  const queue = withNews(EMPTY_QUEUE, news);
  t.equal(queue.pending.length, 200);
  t.equal(queue.dropped, 50);
  t.equal(queue.pending.at(-1)?.at, 249, "the newest stay");
  t.match(mailOf(queue.pending, queue.dropped, sender).text, "50 older messages were given up");
});

const sender = { appliance: "site-a", runbooksDir: "/opt/x/app/runbooks" };

t.test("a mail names what is wrong, what to do and where to read on", async (t) => {
  const one = mailOf([{ status: "firing", alert: nats, at: 1 }], 0, sender);
  t.equal(one.subject, "[site-a] CRITICAL PartDown: The part nats is not healthy.");
  t.equal(
    one.text,
    [
      "CRITICAL PartDown, since 2026-11-26T10:00:00.000Z",
      "  The part nats is not healthy.",
      "  What to do: Look.",
      "  Runbook: /opt/x/app/runbooks/part-down.md",
      "",
    ].join("\n"),
  );
  const many = mailOf(
    [
      { status: "firing", alert: nats, at: 1 },
      { status: "resolved", alert: s3, at: 2 },
    ],
    0,
    sender,
  );
  t.equal(many.subject, "[site-a] 1 firing, 1 resolved");
  t.match(many.text, "resolved PartDown, over since 1970-01-01T00:00:00.002Z");
});

t.test("no label ends a header, a line or a message", async (t) => {
  const hostile = told("x\r\nBcc: all@example.org\u0007\n<14>1 forged");
  const news: News[] = [{ status: "firing", alert: hostile, at: 1 }];
  t.notMatch(mailOf(news, 0, sender).subject, /\p{Cc}/u);
  const [line = ""] = syslogMessages(news, sender);
  t.notMatch(line, /\p{Cc}/u);
  t.match(
    line,
    /^<130>1 1970-01-01T00:00:00\.001Z site-a resontech-alerts - PartDown - status=firing /,
  );
  t.equal(
    syslogMessages([{ status: "resolved", alert: nats, at: 1 }], sender)[0]?.slice(0, 5),
    "<133>",
  );
});

t.test("the same news have the same id, others another one", async (t) => {
  const news: News[] = [{ status: "firing", alert: nats, at: 1 }];
  t.equal(idOf(news), idOf(structuredClone(news)));
  t.not(idOf(news), idOf([{ ...news[0]!, status: "resolved" }]));
  t.match(JSON.parse(webhookBody(news, 0, sender, 5)), {
    ...{ version: 1, id: idOf(news), appliance: "site-a", dropped: 0 },
    alerts: [{ status: "firing", name: "PartDown", labels: { part: "nats" } }],
  });
  t.not(told("nats").id, told("nats", { job: "x" }).id);
});
