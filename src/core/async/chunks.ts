/** Yields batches of `size` items; the last may be smaller, none is empty. */
export async function* inChunks<T>(
  items: AsyncIterable<T>,
  size: number,
): AsyncGenerator<readonly T[], void> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
