/** Shows what the run is doing. */
export interface Progress {
  /** On a terminal, replaces the previous text. */
  say(text: string): void
  /** Prints a line that stays. */
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
