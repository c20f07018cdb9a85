import t from "tap";
import { leftBy } from "@resontech/house/leftovers";

const MEMBERS = "/srv/data/agent/members";
const of = (job: string) => [
  `container member-${job}-a1-site-1`,
  `network rt-5 of tech.reson.attempt=${job}-a1`,
  `mount /dev/loop2 ${MEMBERS}/${job}-a1-site-1/disk ext4 rw 0 0`,
  `loop device /dev/loop2 ${MEMBERS}/${job}-a1-site-1/disk.img`,
  `member folder ${job}-a1-site-1`,
];
const firewall = "firewall table ip resontech-1";

t.test("what other jobs leave while they run is no leftover of this one", async (t) => {
  const [mine, other] = [of("job-mine"), of("job-other")];
  t.same(leftBy([...other, firewall], "job-mine"), []);
  t.same(leftBy([...mine, ...other, firewall], "job-mine"), mine);
  t.same(leftBy([...mine, firewall], "job-mine"), [...mine, firewall], "the firewall is its own");
  t.same(leftBy([firewall], "job-mine"), [firewall]);
  t.same(leftBy([...other, firewall], undefined), [...other, firewall]);
  t.throws(() => leftBy(other, ""), /without an id/);
});
