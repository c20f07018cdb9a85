import Fastify from "fastify";
import t from "tap";
import { serializersWhenUsed, validatorsWhenUsed } from "../../src/http/schemas-when-used.ts";
import { schemaValidators } from "../../src/http/validation.ts";

const WRONG = { type: "object", properties: { size: { type: "no such type" } } };
const SHARED = {
  $id: "Refusal",
  type: "object",
  properties: { code: { type: "string" } },
};

function makeApp() {
  const compiled: string[] = [];
  const atOnce = schemaValidators();
  const app = Fastify({
    schemaController: { compilersFactory: { buildSerializer: serializersWhenUsed } },
  });
  app.setValidatorCompiler(
    validatorsWhenUsed((route) => {
      compiled.push(route.url);
      return atOnce(route as never);
    }),
  );
  app.addSchema(SHARED);
  return { app, compiled };
}

t.test("a schema is compiled at the first request of its route, and once", async (t) => {
  const { app, compiled } = makeApp();
  const body = { type: "object", required: ["size"], properties: { size: { type: "integer" } } };
  for (const url of ["/asked", "/other"])
    app.post(url, { schema: { body } }, async () => ({ is: "done" }));
  await app.ready();
  t.same(compiled, []);
  for (const size of [1, "1", 2]) {
    const { statusCode } = await app.inject({ method: "POST", url: "/asked", payload: { size } });
    t.equal(statusCode, typeof size === "number" ? 200 : 400, String(size));
  }
  t.same(compiled, ["/asked"]);
});

t.test("a refusal says what it says where all schemas are compiled at the start", async (t) => {
  const body = { type: "object", required: ["size"], properties: { size: { type: "integer" } } };
  const { app } = makeApp();
  const eager = Fastify();
  eager.setValidatorCompiler(schemaValidators());
  const answers = [];
  for (const each of [app, eager]) {
    each.post("/asked", { schema: { body } }, async () => null);
    for (const payload of [{}, { size: "a" }])
      answers.push((await each.inject({ method: "POST", url: "/asked", payload })).body);
  }
  t.equal(answers.length, 4);
  t.same(answers.slice(0, 2), answers.slice(2));
  t.match(answers[0], /must have required property 'size'/);
});

t.test("answers have the fields of their schema alone, shared schemas included", async (t) => {
  const { app } = makeApp();
  const response = {
    200: { type: "object", properties: { size: { type: "integer" } } },
    "4XX": { $ref: "Refusal#" },
    // By its object: what compiles it takes it out of those that are shared.
    "5XX": SHARED,
  };
  app.get<{ Params: { status: string } }>("/:status", { schema: { response } }, (request, reply) =>
    reply.code(Number(request.params.status)).send({ size: 1, code: "a", secret: "b" }),
  );
  for (const [status, answer] of [
    [500, { code: "a" }],
    [400, { code: "a" }],
    [200, { size: 1 }],
    [404, { code: "a" }],
  ] as const)
    t.same((await app.inject(`/${status}`)).json(), answer, String(status));
});

t.test("a schema that is wrong fails its own route at its first request", async (t) => {
  const { app } = makeApp();
  app.get("/right", async () => "right");
  app.post("/wrong", { schema: { body: WRONG } }, async () => "wrong");
  await app.ready();
  t.equal((await app.inject("/right")).statusCode, 200);
  t.equal((await app.inject({ method: "POST", url: "/wrong", payload: {} })).statusCode, 500);
});
