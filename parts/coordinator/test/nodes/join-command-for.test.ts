/** The command that a new host runs, as the page shows it with the token. */
import t from "tap";
import { joinCommandFor } from "../../src/nodes/join-command-for.ts";

const trust = {
  ...{ rootSha256: "a".repeat(64), keySha256: "b".repeat(64), scriptSha256: "c".repeat(64) },
};
const addressesOf = (name: string) => ({
  ...{ publicUrl: `https://${name}:8000`, natsPublicUrl: `tls://${name}:4222` },
  ...{ s3: { endpoint: `https://${name}:3900` }, registry: { host: `${name}:5000` } },
});

t.test("it names the appliance, every port, and what the host compares", async (t) => {
  const command = await joinCommandFor("gpu-2", addressesOf("192.0.2.7"), { trust });
  t.match(command, "--appliance 192.0.2.7 --ports 8000,3900,5000,4222 --node gpu-2");
  for (const digest of Object.values(trust)) t.match(command, digest);
});

t.test("there is none where no other host could run it", async (t) => {
  t.equal(await joinCommandFor("gpu-2", addressesOf("localhost"), { trust }), null);
  t.equal(await joinCommandFor("gpu-2", addressesOf("127.0.0.1"), { trust }), null);
  t.equal(await joinCommandFor("gpu-2", addressesOf("192.0.2.7"), { trust: null }), null);
});
