import { zipSync } from "fflate";
import t from "tap";
import { commonRoot, foldersOfFiles } from "../../src/pages/job/files/folders-of-files.ts";
import { npyHeader } from "../../src/ui/preview/npy-header.ts";
import { imageType, previewKind } from "../../src/ui/preview/preview-kind.ts";
import { headerLength, safetensorsHeader } from "../../src/ui/preview/safetensors-header.ts";
import { tableRows } from "../../src/ui/preview/table-text.ts";
import { elementsOf } from "../../src/ui/preview/tensor-names.ts";
import { torchTensors } from "../../src/ui/preview/torch-pickle.ts";
import { localHeaderBytes, zipEnd, zipEntries } from "../../src/ui/preview/zip-entries.ts";

/** `{"model": OrderedDict(conv.weight, conv.bias as a parameter, steps), "train_conf": …}` as `torch.save` pickles it, with a call of `os.system` in it. */
const PICKLES = [
  [
    "protocol 2",
    "gAJ9cQAoWAUAAABtb2RlbHEBY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnECKVJxAyhYCwAAAGNvbnYud2VpZ2h0cQRj" +
      "dG9yY2guX3V0aWxzCl9yZWJ1aWxkX3RlbnNvcl92MgpxBSgoWAcAAABzdG9yYWdlcQZjdG9yY2gKRmxvYXRTdG9yYWdl" +
      "CnEHWAEAAAAwcQhYAwAAAGNwdXEJS0h0cQpRSwAoSwhLAUsDSwN0cQsoSwlLCUsDSwF0cQyJaAIpUnENdHEOUnEPWAkA" +
      "AABjb252LmJpYXNxEGN0b3JjaC5fdXRpbHMKX3JlYnVpbGRfcGFyYW1ldGVyCnERaAUoKGgGaAdYAQAAADFxEmgJSwh0" +
      "cRNRSwBLCIVxFEsBhXEViWgCKVJxFnRxF1JxGIhoAilScRmHcRpScRtYBQAAAHN0ZXBzcRxoBSgoaAZjdG9yY2gKTG9u" +
      "Z1N0b3JhZ2UKcR1YAQAAADJxHmgJSwF0cR9RSwApKYloAilScSB0cSFScSJ1WAoAAAB0cmFpbl9jb25mcSN9cSQoWAIA" +
      "AABscnElRz+5mZmZmZmaWAEAAABucSZK/f///1gDAAAAYmlncSeKBgAAAAAAAVgEAAAAZXZpbHEoY3Bvc2l4CnN5c3Rl" +
      "bQpxKVgQAAAAdG91Y2ggL3RtcC9wd25lZHEqhXErUnEsdVgFAAAAZXBvY2hxLUsHdS4=",
  ],
  [
    "protocol 4",
    "gASVugEAAAAAAAB9lCiMBW1vZGVslIwLY29sbGVjdGlvbnOUjAtPcmRlcmVkRGljdJSTlClSlCiMC2NvbnYud2VpZ2h0" +
      "lIwMdG9yY2guX3V0aWxzlIwSX3JlYnVpbGRfdGVuc29yX3YylJOUKCiMB3N0b3JhZ2WUjAV0b3JjaJSMDEZsb2F0U3Rv" +
      "cmFnZZSTlIwBMJSMA2NwdZRLSHSUUUsAKEsISwFLA0sDdJQoSwlLCUsDSwF0lIloBClSlHSUUpSMCWNvbnYuYmlhc5Ro" +
      "B4wSX3JlYnVpbGRfcGFyYW1ldGVylJOUaAkoKGgKaA2MATGUaA9LCHSUUUsASwiFlEsBhZSJaAQpUpR0lFKUiGgEKVKU" +
      "h5RSlIwFc3RlcHOUaAkoKGgKaAuMC0xvbmdTdG9yYWdllJOUjAEylGgPSwF0lFFLACkpiWgEKVKUdJRSlHWMCnRyYWlu" +
      "X2NvbmaUfZQojAJscpRHP7mZmZmZmZqMAW6USv3///+MA2JpZ5SKBgAAAAAAAYwEZXZpbJSMBXBvc2l4lIwGc3lzdGVt" +
      "lJOUjBB0b3VjaCAvdG1wL3B3bmVklIWUUpR1jAVlcG9jaJRLB3Uu",
  ],
] as const;

