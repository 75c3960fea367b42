import { EPOCH, type Timeline } from './timeline.ts'

/** The database's clock. It can jump, while the timeline's time, which is that of monotonic clocks, cannot. */
export class DatabaseClock {
  readonly #timeline: Timeline
  /** How far it is ahead, and since when; the latest last. */
  readonly #leads = [{ ms: 0, since: EPOCH }]

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  now(): number {
    return this.#timeline.now + (this.#leads.at(-1)?.ms ?? 0)
  }

  set(ms: number): void {
    this.#leads.push({ ms, since: this.#timeline.now })
  }

  hasJumped(): boolean {
    return this.#leads.length > 1
  }

  /** The time, by the timeline, of the last jump. */
  jumpedAt(): number {
    return this.#leads.at(-1)?.since ?? EPOCH
  }

  /** The least and the greatest time that it has shown since a time of the timeline. */
  shownSince(start: number): { readonly least: number; readonly most: number } {
    const { now } = this.#timeline
    const spans = this.#leads.map(({ ms, since }, index) => ({
      ms,
      from: Math.max(since, start),
      to: this.#leads[index + 1]?.since ?? now,
    }))
    const shown = spans.filter(({ from, to }) => from <= to)
    return {
      least: Math.min(...shown.map(({ ms, from }) => ms + from)),
      most: Math.max(...shown.map(({ ms, to }) => ms + to)),
    }
  }
}
