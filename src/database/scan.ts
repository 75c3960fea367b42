interface Scan<Row, Position> {
  readonly after: Position | undefined
  /** The rows that are wanted at first. Each further read asks for four times as many. */
  readonly limit: number
  /** The rows that are read, at most. */
  readonly maxScanned: number
  /** Reads up to `limit` rows after the position, in order. Fewer are the last ones. */
  readonly read: (page: {
    readonly after: Position | undefined
    readonly limit: number
  }) => Promise<readonly Row[]>
  /** Takes the next row, and returns whether a later one is wanted. */
  readonly take: (row: Row) => boolean
  /** Right after a row that was taken. */
  readonly positionAfter: (row: Row) => Position
}

/**
 * Reads rows in order until no more are wanted, all have been read, or as many as may be. Resolves to the position at
 * which it ran out in the last case, else to `undefined`.
 */
export async function scan<Row, Position>(
  options: Scan<Row, Position>,
): Promise<Position | undefined> {
  const { read, take, positionAfter, maxScanned } = options
  let { after, limit } = options
  for (let left = maxScanned; left > 0; limit *= GROWTH) {
    const asked = Math.min(limit, left)
    const rows = await read({ after, limit: asked })
    for (const row of rows) {
      if (!take(row)) return undefined
      after = positionAfter(row)
    }
    if (rows.length < asked) return undefined
    left -= asked
  }
  return after
}

/** Few reads for a page that skips many rows, and few rows for one that skips none. */
const GROWTH = 4
