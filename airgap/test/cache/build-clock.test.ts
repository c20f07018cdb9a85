import t from "tap";
import { BuildClock } from "../../src/cache/build-clock.ts";

t.test("download time is what passed with downloads alone under way", async (t) => {
  let now = 0;
  const clock = new BuildClock(() => now);
  const first = clock.start("fetch");
  now = 100;
  const second = clock.start("fetch");
  now = 150;
  t.equal(clock.downloadMs, 150, "two downloads at once count once");
  const build = clock.start("build");
  now = 400;
  t.equal(clock.downloadMs, 150, "time that a build used is not download time");
  build[Symbol.dispose]();
  now = 410;
  second[Symbol.dispose]();
  first[Symbol.dispose]();
  now = 900;
  t.equal(clock.downloadMs, 160);
});
