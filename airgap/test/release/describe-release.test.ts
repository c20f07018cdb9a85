import t from "tap";
import { readLock } from "../../src/lock/lock-file.ts";
import { describeRelease } from "../../src/release/describe-release.ts";

t.test(
  "a release names the patches of each engine whose source we change, and of no other",
  async (t) => {
    const { engines } = describeRelease({
      lock: readLock(false),
      tree: [],
      imageLayouts: [],
    }).release;
    t.match(engines["s3"], {
      licence: "Apache-2.0",
      source: "go:github.com/versity/versitygw",
      patches: [/\.patch$/],
    });
    t.notOk("patches" in (engines["nats"] ?? {}));
  },
);
