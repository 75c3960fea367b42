import type { Ports } from '../../../src/compose/layers.ts'

/** Methods that read, or that only record who was here when. */
const READ = /\.(find|list|read|latest|usage|count|report|measure|head|open|check|permits|record)/

/** The calls of the ports of a service, or of all instances of one, in the order in which they began. */
export class PortCalls {
  /** Such as `ledger.begin`. */
  readonly #calls: string[] = []

  /** The same ports, whose calls are recorded. */
  record(ports: Ports): Ports {
    return {
      ledger: this.#recorded('ledger', ports.ledger),
      users: this.#recorded('users', ports.users),
      objects: this.#recorded('objects', ports.objects),
    }
  }

  /** How many calls there have been, to ask later what came after them. */
  get count(): number {
    return this.#calls.length
  }

  since(count: number): readonly string[] {
    return this.#calls.slice(count)
  }

  /** Those that may have changed what the service keeps. */
  changesSince(count: number): readonly string[] {
    return this.since(count).filter((call) => !READ.test(call))
  }

  #recorded<T extends object>(name: string, port: T): T {
    const recorded = Object.entries(port as Record<string, Method>).map(([method, call]) => [
      method,
      (...args: never[]) => {
        this.#calls.push(`${name}.${method}`)
        return call(...args)
      },
    ])
    return Object.fromEntries(recorded) as T
  }
}

type Method = (...args: never[]) => unknown
