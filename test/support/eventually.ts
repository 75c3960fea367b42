import { setTimeout } from 'node:timers/promises'

/** The first answer that `ask` does not reject; rejects with the last reason when there is none in time. */
export async function eventually<T>(ask: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await setTimeout(50)
    }
  }
}
