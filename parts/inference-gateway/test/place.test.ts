import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Route } from "@resontech/contracts/inference-routes";
import t from "tap";
import { admit } from "../src/admit.ts";
import { Admissions } from "../src/admissions.ts";
import { ReplicaUnreached } from "../src/dial-replica.ts";
import { isEventStream, WaitingStream } from "../src/openai/waiting-stream.ts";
import { Place } from "../src/place.ts";

function routeOf(deployment: string, members: string[], aliases: string[] = []): Route {
  return {
    ...{ name: "d", api: "predict", createdAt: 0, deployment, project: "p", aliases },
    ...{ keySha256: "0".repeat(64), visibility: "PRIVATE", maxOngoingRequests: 2 },
    ...{ generation: 1, state: "HOT", wakeMs: 1_000 },
    replicas: members.map((member) => ({
      ...{ member, node: "n", host: "h", port: 1, certificateSha256: "0".repeat(64) },
      isOpen: true,
    })),
  };
}

function following(...routes: Route[]) {
  const admissions = new Admissions(() => undefined);
  t.teardown(() => admissions[Symbol.dispose]());
  admissions.follow(routes);
  const find = (id: string) =>
    routes.find(({ aliases }) => aliases.includes(id)) ??
    routes.find(({ deployment }) => deployment === id) ??
    null;
  return { admissions, routes: { find } };
}

/** A response that is open until the test ends. */
async function openResponse(): Promise<{ response: ServerResponse }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = once(server, "request") as Promise<[unknown, ServerResponse]>;
  const answered = fetch(url).then((answer) => answer.text());
  const [, response] = await asked;
  t.teardown(async () => {
    response.end();
    await answered.catch(() => undefined);
  });
  return { response };
}

t.test("who can't be reached is left for another one, once", async (t) => {
  const route = routeOf("d", ["a", "b"]);
  const door = following(route);
  const { response } = await openResponse();
  const place = await admit(door, route, response);
  if (!(place instanceof Place)) throw new Error("no place");
  const asked: string[] = [];
  const first = place.replica.member;
  const answer = await place.reach(async ({ member }) => {
    asked.push(member);
    if (member === first) throw new ReplicaUnreached("nobody is there");
    return member;
  });
  t.same(asked, [first, answer]);
  t.not(first, answer);
  t.match(door.admissions.report().deployments, [{ inFlight: [{ member: answer, calls: 1 }] }]);
  place[Symbol.dispose]();
  t.match(door.admissions.report().deployments, [{ inFlight: [] }]);

  const next = await admit(door, route, response);
  if (!(next instanceof Place)) throw new Error("no place");
  t.equal(next.replica.member, answer, "the next call goes where somebody was");
  next[Symbol.dispose]();
});

t.test("what broke after a replica had the call is not made again", async (t) => {
  const route = routeOf("d", ["a", "b"]);
  const { response } = await openResponse();
  const place = await admit(following(route), route, response);
  if (!(place instanceof Place)) throw new Error("no place");
  let times = 0;
  const broken = place.reach(async () => {
    times += 1;
    throw new Error("the connection broke");
  });
  await t.rejects(broken, /broke/);
  t.equal(times, 1);
  place[Symbol.dispose]();
});

t.test("a call that waits follows its deployment's address to a newer one", async (t) => {
  const older = { ...routeOf("old", ["a"]), maxOngoingRequests: 1 };
  const routes = [older];
  const door = following(...routes);
  const { response } = await openResponse();
  const held = await admit(door, older, response);
  const waiting = admit(door, older, response);
  const newer = routeOf("new", ["b"], ["old"]);
  const told = [{ ...older, generation: 2 }, newer];
  door.routes.find = () => newer;
  door.admissions.follow(told);
  const place = await waiting;
  if (!(place instanceof Place)) throw new Error("no place");
  t.equal(place.route.deployment, "new");
  t.equal(place.replica.member, "b");
  place[Symbol.dispose]();
  if (held instanceof Place) held[Symbol.dispose]();
  t.match(door.admissions.report().deployments, [
    { deployment: "old", inFlight: [], queued: 0 },
    { deployment: "new", inFlight: [], queued: 0 },
  ]);
});

t.test("a stream that waits for long says so until its call goes on", async (t) => {
  const server = createServer((_request, response) => {
    const waiting = new WaitingStream(response, 20);
    t.notOk(isEventStream(response));
    setTimeout(() => {
      waiting[Symbol.dispose]();
      t.ok(isEventStream(response));
      response.end("data: [DONE]\n\n");
    }, 200);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.equal(answer.headers.get("content-type"), "text/event-stream");
  t.equal(await answer.text(), ": waiting\n\ndata: [DONE]\n\n");
});
