import t from "tap";
import { modelShapeOf } from "../../../../src/workloads/distributed/decisions/known-shapes.ts";

t.test(
  "a model of which only the size is known has the shape of the nearest that is published",
  async (t) => {
    t.match(modelShapeOf(7e9, {}), {
      ...{ layers: 32, hidden: 4096, heads: 32, vocabulary: 50_257 },
      ...{ like: "GPT-3 6.7B", isVocabularyAssumed: true },
    });
    t.match(modelShapeOf(70e9, { vocabulary: 128_256 }), {
      ...{ like: "Megatron 76.1B", vocabulary: 128_256, isVocabularyAssumed: false },
    });
  },
);

t.test("a shape that is named is taken, and none is assumed beside it", async (t) => {
  t.same(modelShapeOf(7e9, { layers: 28, hidden: 3584, heads: 28, vocabulary: 152_064 }), {
    ...{ layers: 28, hidden: 3584, heads: 28, vocabulary: 152_064 },
    ...{ like: null, isVocabularyAssumed: false },
  });
});

t.test("what is far from every published model has no shape", async (t) => {
  for (const parameters of [1, 1e6, 62e6, 2.1e12, 1e14])
    t.equal(modelShapeOf(parameters, {}), null, String(parameters));
});
