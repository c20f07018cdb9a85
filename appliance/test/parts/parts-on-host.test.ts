import { PARTS } from "@resontech/parts";
import { NODE_PARTS } from "@resontech/parts/node-parts";
import t from "tap";
import type { Part } from "../../src/parts/part.ts";
import { awaitingOneAnother, isOnHost } from "../../src/parts/parts-on-host.ts";
import { jobHost } from "../helper/job-host.ts";

const DOCKER = { kind: "docker", socket: "/run/docker.sock" } as const;
const on = (parts: typeof PARTS, host: Parameters<typeof jobHost>[0]): string[] =>
  parts.filter((part) => isOnHost(part, jobHost(host))).map(({ name }) => name);

t.test(
  "an appliance's host has every part, its agent where it runs jobs, and Podman where no Docker is used",
  async (t) => {
    const all = PARTS.map(({ name }) => name);
    const without = (...left: string[]) => all.filter((name) => !left.includes(name));
    t.same(on(PARTS, {}), all);
    t.same(on(PARTS, { node: null }), without("agent"));
    t.same(on(PARTS, { containerEngine: DOCKER }), without("podman"));
  },
);

t.test("a node has agent and container engine, whatever all parts are", async (t) => {
  t.same(on(PARTS, { kind: "node" }), ["podman", "agent"]);
  t.same(on(NODE_PARTS, { kind: "node" }), ["podman", "agent"]);
  t.same(on(NODE_PARTS, { kind: "node", containerEngine: DOCKER }), ["agent"]);
});

t.test("nobody waits for a part that is not on this host", async (t) => {
  const part = (name: string, ...after: string[]) => ({ name, after }) as unknown as Part;
  t.same(
    awaitingOneAnother([part("podman"), part("agent", "podman", "door")]).map(({ after }) => after),
    [[], ["podman"]],
  );
});
