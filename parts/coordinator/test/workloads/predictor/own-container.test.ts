/** A program of the customer's own: what `inference.yaml` says of it, and what its container is told to run. */
import { CONTAINER_DOOR } from "@resontech/contracts/container-spec";
import t, { type Test } from "tap";
import type { DescribedMember } from "../../../src/kernel/workload.ts";
import { readInferenceYaml } from "../../../src/workloads/predictor/inference-yaml.ts";
import { type Deployment, predictor } from "../../../src/workloads/predictor/predictor.ts";

const refused = (t: Test, text: string, message: RegExp) =>
  t.throws(() => readInferenceYaml(text), { message });

t.test("a container has an image, a port, and what may stand beside them", async (t) => {
  t.match(readInferenceYaml("engine: container\ncontainer: {image: triton-2, port: 8000}\n"), {
    ...{ engine: "container", image: "triton-2", port: 8000, health: "/health" },
    ...{ command: [], environment: {}, modelPath: null, maxOngoingRequests: 8 },
  });
  const full = `engine: container
container:
  image: triton-2
  port: 8000
  health: /v2/health/ready
  command: [tritonserver, --model-repository=/app/model]
  environment: {LOG: "1"}
model: {path: weights.onnx}
cluster: {max_ongoing_requests: 200}
`;
  t.match(readInferenceYaml(full), {
    ...{ health: "/v2/health/ready", environment: { LOG: "1" }, modelPath: "weights.onnx" },
    ...{ command: ["tritonserver", "--model-repository=/app/model"], maxOngoingRequests: 200 },
  });
});

t.test("what does not fit is refused by its place in the file", async (t) => {
  const container = (inner: string) => `engine: container\ncontainer: {${inner}}\n`;
  refused(t, "engine: container\n", /the document/);
  refused(t, container("image: ../etc, port: 8000"), /container\.image/);
  refused(t, container("image: a, port: 0"), /container\.port/);
  refused(t, container(`image: a, port: ${CONTAINER_DOOR}`), /where calls come in/);
  refused(t, container('image: a, port: 1, health: "/a b"'), /container\.health/);
  refused(t, container('image: a, port: 1, health: "/a\\r\\nX: y"'), /container\.health/);
  refused(t, container("image: a, port: 1, privileged: true"), /container/);
  refused(t, container('image: a, port: 1, environment: {"A B": "1"}'), /environment/);
  refused(t, `${container("image: a, port: 1")}requirements: [numpy]\n`, /requirements/);
  refused(t, `${container("image: a, port: 1")}cluster: {device: cuda}\n`, /processors/);
});

t.test(
  "its container runs the program behind a door of ours, on agents that know how",
  async (t) => {
    const deployment: Deployment = {
      ...{ engine: "container", image: "triton-2", digest: `sha256:${"1".repeat(64)}` },
      ...{ port: 8000, health: "/ready", command: ["serve"], directory: "/srv", modelPath: null },
      ...{ environment: { PATH: "/opt/bin" }, maxOngoingRequests: 3, visibility: "PRIVATE" },
      ...{ callbackUrl: null, replaces: null, keySha256: "0".repeat(64) },
      scaling: { min: 1, max: 1, targetOngoing: 3 },
    };
    const job = { name: "own", spec: JSON.stringify(deployment) };
    const { command, environment, files, network } = predictor.describe({
      ...{ job, attempt: { server_name: "s" }, member: { id: "m-1" } },
      // Of the rows nothing else is read.
    } as DescribedMember);
    t.same(command, ["/rt/init", "-attend", "/rt/job/container.json"]);
    t.match(environment, { PATH: "/opt/bin" });
    t.match(network, { shape: "hub", port: CONTAINER_DOOR });
    t.same(JSON.parse(files[0]?.text ?? ""), {
      ...{ formatVersion: 1, command: ["serve"], directory: "/srv", door: CONTAINER_DOOR },
      ...{ port: 8000, health: "/ready", callLimitMs: 60_000 },
    });
    t.equal(predictor.agentProtocol(job), 5);
  },
);
