import t from "tap";
import { computeCapability } from "../../src/decisions/compute-capability.ts";

t.test("a family with several capabilities is told by model, any other by its name", (t) => {
  for (const [model, family, capability] of [
    ["p100", "Pascal", "6.0"],
    ["p100_12gb", "", "6.0"],
    ["gtx_1080_ti", "", "6.1"],
    ["v100_32gb", "", "7.0"],
    ["rtx_8000", "Turing", "7.5"],
    ["a100_80gb", "Ampere", "8.0"],
    ["a30", "Ampere", "8.0"],
    ["rtx_a6000", "Ampere", "8.6"],
    ["rtx_6000_ada", "Ada Lovelace", "8.9"],
    ["h100", "Hopper", "9.0"],
    ["b200", "Blackwell", "10.0"],
    ["b300", "Blackwell", "10.3"],
    ["rtx_5090", "Blackwell", "12.0"],
    ["anything", "", undefined],
    ["anything", "constructor", undefined],
  ] as const)
    t.equal(computeCapability(model, family), capability, `${model} ${family}`);
  t.end();
});
