import { useState } from "react";
import { setNotices, useNoticesOn } from "../../live/job-notices.ts";
import { Button } from "../../ui/button.tsx";
import { Panel, Row } from "../../ui/panel.tsx";

/** Notices of the browser when own jobs end. */
export function JobNotices() {
  const isOn = useNoticesOn();
  const [said, setSaid] = useState("");
  const change = async (isWanted: boolean) => {
    const isSet = await setNotices(isWanted);
    setSaid(
      isWanted && !isSet ? "The browser lets this page show none: allow it in its settings." : "",
    );
  };
  return (
    <Panel title="Notices of this browser">
      <p>
        {isOn
          ? "This browser tells you when your jobs end, while a page of the dashboard is open and you are signed in."
          : "This browser can tell you when your jobs end, while a page of the dashboard is open and you are signed in. A mail comes without a page: see Keys."}
      </p>
      <Row>
        <Button aria-pressed={isOn} onPress={() => void change(!isOn)}>
          {isOn ? "Tell me nothing here" : "Tell me here when my jobs end"}
        </Button>
        <span role="status">{said}</span>
      </Row>
    </Panel>
  );
}
