/** Times and amounts in words. */
import { useEffect } from "react";
import { Store, useStore } from "../live/store";

const clock = new Store(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, each second, while somebody shows it. */
export function useNow(): number {
  useEffect(() => {
    watchers += 1;
    clock.set(Date.now());
    timer ??= setInterval(() => clock.set(Date.now()), 1000);
    return () => {
      watchers -= 1;
      if (watchers > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return useStore(clock);
}

/** How long until then. */
export function Countdown({ until }: { until: string }) {
  const left = Math.max(0, Math.ceil((Date.parse(until) - useNow()) / 1000));
  return (
    <time
      role="timer"
      aria-live="off"
      dateTime={until}
      className={left < 60 ? "countdown soon" : "countdown"}
    >
      {left === 0 ? "expired" : `${lasting(left * 1000)} left`}
    </time>
  );
}

export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

const DAY = 24 * 3600 * 1000;

/** Under which heading of a list something of that time comes. */
export function dayGroup(at: string, now = Date.now()): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const time = Date.parse(at);
  if (time >= midnight) return "Today";
  if (time >= midnight - DAY) return "Yesterday";
  if (time >= midnight - 7 * DAY) return "Previous 7 days";
  return new Date(time).toLocaleDateString("en", { month: "long", year: "numeric" });
}

/** A point in time: of today only the hour, in full on hover. */
export function When({ at }: { at: string }) {
  const date = new Date(at);
  const full = date.toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={full}>
      {isToday ? date.toLocaleTimeString("en", { timeStyle: "short" }) : full}
    </time>
  );
}

const AMOUNT = new Intl.NumberFormat("en");

export function amount(value: number): string {
  return AMOUNT.format(value);
}
