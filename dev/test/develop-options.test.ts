import t from "tap";
import { HELP, PROGRAMS, readDevelopOptions } from "../develop/options.ts";
import { programSource } from "@resontech/airgap/shipped-sources";

t.test(
  "unless something is said, it is the coordinator of the appliance that a try left",
  async (t) => {
    t.same(readDevelopOptions([]), {
      ...{ help: false, port: 5173 },
      at: { kind: "root", root: null, part: "coordinator", inspect: 9229 },
    });
  },
);

t.test("a part, its ports and a folder are chosen by name", async (t) => {
  t.same(
    readDevelopOptions(["--root", "/opt/x", "--part", "serving", "--port", "1", "--inspect", "2"]),
    { help: false, port: 1, at: { kind: "root", root: "/opt/x", part: "serving", inspect: 2 } },
  );
  t.match(readDevelopOptions(["--no-part"]).at, { part: null });
});

t.test(
  "an appliance of another host has its dashboard developed, and none of its parts",
  async (t) => {
    const url = ["--url", "https://gpu.example:8000"];
    t.match(readDevelopOptions([...url, "--root-certificate", "root.crt"]).at, {
      ...{ kind: "url", url: new URL("https://gpu.example:8000"), caFile: "root.crt" },
    });
    for (const more of [["--part", "serving"], ["--root", "/x"], ["--no-part"], ["--inspect", "1"]])
      t.throws(() => readDevelopOptions([...url, ...more]), /no part runs here/, more.join(" "));
  },
);

t.test("wrong arguments say what is allowed", async (t) => {
  const wrong = (args: string[], says: RegExp) => {
    t.throws(() => readDevelopOptions(args), says);
    t.throws(() => readDevelopOptions(args), { code: "develop_options_wrong" });
  };
  wrong(["--part", "nats"], /"nats" is no part .* say coordinator, serving/);
  wrong(["--part", "toString"], /is no part/);
  wrong(["--part", "serving", "--no-part"], /exclude one another/);
  wrong(["--port", "0"], /--port takes a port/);
  wrong(["--inspect", "x"], /--inspect takes a port/);
  wrong(["--url", "http://gpu.example"], /no https address/);
  wrong(["--root-certificate", "x"], /goes with --url/);
  wrong(["--fast"], /--fast/);
  wrong(["more"], /more/);
});

t.test(
  "every part that can be chosen has its programs in a release, and the help names it",
  async (t) => {
    for (const [part, programs] of Object.entries(PROGRAMS)) {
      t.match(HELP, part);
      for (const program of programs) t.match(programSource(program), /\.ts$/, program);
    }
  },
);
