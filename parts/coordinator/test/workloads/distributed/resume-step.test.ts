import t from "tap";
import { chooseResumeStep } from "../../../src/workloads/distributed/resume-step.ts";

t.test("it goes on after the newest committed step, in whatever order they are told", async (t) => {
  const committed = [
    { round: 40, modelUpload: "up-40" },
    { round: 120, modelUpload: "up-120" },
    { round: 80, modelUpload: "up-80" },
  ];
  t.match(chooseResumeStep(committed), { startRound: 121, modelUpload: "up-120" });
});

t.test("nothing committed is a beginning", async (t) => {
  t.equal(chooseResumeStep([]), null);
});
