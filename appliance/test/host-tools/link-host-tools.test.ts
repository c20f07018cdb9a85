import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { linkHostTools, unlinkHostTools } from "../../src/host-tools/link-host-tools.ts";

/** Two appliances of one release on a host. */
function host(t: Test) {
  const dir = t.testdir({});
  const base = join(dir, "run");
  const home = join(base, "35d73c025f4c");
  const install = (name: string) => {
    const root = join(dir, name);
    const release = join(root, "releases", "1");
    mkdirSync(join(release, "tools"), { recursive: true });
    writeFileSync(join(release, "tools", "location"), `${home}\n`);
    linkHostTools(release, name);
    return { root, release, tools: join(release, "tools") };
  };
  return { base, home, install };
}

t.test("the link leads to the release's tools, and nothing is left of it", async (t) => {
  const { base, home, install } = host(t);
  const { root, release, tools } = install("a");
  t.equal(readlinkSync(home), tools);
  linkHostTools(release, "a");
  t.equal(readlinkSync(home), tools, "safe to repeat");
  unlinkHostTools(root, base);
  t.notOk(existsSync(base));
  unlinkHostTools(root, base);
});

t.test("what another appliance of this host uses stays, whoever made it", async (t) => {
  const { base, home, install } = host(t);
  const [first, second] = [install("a"), install("b")];
  t.equal(readlinkSync(home), first.tools);
  unlinkHostTools(first.root, base);
  t.equal(readlinkSync(home), second.tools, "the maker is gone");
  unlinkHostTools(second.root, base);
  t.notOk(existsSync(base));
});

t.test("a link that leads nowhere is made anew", async (t) => {
  const { home, install } = host(t);
  const first = install("a");
  rmSync(first.root, { recursive: true });
  const second = install("b");
  t.equal(readlinkSync(home), second.tools);
});

t.test("a root below a link is taken back as well", async (t) => {
  const { base, home, install } = host(t);
  const { root } = install("a");
  const link = join(t.testdirName, "link");
  symlinkSync(join(root, ".."), link);
  unlinkHostTools(join(link, "a"), base);
  t.notOk(existsSync(home));
  t.notOk(existsSync(base));
});
