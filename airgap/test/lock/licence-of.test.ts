import t from "tap";
import { licenceOf } from "../../src/resolve/licence-of.ts";

const rows: [what: string, fields: readonly string[], licence: string][] = [
  ["an expression wins", ["License: see LICENSE", "License-Expression: MIT"], "MIT"],
  [
    "classifiers come before a free field",
    ["License: text of it", "Classifier: License :: OSI Approved :: BSD License"],
    "BSD License",
  ],
  [
    "a proprietary licence is named as one",
    ["License: NVIDIA", "Classifier: License :: Other/Proprietary License"],
    "Other/Proprietary License",
  ],
  ["of a whole text its first line", ["License: Apache 2.0", "        TERMS"], "Apache 2.0"],
  ["a wheel that says nothing", ["Classifier: License :: OSI Approved"], "not stated"],
  ["a description is no field", ["", "License-Expression: of the text below"], "not stated"],
];

for (const [what, fields, licence] of rows)
  t.test(what, async (t) => {
    t.equal(licenceOf(["Metadata-Version: 2.4", "Name: wheel", ...fields].join("\n")), licence);
  });
