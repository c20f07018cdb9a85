import t from "tap";
import { typesThatAnswer } from "../../src/audit/questions/event-answers.ts";
import { QUESTION_IDS, QUESTIONS } from "../../src/audit/questions/questions.ts";
import { questionObjection, searchOf } from "../../src/audit/questions/searches-of.ts";

t.test(
  "what left the system is what was read, handed out, dialled and told, never what came in",
  async (t) => {
    const left = typesThatAnswer("left");
    for (const type of [
      ...["data.object.read", "data.download.issue", "data.output.release", "model.download"],
      ...["model.calls", "audit.export", "privacy.disclose", "audit.sink", "admin.outbound"],
    ])
      t.ok(
        left.some((one) => one === type),
        type,
      );
    for (const type of ["data.upload.init", "model.output.open", "data.object.write"])
      t.notOk(
        left.some((one) => one === type),
        type,
      );
  },
);

t.test(
  "administrators change roles, memberships, service accounts, policies; approvals are among rights",
  async (t) => {
    const rights = typesThatAnswer("rights");
    for (const type of [
      ...["iam.role.change", "iam.project.member", "iam.service-account.create", "admin.policy"],
      ...["iam.approval.request", "iam.approval.answer", "iam.approval.sign", "key.mint"],
    ])
      t.ok(
        rights.some((one) => one === type),
        type,
      );
    t.same(searchOf("administrators", {}).any[0], { byAdministrator: true });
  },
);

t.test("a question says what it needs and takes, and refuses what can match nothing", async (t) => {
  for (const id of QUESTION_IDS)
    t.match(
      questionObjection(id, { job: "a b" }),
      id === "job" ? /can match no entry/ : /takes no job/,
    );
  t.match(questionObjection("person", {}), /needs person: a person's pseudonym/);
  t.match(questionObjection("data-read", { data: "study" }), /a slash at its end/);
  t.equal(questionObjection("data-read", { data: "bucket/study/" }), null);
  t.match(searchOf("data-read", { data: "bucket/study/" }), { below: "bucket/study/" });
  t.match(searchOf("left", { data: "bucket/one" }), { holds: "object.id=bucket/one" });
  t.same(searchOf("refused", { person: "u_1" }).any, [
    { refused: true, actor: "u_1" },
    { refused: true, onBehalfOf: "u_1" },
  ]);
});

t.test("what no entry shows of a question is told without names of the API's fields", async (t) => {
  const told = QUESTION_IDS.map((id) => QUESTIONS[id].limits);
  t.same(
    told.filter((limits) => /`[a-z]+[A-Z]\w*`/.test(limits)),
    [],
  );
});
