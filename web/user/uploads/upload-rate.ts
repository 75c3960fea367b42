interface Sample {
  readonly at: number
  readonly sent: number
}

export interface UploadRate {
  /** Records the total of bytes sent so far. */
  note(sent: number): void
  /** Bytes per second over the last seconds; 0 while nothing is sent. */
  perSecond(): number
  reset(): void
}

const WINDOW_MS = 5_000

/** Without progress for so long, a connection is taken for lost. Browsers report it several times a second. */
const STALLED_MS = 2_500

export function createUploadRate(): UploadRate {
  let samples: readonly Sample[] = []
  return {
    note(sent) {
      const at = performance.now()
      if (samples.at(-1)?.sent === sent) return
      samples = [...samples.filter((sample) => sample.at > at - WINDOW_MS), { at, sent }]
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)]
      if (first === undefined || last === undefined || last.at - first.at < 500) return 0
      if (performance.now() - last.at > STALLED_MS) return 0
      return Math.max(0, ((last.sent - first.sent) / (last.at - first.at)) * 1000)
    },
    reset() {
      samples = []
    },
  }
}
