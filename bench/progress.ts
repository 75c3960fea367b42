/** Tells those who wait what is under way. */
export interface Progress {
  /** Takes the place of what was said before, on a terminal. */
  say(text: string): void
  /** Stays. */
  note(text: string): void
  end(): void
}

export function createProgress(out: NodeJS.WriteStream): Progress {
  const started = performance.now()
  const clear = out.isTTY ? '\r\u001B[K' : ''
  const clock = (): string => `[${Math.round((performance.now() - started) / 1000)} s]`
  return {
    say: (text) => out.write(`${clear}${clock()} ${text}${out.isTTY ? '' : '\n'}`),
    note: (text) => out.write(`${clear}${text}\n`),
    end: () => out.write(clear),
  }
}
