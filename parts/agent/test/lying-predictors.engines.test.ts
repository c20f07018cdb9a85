/**
 * Predictors that lie, in real containers of the image with Python: each ends with a reason, or is answered for, and nothing is left. One more does
 * what engines do at their start, under the same PID 1 and the same seccomp profile.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import { LLAMA_COMMAND, LLAMA_SPEC, type LlamaSpec } from "@resontech/contracts/llama-spec";
import {
  PREDICTOR_COMMAND,
  PREDICTOR_PORT,
  PREDICTOR_SPEC,
  type PredictorSpec,
} from "@resontech/contracts/predictor-spec";
import t from "tap";
import { llamaPython } from "@resontech/house/llama-python";
import { untilFound } from "@resontech/house/until-found";
import { newestLayout } from "./helper/job-image-root.ts";
import { lockedWheels } from "./helper/locked-wheels.ts";
import { TestNode } from "./helper/test-node.ts";

const run = promisify(execFile);
const MIB = 1024 ** 2;
t.setTimeout(600_000);

const LIES = `
import socket, sys, time
class Liar:
    def __init__(self, lie=""):
        if lie == "raises":
            raise RuntimeError("the weights are of another model")
        if lie == "never":
            time.sleep(3600)
        if lie == "prints":
            for _ in range(100):
                print("x" * 1024 * 1024, flush=True)
    def predict(self, data):
        lie = data.decode()
        if lie == "loop":
            while True:
                pass
        if lie == "bomb":
            kept = []
            while True:
                kept.append(bytearray(16 * 1024 * 1024))
        if lie == "long":
            return {"answer": "x" * 1024 ** 3}
        if lie == "dial":
            found = {}
            for host, port in (("1.1.1.1", 443), ("192.0.2.1", 53), ("198.18.0.1", 22)):
                try:
                    socket.create_connection((host, port), 2).close()
                    found[host] = "reached"
                except OSError as error:
                    found[host] = str(error)
            return found
        return {"said": lie}
`;

/** Where a library is refused what it does, it ends the process, as libzmq does, or raises. */
const ENGINE_STARTS = `
import asyncio, ctypes, json, pathlib, sys, threading, zipfile
for wheel in pathlib.Path(__file__).parent.glob("*.whl"):
    zipfile.ZipFile(wheel).extractall("/tmp/wheels")
sys.path.insert(0, "/tmp/wheels")
import uvloop, zmq

def zmq_sends():
    with zmq.Context(io_threads=2) as context, context.socket(zmq.PULL) as pull, context.socket(zmq.PUSH) as push:
        pull.bind("ipc:///tmp/zmq.sock")
        push.connect("ipc:///tmp/zmq.sock")
        push.send(b"a")
        return pull.recv().decode()

async def looped():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('b')", stdout=-1)
    said, _ = await child.communicate()
    return said.decode().strip()

def openmp_threads():
    seen = set()
    gomp = ctypes.CDLL("libgomp.so.1")
    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: seen.add(threading.get_native_id()))
    gomp.GOMP_parallel(body, None, 3, 0)
    return len(seen)

class Engine:
    def predict(self, data):
        return {"zmq": zmq_sends(), "uvloop": uvloop.run(looped()), "openmp": openmp_threads()}
`;

const layout = newestLayout("serve-cpu");
if (layout === null) throw new Error("`airgap build` has left no image serve-cpu in its cache");
const node = await TestNode.start(join(import.meta.dirname, "..", "runners"));
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const image = node.image.add(layout);
node.run();
await untilFound("registration", () => peer.registrations.length === 1);
const script = await node.input("script", "scripts/lies.py", LIES);

type Lie = Partial<DesiredMember["resources"]> & { init?: string; callLimitMs?: number };

function liar(name: string, { init = "", callLimitMs = 60_000, ...resources }: Lie): DesiredMember {
  const spec: PredictorSpec = {
    ...{ formatVersion: 1, module: "lies", className: "Liar", initArgs: { lie: init } },
    ...{ modelPath: null, replica: name, port: PREDICTOR_PORT, maxOngoingRequests: 4 },
    ...{ maxAnswerBytes: MIB, callLimitMs },
  };
  const member = node.member(name, { kind: "server" }, [script], {
    ...{ image, wish: { order: 0, asleep: false } },
    resources: { memoryBytes: 256 * MIB, diskBytes: 64 * MIB, ...resources },
  });
  return {
    ...member,
    payload: {
      command: [...PREDICTOR_COMMAND],
      environment: { PYTHONUNBUFFERED: "1" },
      files: [{ name: PREDICTOR_SPEC, text: JSON.stringify(spec) }],
      certificates: null,
      network: { shape: "hub", index: null, name: "replica", port: PREDICTOR_PORT },
      sites: [],
      outputs: { logs: [], printed: null, models: null, files: null, checkpoints: false },
    },
  };
}

/** From inside the container's network, which nobody else reaches. */
async function ask(body: string, of = ""): Promise<{ status: number; text: string }> {
  const name = (await node.runningContainers()).find((one) => one.includes(of)) ?? "";
  const init = await node.engine.podman("inspect", "--format", "{{.State.Pid}}", name);
  const program = `const [, url, body] = process.argv;
    const answer = await fetch(url, { method: "POST", body });
    console.log(JSON.stringify({ status: answer.status, text: await answer.text() }));`;
  const { stdout } = await run("nsenter", [
    ...["--target", init.trim(), "--net", process.execPath, "--input-type=module", "-e", program],
    ...[`http://127.0.0.1:${PREDICTOR_PORT}/predict`, body],
  ]);
  return JSON.parse(stdout) as { status: number; text: string };
}

