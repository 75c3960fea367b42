/** Each round copies only what the one before has not; more would hardly help. */
const MAX_ROUNDS = 5

/**
 * Copies again, from a newer copy of the database, while objects vanish that the older one named: they were removed as
 * garbage. Rejects if that does not end.
 */
export async function copyInRounds<T extends { readonly vanished: number }>(
  copy: () => Promise<T>,
): Promise<T> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const done = await copy()
    if (done.vanished === 0) return done
  }
  throw new Error(
    `Objects were removed while they were copied, in each of ${MAX_ROUNDS} rounds. ` +
      'Set GARBAGE_DELAY to more than the time that copying the new objects takes.',
  )
}
