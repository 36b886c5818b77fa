/** Gathers what arrives until the next frame is painted, so that a burst of pieces is one change of the screen. */
export class Batch<T> {
  private items: T[] = [];
  private due: { cancel(): void } | undefined;

  constructor(private readonly deliver: (items: T[]) => void) {}

  /** Delivers with the next frame, or after `wait` milliseconds. */
  add(item: T, wait?: number) {
    this.items.push(item);
    this.due ??= wait === undefined ? nextFrame(() => this.flush()) : later(() => this.flush(), wait);
  }

  flush() {
    this.due?.cancel();
    this.due = undefined;
    if (this.items.length === 0) return;
    const items = this.items;
    this.items = [];
    this.deliver(items);
  }

  drop() {
    this.due?.cancel();
    this.due = undefined;
    this.items = [];
  }
}

/** A page that nobody sees paints no frames. */
function nextFrame(run: () => void) {
  if (document.visibilityState !== "visible") return later(run, 250);
  const frame = requestAnimationFrame(run);
  return { cancel: () => cancelAnimationFrame(frame) };
}

function later(run: () => void, wait: number) {
  const timer = setTimeout(run, wait);
  return { cancel: () => clearTimeout(timer) };
}
