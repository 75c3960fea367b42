interface Sample {
  readonly at: number
  readonly sent: number
}

export interface UploadRate {
  /** Records the total of bytes sent so far. */
  note(sent: number): void
  /** Bytes per second over the last seconds. */
  perSecond(): number
  reset(): void
}

const WINDOW_MS = 5_000

export function createUploadRate(): UploadRate {
  let samples: Sample[] = []
  return {
    note(sent) {
      const at = performance.now()
      samples = [...samples.filter((sample) => sample.at > at - WINDOW_MS), { at, sent }]
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)]
      if (first === undefined || last === undefined || last.at - first.at < 500) return 0
      return Math.max(0, ((last.sent - first.sent) / (last.at - first.at)) * 1000)
    },
    reset() {
      samples = []
    },
  }
}
