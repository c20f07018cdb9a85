/** How a call to a replica and back is noted, between a real engine's server and a real client on this host. */
import { once } from "node:events";
import { createServer, request, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import { type CallEnd, leadCall, type LedCall } from "../../src/openai/lead-call.ts";
import type { ReplicaPool } from "../../src/replica-pool.ts";

const USAGE = '{"prompt_tokens":3,"completion_tokens":2}';
const DONE = `data: {"choices":[],"usage":${USAGE}}\n\ndata: [DONE]\n\n`;
// Fields of a newer engine's own pass, as vLLM's from 0.33 on.
const WHOLE = `{"choices":[{"index":0,"weight_versions":["1"]}],"usage":${USAGE}}`;
const CHUNK = 'data: {"choices":[{"index":0,"delta":{},"weight_versions":["1"]}]}\n\n';

type Seen = CallEnd & { wasEnded: boolean };

async function listen(t: Test, listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** One call of a client. @returns what it got, and each end that was noted, with whether the answer's own end was on its way by then */
async function called(
  t: Test,
  engine: RequestListener,
  isStream: boolean,
  form?: LedCall["asked"]["form"],
) {
  const enginePort = await listen(t, (asked, answer) => {
    asked.resume().once("end", () => engine(asked, answer));
  });
  const ends: Seen[] = [];
  const pool = {
    request: (_: unknown, options: object) =>
      request({ ...options, host: "127.0.0.1", port: enginePort }),
  } as unknown as ReplicaPool;
  let over: Promise<void> = Promise.resolve();
  const port = await listen(t, (_, response) => {
    const led = {
      ...{ call: "chat/completions", response },
      asked: { body: {}, model: "m", isStream, wantsUsage: true, form },
      place: { reach: (ask: (replica: object) => unknown) => ask({}) },
    } as unknown as LedCall;
    over = leadCall(pool, led, {
      begin: async () => {},
      answering: () => {},
      end: (end) => void ends.push({ ...end, wasEnded: response.writableEnded }),
    });
  });
  const asked = request({ host: "127.0.0.1", port, method: "POST" }).end();
  const [answer] = await once(asked, "response");
  const said = await text(answer);
  await over;
  return { said, ends };
}

t.test("an answer's end is noted before its last piece leaves, in each form", async (t) => {
  const forms: [name: string, engine: RequestListener, isStream: boolean, said: string][] = [
    [
      "a stream",
      (_, answer) => {
        answer.write(CHUNK);
        setTimeout(() => answer.end(DONE), 20);
      },
      true,
      `${CHUNK}${DONE}`,
    ],
    [
      "with a length",
      (_, answer) => answer.setHeader("content-length", WHOLE.length).end(WHOLE),
      false,
      WHOLE,
    ],
    [
      "without a length",
      (_, answer) => {
        answer.write(WHOLE.slice(0, 5));
        setTimeout(() => answer.end(WHOLE.slice(5)), 20);
      },
      false,
      WHOLE,
    ],
  ];
  for (const [name, engine, isStream, wanted] of forms) {
    const { said, ends } = await called(t, engine, isStream);
    t.equal(said, wanted, name);
    t.match(
      ends,
      [{ outcome: "answered", wasEnded: false, usage: { completionTokens: 2, isExact: true } }],
      name,
    );
    t.equal(ends.length, 1, name);
  }
});

t.test("an answer in another form is made once all of it is there, and counted", async (t) => {
  const remade: NonNullable<LedCall["asked"]["form"]> = {
    whole: (answer) => ({ made: answer }),
    events: () => ({
      push: (events) => events.replaceAll("data: ", "data: made "),
      broken: ({ code }) => `data: broken ${code}\n\n`,
    }),
  };
  const whole = (answer: Parameters<RequestListener>[1], isSaid: boolean) => {
    if (isSaid) answer.setHeader("content-length", WHOLE.length);
    answer.write(WHOLE.slice(0, 5));
    setTimeout(() => answer.end(WHOLE.slice(5)), 20);
  };
  const wanted = JSON.stringify({ made: JSON.parse(WHOLE) as unknown });
  for (const isSaid of [true, false]) {
    const { said, ends } = await called(t, (_, answer) => whole(answer, isSaid), false, remade);
    t.equal(said, wanted);
    const usage = { completionTokens: 2, isExact: true };
    t.match(ends, [{ outcome: "answered", answerBytes: wanted.length, usage, wasEnded: false }]);
    t.equal(ends.length, 1);
  }
  const stream = await called(t, (_, answer) => void answer.end(`${CHUNK}${DONE}`), true, remade);
  t.equal(stream.said, `${CHUNK}${DONE}`.replaceAll("data: ", "data: made "));
  const broken = await called(
    t,
    (_, answer) => {
      answer.write(CHUNK);
      setTimeout(() => answer.destroy(), 20);
    },
    ...([true, remade] as const),
  );
  t.match(broken.said, /data: broken replica_unreachable/);
  t.match(broken.ends, [{ outcome: "replica_gone" }]);
});

t.test("an engine that goes after its last word has answered, and adds nothing", async (t) => {
  const { said, ends } = await called(
    t,
    (_, answer) => {
      answer.write(`${DONE}data: {"more":1}\n\n`);
      setTimeout(() => answer.destroy(), 20);
    },
    true,
  );
  t.equal(said, DONE);
  t.match(ends, [{ outcome: "answered", answerBytes: DONE.length }]);
  t.equal(ends.length, 1);
});

t.test("an engine that goes before it has not answered", async (t) => {
  const { said, ends } = await called(
    t,
    (_, answer) => {
      answer.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
      setTimeout(() => answer.destroy(), 20);
    },
    true,
  );
  t.match(said, /replica_unreachable/);
  t.match(ends, [{ outcome: "replica_gone", usage: { completionTokens: 1, isExact: false } }]);
});
