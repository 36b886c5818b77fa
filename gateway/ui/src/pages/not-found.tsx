import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { Empty } from "../parts/states";

export function NotFound() {
  return (
    <Empty icon={<Compass size={36} aria-hidden />} title="There is no such page">
      <p>
        <Link to="/">Begin a conversation</Link>
      </p>
    </Empty>
  );
}
