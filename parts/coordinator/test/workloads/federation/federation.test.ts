import t from "tap";
import { federation } from "../../../src/workloads/federation/federation.ts";
import { KernelWorld } from "../../kernel/kernel-world.ts";
import { SimAgent } from "../../kernel/sim-agent.ts";

const ATTEMPT = { server_name: "job-a1-server" };

t.test("a certificate names what the attempt knows of its member, and nothing else", async (t) => {
  const server = federation.certificate({ role: "server", site: null }, "member", ATTEMPT);
  t.match(server, {
    subject: { commonName: "job-a1-server", organization: "resontech" },
    dnsNames: ["job-a1-server", "localhost"],
    extendedKeyUsage: ["serverAuth"],
  });
  const client = federation.certificate({ role: "client", site: "site-2" }, "member", ATTEMPT);
  t.match(client, {
    subject: { commonName: "site-2", organization: "resontech" },
    extendedKeyUsage: ["clientAuth"],
  });
  for (const certificate of [server, client])
    t.same(certificate?.basicConstraints, { ca: false }, "none of them signs another one");
});

t.test("the submitter's key is made beside the server, never on a site's node", async (t) => {
  t.match(federation.certificate({ role: "server", site: null }, "admin", ATTEMPT), {
    subject: { commonName: "submitter", unstructuredName: "project_admin" },
  });
  t.equal(federation.certificate({ role: "client", site: "site-1" }, "admin", ATTEMPT), null);
});

t.test("a job whose configuration NVFlare refused says which files to look at", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("refused"));
  await world.parts.scheduler.cycle();
  const { transitions, kernel } = world.parts;
  transitions.moveJob(id, "stop", { reason: "config_invalid" });
  await agent.fetch();
  await agent.send();
  const words = {
    code: "config_invalid",
    message: "NVFlare refused the job's configuration.",
    hint: "Check configs/config_fed_server.json and config_fed_client.json.",
  };
  t.match(kernel.job(id)?.error, words);
  world.parts.db.prepare("UPDATE jobs SET message = NULL").run();
  t.match(kernel.job(id)?.error, words, "also where no message was kept");
});
