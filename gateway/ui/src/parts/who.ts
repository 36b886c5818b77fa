/** A person in words: keys have no names of people, so all but oneself are known by their number alone. */
import { useQuery } from "@tanstack/react-query";
import { me } from "../api/queries";

export function useWho(userId: string | undefined): string | undefined {
  const { data } = useQuery(me);
  if (!userId) return undefined;
  return userId === data?.userId ? "you" : `user ${userId.slice(-6)}`;
}
