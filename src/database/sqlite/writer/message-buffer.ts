export interface MessageBufferOptions<T> {
  /** Throws, and sends nothing, when one of them cannot be sent. */
  readonly send: (messages: readonly T[]) => void
  readonly refuse: (message: T, error: unknown) => void
  /** Says when all is sent that has been added by then. */
  readonly schedule: (flush: () => void) => void
}

/**
 * Sends together, and in their order, what is added until `schedule` says so, since most of what a message costs is to wake
 * up who gets it. One that cannot be sent is refused, and no other with it.
 */
export class MessageBuffer<T> {
  #waiting: T[] = []
  readonly #options: MessageBufferOptions<T>

  constructor(options: MessageBufferOptions<T>) {
    this.#options = options
  }

  add(message: T): void {
    this.#waiting.push(message)
    if (this.#waiting.length === 1) this.#options.schedule(this.flush)
  }

  /** Sends what waits. */
  readonly flush = (): void => {
    const messages = this.#waiting.splice(0)
    if (messages.length === 0) return
    try {
      this.#options.send(messages)
    } catch {
      for (const message of messages) this.#sendAlone(message)
    }
  }

  #sendAlone(message: T): void {
    const { send, refuse } = this.#options
    try {
      send([message])
    } catch (error) {
      refuse(message, error)
    }
  }
}
