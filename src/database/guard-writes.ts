import type { LedgerSpace } from '../core/uploads/ledger-space.ts'
import { writeOf, type WrittenPort } from './write-kinds.ts'

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** Has every write of the port ask `space` first. */
export function guardWrites<P extends object>(name: WrittenPort, port: P, space: LedgerSpace): P {
  const methods = Object.entries<Method>({ ...port } as Record<string, Method>)
  const guarded = methods.map(([method, call]): [string, Method] => {
    const write = writeOf(name, method)
    if (write === undefined) return [method, call]
    return [method, (...args) => space.run(write(...args), () => call(...args))]
  })
  return Object.fromEntries(guarded) as P
}
