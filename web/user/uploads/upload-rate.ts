interface Sample {
  readonly at: number
  readonly sent: number
}

export interface UploadRate {
  /** So many bytes have left in all, up to now. */
  note(sent: number): void
  /** Bytes a second, lately. */
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
