import { Link } from "wouter";
import { Empty } from "../ui/notice.tsx";

export function NoSuchPage() {
  return (
    <Empty title="There is no such page">
      <p>
        The address may be old, or of a part that this appliance does not have.{" "}
        <Link href="/jobs">Go to the jobs</Link>.
      </p>
    </Empty>
  );
}
