import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type TestCa = { caFile: string; certFile: string; keyFile: string };

/** A CA and a server certificate for `localhost`, made in `dir`. */
export async function makeTestCa(dir: string): Promise<TestCa> {
  const file = (name: string) => join(dir, name);
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"];
  await run("openssl", [
    "req",
    "-x509",
    ...ec,
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=test CA",
  ]);
  await run("openssl", [
    "req",
    ...ec,
    "-keyout",
    file("server.key"),
    "-out",
    file("server.csr"),
    "-subj",
    "/CN=localhost",
  ]);
  await writeFile(file("server.ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  await run("openssl", [
    ...[
      "x509",
      "-req",
      "-in",
      file("server.csr"),
      "-CA",
      file("ca.pem"),
      "-CAkey",
      file("ca.key"),
      "-CAcreateserial",
    ],
    ...["-out", file("server.pem"), "-days", "2", "-extfile", file("server.ext")],
  ]);
  return { caFile: file("ca.pem"), certFile: file("server.pem"), keyFile: file("server.key") };
}