for (const [protocol, base64] of PICKLES)
  t.test(
    `a checkpoint of ${protocol} is read as names and shapes, and nothing of it is called`,
    async (t) => {
      const bytes = new Uint8Array(Buffer.from(base64, "base64"));
      t.same(torchTensors(bytes), {
        tensors: [
          { name: "model.conv.weight", dtype: "float", shape: [8, 1, 3, 3] },
          { name: "model.conv.bias", dtype: "float", shape: [8] },
          { name: "model.steps", dtype: "long", shape: [] },
        ],
        isCut: false,
      });
      for (let length = 0; length < bytes.length; length += 7)
        t.equal(torchTensors(bytes.subarray(0, length)).isCut, true, `cut at ${length}`);
    },
  );

t.test("any bytes are no model, and no error", async (t) => {
  for (let first = 0; first < 256; first++)
    torchTensors(new Uint8Array([first, 0xff, 0x28, 0x75, 0x52, 0x62, 0x65, 0x00, 0x2e]));
  t.same(torchTensors(new Uint8Array()), { tensors: [], isCut: true });
});

t.test("the header of safetensors is bounded, and its metadata is no tensor", async (t) => {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, 100n, true);
  t.equal(headerLength(length, 1_000), 100);
  t.equal(headerLength(length, 99), null);
  t.equal(headerLength(length.subarray(0, 7), 99), null);
  t.same(
    safetensorsHeader(
      '{"__metadata__":{"format":"pt"},"a.weight":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}}',
    ),
    [{ name: "a.weight", dtype: "BF16", shape: [2, 3] }],
  );
  t.equal(elementsOf({ name: "", dtype: "", shape: [] }), 1);
  t.equal(elementsOf({ name: "", dtype: "", shape: [2, 3] }), 6);
});

t.test("an array of NumPy tells its type and shape in both forms of its header", async (t) => {
  const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1797, 64), }\n";
  const array = (version: number) => {
    const head = version === 1 ? [text.length, 0] : [text.length, 0, 0, 0];
    return new Uint8Array([
      0x93,
      ...Buffer.from("NUMPY"),
      version,
      0,
      ...head,
      ...Buffer.from(text),
    ]);
  };
  for (const version of [1, 2])
    t.same(npyHeader(array(version), "x"), { name: "x", dtype: "<f4", shape: [1797, 64] });
  t.equal(npyHeader(new Uint8Array(64), "x"), null);
});

t.test("the directory of a zip is found from its end, and where each file begins", async (t) => {
  const zip = zipSync({
    "a.npy": new Uint8Array(10),
    "b/c.npy": [new Uint8Array(500), { level: 6 }],
  });
  const end = zipEnd(zip.subarray(-60), zip.length);
  t.ok(end);
  const entries = zipEntries(zip.subarray(end!.offset, end!.offset + end!.bytes));
  t.match(entries, [
    { name: "a.npy", sizeBytes: 10 },
    { name: "b/c.npy", sizeBytes: 500, isDeflated: true },
  ]);
  const { offset } = entries[1]!;
  t.equal(localHeaderBytes(zip.subarray(offset, offset + 30)), 30 + "b/c.npy".length);
  t.equal(zipEnd(new Uint8Array(100), 100), null);
});

t.test(
  "cells of a CSV may hold separators, quotes and line ends; half a row is none",
  async (t) => {
    const text = 'a,b\r\n"1,5","say ""hi""\nthere"\n3,4';
    t.same(tableRows(text, ",", false, 10), [
      ["a", "b"],
      ["1,5", 'say "hi"\nthere'],
      ["3", "4"],
    ]);
    t.equal(tableRows(text, ",", true, 10).length, 2);
    t.equal(tableRows(text, ",", false, 1).length, 1);
  },
);

t.test(
  "a file is looked at by its name, and folders are taken where they hold several",
  async (t) => {
    t.same(
      ["m.PT", "x.npz", "a/b.csv", "p.JPG", "log.txt", "requirements", "data.bin"].map(previewKind),
      ["torch", "arrays", "table", "image", "text", "text", null],
    );
    t.equal(previewKind("drawing.svg"), "text", "a drawing may hold a script");
    t.equal(imageType("curve.JPG"), "image/jpeg");
    t.equal(imageType("curve.png"), "image/png");
    const keys = [
      "jobs/d/files_out/logs/a.log",
      "jobs/d/files_out/logs/b.log",
      "jobs/d/model_out/c.pt",
    ];
    t.equal(commonRoot(keys), "jobs/d/");
    t.equal(commonRoot(keys.slice(0, 2)), "jobs/d/");
    t.same(foldersOfFiles(keys.map((key) => key.slice("jobs/d/".length))), [
      "files_out/",
      "files_out/logs/",
    ]);
  },
);
