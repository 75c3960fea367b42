import { setImmediate } from 'node:timers/promises'

/**
 * Has reads that are asked for at the same time share a statement: `readAll` answers of each key in the order of the keys.
 * All of them reject with what it rejects with.
 */
export function createReadBatches<K, V>(
  readAll: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  let gathering: K[] | undefined
  let answers: Promise<readonly V[]>

  async function readTogether(keys: readonly K[]): Promise<readonly V[]> {
    // What arrived by other connections at the same time goes along.
    await setImmediate()
    if (gathering === keys) gathering = undefined
    return await readAll(keys)
  }

  return async (key) => {
    if (gathering === undefined || gathering.length === MAX_KEYS) {
      gathering = []
      answers = readTogether(gathering)
    }
    const at = gathering.push(key) - 1
    return (await answers)[at] as V
  }
}

/** Bounds how long a read waits for others. */
const MAX_KEYS = 64
