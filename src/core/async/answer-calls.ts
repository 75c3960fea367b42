import { nextTick } from 'node:process'
import { parentPort } from 'node:worker_threads'
import { MessageBuffer } from './message-buffer.ts'
import { serializeError } from './serialized-error.ts'
import type { ThreadAnswer, ThreadCall, ThreadMessage } from './thread.ts'

export interface ThreadHandlers<C> {
  /** `until`: when the caller gives up, by `steadyTime`. */
  readonly answer: (call: C, until: number) => Promise<unknown>
  /** Called once, when all calls are answered. */
  readonly close: () => Promise<void>
}

/** The thread's side of `Thread`. Calls that were sent before this are answered, too. */
export function answerCalls<C>({ answer, close }: ThreadHandlers<C>): void {
  const port = parentPort
  if (port === null) throw new TypeError('This is the code of a thread')
  // One message for everything that settles together.
  const outgoing = new MessageBuffer<ThreadAnswer>(
    (answers) => port.postMessage(answers),
    (flush) => nextTick(flush),
  )
  const pending = new Set<Promise<void>>()

  async function settle({ id, call, until }: ThreadCall<C>): Promise<void> {
    try {
      outgoing.add({ id, value: await answer(call, until) })
    } catch (error) {
      outgoing.add({ id, error: serializeError(error) })
    }
  }

  async function end(): Promise<void> {
    await Promise.all(pending)
    await close()
    outgoing.flush()
    port?.close()
  }

  port.on('message', (message: ThreadMessage<C>) => {
    if (message === 'close') {
      void end()
      return
    }
    for (const call of message) {
      const settling = settle(call).finally(() => pending.delete(settling))
      pending.add(settling)
    }
  })
}
