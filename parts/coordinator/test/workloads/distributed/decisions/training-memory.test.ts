import {
  KEPT_ACTIVATIONS,
  type ModelShape,
  OPTIMIZERS,
  PRECISIONS,
  SHARDINGS,
} from "@resontech/contracts/http-advice";
import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import {
  activationsOf,
  bytesOfParameter,
  estimateSharding,
  FREE_SHARE,
  shardedStates,
  type Training,
} from "../../../../src/workloads/distributed/decisions/training-memory.ts";

const GIB = 1024 ** 3;
const OF_7B: ModelShape = {
  ...{ layers: 32, hidden: 4096, heads: 32, vocabulary: 50_257 },
  ...{ like: null, isVocabularyAssumed: false },
};
const training = (over: Partial<Training> = {}): Training => ({
  ...{ parameters: 7.5e9, precision: "mixed", optimizer: "adam", shape: OF_7B, sequence: 2048 },
  ...over,
});
const sharedOf = (sharding: (typeof SHARDINGS)[number], devices: number) => {
  const { weights, gradients, optimizer } = shardedStates(training(), sharding, devices);
  return (weights + gradients + optimizer) / 1e9;
};

t.test("a parameter takes the bytes that the paper on ZeRO counts", async (t) => {
  t.same(bytesOfParameter("mixed", "adam"), { weights: 2, gradients: 2, optimizer: 12 });
  t.same(bytesOfParameter("mixed", "momentum"), { weights: 2, gradients: 2, optimizer: 8 });
  t.same(bytesOfParameter("fp32", "adam"), { weights: 4, gradients: 4, optimizer: 8 });
  t.same(bytesOfParameter("fp32", "sgd"), { weights: 4, gradients: 4, optimizer: 0 });
  t.same(bytesOfParameter("bf16", "adam"), { weights: 2, gradients: 2, optimizer: 4 });
});

t.test(
  "7.5 billion parameters on 64 devices take what figure 1 of the paper on ZeRO says",
  async (t) => {
    t.equal(sharedOf("ddp", 64), 120);
    t.equal(Number(sharedOf("zero2", 64).toFixed(1)), 16.6);
    t.equal(Number(sharedOf("zero3", 64).toFixed(1)), 1.9);
    t.equal(sharedOf("fsdp", 64), sharedOf("zero3", 64));
  },
);

t.test("activations of a layer are those of Korthikanti et al.", async (t) => {
  const [s, h, a, layers] = [2048, 4096, 32, 32];
  const head = 4 * s * h + 4 * s * OF_7B.vocabulary;
  const found = activationsOf(training())!;
  t.equal(found.all, layers * s * h * (34 + (5 * a * s) / h) + head);
  t.equal(found["no-scores"], layers * s * h * 34 + head);
  t.equal(found["layer-inputs"], layers * s * h * 2 + s * h * 34 + head);
  t.ok(activationsOf(training({ precision: "fp32" }))!.all > 1.8 * found.all);
});

t.test("without a length or a shape activations are unknown, and so is the batch", async (t) => {
  for (const over of [{ sequence: null }, { shape: null }]) {
    t.equal(activationsOf(training(over)), null);
    t.match(estimateSharding(training(over), "ddp", 1, 200 * GIB), {
      ...{ microBatch: null, keeps: null, fits: "states", missingBytes: 0 },
    });
    t.match(estimateSharding(training(over), "ddp", 1, 80 * GIB), { fits: "no" });
  }
  t.equal(estimateSharding(training({ shape: null }), "fsdp", 4, 80 * GIB).buffersBytes, null);
});

t.test("what does not fit says by how much, and how many would do", async (t) => {
  const alone = estimateSharding(training(), "fsdp", 1, 80 * GIB);
  t.match(alone, { fits: "no", leastDevices: 2 });
  const least = activationsOf(training())!["layer-inputs"];
  t.equal(alone.missingBytes, Math.ceil(120e9 + least - Math.floor(80 * GIB * FREE_SHARE)));
  t.match(estimateSharding(training(), "ddp", 64, 80 * GIB), { fits: "no", leastDevices: null });
  // The weights lie on each whole, however many there are.
  t.equal(
    estimateSharding(training({ parameters: 70e9 }), "zero2", 8, 80 * GIB).leastDevices,
    null,
  );
});

const trainings = fc.record({
  parameters: fc.integer({ min: 1, max: 2e12 }),
  precision: fc.constantFrom(...PRECISIONS),
  optimizer: fc.constantFrom(...OPTIMIZERS),
  sequence: fc.option(fc.integer({ min: 1, max: 200_000 })),
  shape: fc.option(
    fc.record({
      layers: fc.integer({ min: 1, max: 200 }),
      hidden: fc.integer({ min: 64, max: 30_000 }),
      heads: fc.integer({ min: 1, max: 64 }),
      vocabulary: fc.integer({ min: 1, max: 300_000 }),
      like: fc.constant(null),
      isVocabularyAssumed: fc.constant(false),
    }),
  ),
});
const shardings = fc.constantFrom(...SHARDINGS);
const devices = fc.integer({ min: 1, max: 256 });
const memory = fc.integer({ min: 1, max: 512 * GIB });

t.test("the largest batch fits, and one sample more does not", async () => {
  checkProperty(
    fc.property(trainings, shardings, devices, memory, (of, sharding, count, bytes) => {
      const found = estimateSharding(of, sharding, count, bytes);
      const each = activationsOf(of);
      if (each === null) return found.microBatch === null && found.keeps === null;
      const { weights, gradients, optimizer, buffers } = shardedStates(of, sharding, count);
      const states = weights + gradients + optimizer + (buffers ?? 0);
      return KEPT_ACTIVATIONS.every((kept) => {
        const batch = found.microBatch![kept];
        const isFull = states + (batch + 1) * each[kept] > found.roomBytes - 1e-3;
        return (
          isFull && (batch === 0 || states + batch * each[kept] <= found.roomBytes * (1 + 1e-9))
        );
      });
    }),
    5_000,
  );
});

t.test("it fits just where nothing is missing, and then some sample does", async () => {
  checkProperty(
    fc.property(trainings, shardings, devices, memory, (of, sharding, count, bytes) => {
      const { fits, missingBytes, keeps, microBatch } = estimateSharding(
        of,
        sharding,
        count,
        bytes,
      );
      if ((fits === "no") !== missingBytes > 0) return false;
      return microBatch === null || (keeps !== null) === (missingBytes === 0);
    }),
    5_000,
  );
});

t.test("the fewest devices do, and fewer don't", async () => {
  checkProperty(
    fc.property(trainings, shardings, memory, (of, sharding, bytes) => {
      const fitsOn = (count: number) => estimateSharding(of, sharding, count, bytes).fits !== "no";
      const { leastDevices } = estimateSharding(of, sharding, 1, bytes);
      if (leastDevices === null) return ![1, 2, 7, 256, 1e6].some(fitsOn);
      const fewer = [leastDevices - 1, leastDevices >> 1, 1].filter(
        (count) => count > 0 && count < leastDevices,
      );
      return fitsOn(leastDevices) && !fewer.some(fitsOn);
    }),
    5_000,
  );
});

t.test("more devices never take more memory of one, from two on", async () => {
  checkProperty(
    fc.property(trainings, shardings, fc.integer({ min: 2, max: 255 }), (of, sharding, count) => {
      const sum = (many: number) => {
        const { weights, gradients, optimizer, buffers } = shardedStates(of, sharding, many);
        return weights + gradients + optimizer + (buffers ?? 0);
      };
      return sum(count + 1) <= sum(count);
    }),
    2_000,
  );
});
