/** Sets what the test wants, and is killed where it says: `choices` once the part's file is written, `derived` once all is set. */
import { Layout } from "@resontech/frame/layout";
import { applySettings } from "../../src/settings/apply-settings.ts";
import { toy, toyContext, WANTED } from "./toy-part.ts";

const [root = "", instance = "", cut] = process.argv.slice(2);

class CutLayout extends Layout {
  override get configFile(): string {
    if (cut === "choices") process.kill(process.pid, "SIGKILL");
    return super.configFile;
  }
  override processConfig(name: string): string {
    if (cut === "derived") process.kill(process.pid, "SIGKILL");
    return super.processConfig(name);
  }
}

const context = {
  ...toyContext(new Layout(root, instance)),
  layout: new CutLayout(root, instance),
};
applySettings(context, WANTED, [toy.name]);
