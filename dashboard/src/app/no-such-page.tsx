import { Link } from "wouter";
import { PageHead } from "../ui/page-head.tsx";

export function NoSuchPage() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p>
        The address may be old, or of a part that this appliance does not have.{" "}
        <Link href="/jobs">Go to the jobs</Link>.
      </p>
    </>
  );
}
