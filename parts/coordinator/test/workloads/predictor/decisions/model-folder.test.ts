/** What of a model's folder an engine is given. */
import t from "tap";
import { isRead, whatLacks } from "../../../../src/workloads/predictor/decisions/model-folder.ts";

t.test(
  "weights, words and numbers are read; code, pickles and other folders are not",
  async (t) => {
    for (const path of [
      ...["config.json", "tokenizer.model", "merges.txt", "chat_template.jinja", "qwen.tiktoken"],
      ...["model.safetensors", "model-00001-of-00002.safetensors", "model.safetensors.index.json"],
    ])
      t.ok(isRead(path), path);
    for (const path of [
      ...[
        "modeling_own.py",
        "pytorch_model.bin",
        "model.pt",
        "model.gguf",
        "README.md",
        ".gitattributes",
      ],
      ...[
        "onnx/config.json",
        "original/consolidated.safetensors",
        "x.safetensors/y",
        "a.safetensors.py",
      ],
    ])
      t.notOk(isRead(path), path);
  },
);

t.test("what a model can't be served without is named", async (t) => {
  const whole = ["config.json", "model.safetensors", "tokenizer.json"];
  t.equal(whatLacks(whole), null);
  t.equal(whatLacks(["config.json", "a.safetensors", "tekken.json"]), null);
  t.equal(whatLacks(whole.slice(1)), "config.json");
  t.match(whatLacks(["config.json", "model.bin", "tokenizer.json"]), /safetensors/);
  t.equal(whatLacks(["config.json", "a.safetensors", "sub/tokenizer.json"]), "tokenizer.json");
});
