/** The compute capability of an NVIDIA device whose tool is too old to say it. Pure. */

/** Families with several capabilities, by the catalogue's models; the first that fits counts. https://developer.nvidia.com/cuda-gpus */
const BY_MODEL: readonly (readonly [RegExp, string])[] = [
  [/^p100/, "6.0"],
  [/^(p40|p4|gtx_10\d\d|titan_x)/, "6.1"],
  [/^(v100|titan_v)/, "7.0"],
  [/^(t4|rtx_20\d\d|rtx_[468]000$)/, "7.5"],
  [/^(a100|a800|a30)/, "8.0"],
  [/^(b300|gb300)/, "10.3"],
  [/^(b100|b200|gb200)/, "10.0"],
];
/** What `product_architecture` says; all other models of a family. */
const BY_FAMILY = new Map(
  Object.entries({
    Maxwell: "5.2",
    Pascal: "6.1",
    Volta: "7.0",
    Turing: "7.5",
    Ampere: "8.6",
    "Ada Lovelace": "8.9",
    Hopper: "9.0",
    Blackwell: "12.0",
  }),
);

/** @param model a catalogue id @param family empty where the tool does not name it @returns undefined for what is not known: nothing is guessed */
export function computeCapability(model: string, family: string): string | undefined {
  const byModel = BY_MODEL.find(([named]) => named.test(model))?.[1];
  return byModel ?? BY_FAMILY.get(family);
}
