import type { LedgerSpace, LedgerWrite } from '../core/uploads/ledger-space.ts'
import { LEDGER_OPERATIONS } from './ledger.ts'
import type { Method, Operation } from './operations/operation.ts'
import { USER_OPERATIONS } from './users/user-store.ts'

const OPERATIONS = { ledger: LEDGER_OPERATIONS, users: USER_OPERATIONS } as const

export type PortName = keyof typeof OPERATIONS

/** A call of an operation by name, as plain data. */
export interface OperationCall {
  readonly port: PortName
  readonly method: string
  readonly args: readonly unknown[]
}

export function operationOf(port: PortName, method: string): Operation {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS[port]
  const operation = operations[method]
  if (operation === undefined) throw new TypeError(`The port ${port} has no operation ${method}`)
  return operation
}

/** Returns the method that takes the place of a write. */
type Replace = (
  call: Method,
  write: { readonly method: string; readonly operation: Operation },
) => Method

/** The port with each method that writes replaced. */
export function mapWrites<P extends object>(name: PortName, port: P, replace: Replace): P {
  const methods = Object.entries<Method>({ ...port } as Record<string, Method>)
  const mapped = methods.map(([method, call]): [string, Method] => {
    const operation = operationOf(name, method)
    return [method, operation.effect === 'reads' ? call : replace(call, { method, operation })]
  })
  return Object.fromEntries(mapped) as P
}

/** Has every write of the port ask `space` first. */
export function guardWrites<P extends object>(name: PortName, port: P, space: LedgerSpace): P {
  return mapWrites(name, port, (call, { operation: { effect } }) => {
    if (typeof effect === 'function')
      return (...args) => space.run(effect(...args), () => call(...args))
    const write = { kind: effect, rows: 1 } as LedgerWrite
    return (...args) => space.run(write, () => call(...args))
  })
}