async function ended(member: DesiredMember): Promise<MemberEvent | undefined> {
  await untilFound(
    "its release",
    () => peer.of(member.member).some(({ kind }) => kind === "released"),
    60_000,
  );
  peer.want();
  await node.untilClean();
  return peer.of(member.member).find(({ kind }) => kind === "failed");
}

t.test("what engines do at their start is done under PID 1 and its filters", async (t) => {
  const wheels = await lockedWheels("vllm", ["pyzmq", "uvloop"]);
  const inputs = [await node.input("script", "scripts/starts.py", ENGINE_STARTS)];
  for (const [name, content] of wheels)
    inputs.push(await node.input("script", `scripts/${name}`, content));
  const liarsOwn = liar("starts", {});
  const file = liarsOwn.payload.files[0]!;
  const spec = { ...JSON.parse(file.text), module: "starts", className: "Engine", initArgs: {} };
  const files = [{ name: file.name, text: JSON.stringify(spec) }];
  const member = { ...liarsOwn, inputs, payload: { ...liarsOwn.payload, files } };
  peer.want(member);
  await peer.event(member.member, "ready");
  const { status, text } = await ask("");
  t.equal(status, 200, text);
  t.strictSame(JSON.parse(text), { zmq: "a", uvloop: "b", openmp: 3 });
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined);
});

t.test("llama.cpp gives its first token under PID 1 and its filters", async (t) => {
  const { weights } = await llamaPython();
  const spec: LlamaSpec = {
    ...{ formatVersion: 1, name: "chat", modelPath: "/app/model/chat.gguf", task: "generate" },
    ...{ pooling: null, replica: "r-1", port: PREDICTOR_PORT, slots: 1, contextTokens: 128 },
    ...{ maxBodyBytes: MIB, allowed: { "/v1/completions": ["prompt", "max_tokens"] } },
  };
  const model = await node.input("model", "model/chat.gguf", readFileSync(weights));
  const room = { memoryBytes: 1024 * MIB, diskBytes: 256 * MIB };
  const member = { ...liar("llama", room), inputs: [model] };
  const payload = { ...member.payload, command: [...LLAMA_COMMAND] };
  payload.files = [{ name: LLAMA_SPEC, text: JSON.stringify(spec) }];
  peer.want({ ...member, payload });
  await peer.event(member.member, "ready");
  peer.want({ ...member, payload, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined);
});

t.test("one that raises while it is made says what", async (t) => {
  const member = liar("raises", { init: "raises" });
  peer.want(member);
  t.match(await ended(member), {
    ...{ reason: "user_exception", message: "RuntimeError: the weights are of another model" },
    detail: /File .*lies\.py/,
  });
});

t.test("one that prints 100 MB fills its own disk alone", async (t) => {
  const member = liar("prints", { init: "prints" });
  peer.want(member);
  t.match(await ended(member), { reason: "disk_limit" });
});

t.test("one that prints 100 MB and has the room serves on", async (t) => {
  const member = liar("prints-on", { init: "prints", diskBytes: 256 * MIB });
  peer.want(member);
  await peer.event(member.member, "ready");
  t.match(await ask("a"), { status: 200, text: '{"said":"a"}' });
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined);
});

t.test(
  "one with an endless loop hangs, and is ended; one that is never ready is ended by a stop",
  async (t) => {
    const never = liar("never", { init: "never" });
    const loops = liar("loops", { callLimitMs: 3_000 });
    peer.want(never);
    await peer.event(never.member, "started");
    peer.want(never, loops);
    await peer.event(loops.member, "ready");
    ask("loop", loops.member).catch(() => {});
    await peer.event(loops.member, "released");
    const failed = peer.of(loops.member).find(({ kind }) => kind === "failed");
    t.match(failed, { reason: "no_progress", message: /^a call runs for 8 s/ });
    // It began before the other, and nobody takes it for one that hangs.
    t.notOk(peer.of(never.member).some(({ kind }) => kind === "ready" || kind === "failed"));
    peer.want({ ...never, desired: "stop", stopReason: "provisioning_timeout", graceMs: 1_000 });
    t.equal(await ended(never), undefined);
  },
);

t.test("one that takes all memory is killed for it", async (t) => {
  const member = liar("bombs", {});
  peer.want(member);
  await peer.event(member.member, "ready");
  ask("bomb").catch(() => {});
  t.match(await ended(member), { reason: "out_of_memory" });
});

t.test("one that dials out reaches nobody, and one that answers 1 GiB is refused", async (t) => {
  const member = liar("dials", { memoryBytes: 1_536 * MIB });
  peer.want(member);
  await peer.event(member.member, "ready");
  const dialled = await ask("dial");
  t.equal(dialled.status, 200);
  t.notMatch(dialled.text, /reached/);
  t.match(await ask("long"), { status: 500, text: /invalid_answer/ });
  t.match(await ask("a"), { status: 200 }, "it serves on");
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined);
  t.strictSame(peer.violations, []);
});
