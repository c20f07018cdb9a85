import t from "tap";
import { EVENT_CATALOGUE, EVENT_TYPES } from "../../src/audit/audit-catalogue.ts";
import { EVENT_CHOICES, eventSentence } from "../../src/audit/questions/event-sentences.ts";

t.test("every phase of every type is a sentence that says which phase it is", async (t) => {
  for (const type of EVENT_TYPES) {
    const { phases } = EVENT_CATALOGUE[type];
    const said = phases.map((phase) => eventSentence(type, phase));
    for (const sentence of said) t.match(sentence, /^[A-Z][^.]{3,70}$/, `${type}: ${sentence}`);
    const steps = phases.filter((phase) => phase !== "fact");
    t.equal(new Set(steps.map((phase) => eventSentence(type, phase))).size, steps.length, type);
  }
});

t.test("each type can be chosen by its sentence, and no sentence stands for two", async (t) => {
  t.same(EVENT_CHOICES.map(([type]) => type).toSorted(), EVENT_TYPES.toSorted());
  t.equal(new Set(EVENT_CHOICES.map(([, sentence]) => sentence)).size, EVENT_TYPES.length);
});

t.test("an entry of a later release stands for itself", async (t) => {
  t.equal(eventSentence("audit.later", "fact"), "audit.later");
  t.equal(eventSentence("audit.later", "requested"), "audit.later requested");
});
