export interface Append {
  /** The offset at which it begins. */
  readonly offset: number
  readonly body: Buffer
}

/** What an upload of that content may hold up to `end` after these appends, of which each may have come to any byte. */
export function* contentsOf(
  end: number,
  { content, appends }: { readonly content: Buffer; readonly appends: readonly Append[] },
): Generator<Buffer> {
  if (content.length === end) yield content
  for (const [at, { offset, body }] of appends.entries()) {
    if (offset !== content.length) continue
    const later = appends.slice(at + 1)
    // It came as far as a later one begins, or to the end.
    const ends = new Set([end, ...later.map((append) => append.offset)])
    for (const until of ends) {
      if (until <= offset || until > Math.min(end, offset + body.length)) continue
      const grown = Buffer.concat([content, body.subarray(0, until - offset)])
      yield* contentsOf(end, { content: grown, appends: later })
    }
  }
}
