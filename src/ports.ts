import type { FailedAttemptStore } from './core/auth/failed-attempt-store.ts'
import type { Ledger } from './core/ledger/ledger.ts'
import type { ObjectStore } from './core/objects/object-store.ts'
import type { UserStore } from './core/users/user-store.ts'
import type { Database } from './database/database.ts'
import { createLedger } from './database/ledger/ledger.ts'
import type { Writer } from './database/sqlite/writer/writer.ts'
import { createFailedAttemptStore } from './database/users/failed-attempts.ts'
import { createUserStore } from './database/users/user-store.ts'
import type { CallMeters } from './metrics/call-meters.ts'
import type { PortTraces } from './tracing/port-traces.ts'

/** What the use cases call. */
export interface Ports {
  readonly ledger: Ledger
  readonly users: UserStore
  readonly failedAttempts: FailedAttemptStore
  readonly objects: ObjectStore
}

export interface PortsOptions {
  readonly database: Database
  readonly objects: ObjectStore
  readonly baseCapacity: number
  /** Of an embedded database. */
  readonly writer: Writer | undefined
  /** `undefined` where nothing is traced. */
  readonly trace: PortTraces | undefined
  readonly meter: CallMeters
}

/** The ports, each with the layers that its calls pass through. */
export interface LayeredPorts extends Ports {
  /** Without the meter: what probes and scrapes ask is not counted as calls of the service. */
  readonly unmetered: Pick<Ports, 'ledger' | 'objects'>
}

/** Builds the chain of each port, the innermost layer first: the adapter, the writer thread, the trace, the meter. */
export function layerPorts(options: PortsOptions): LayeredPorts {
  const { database, objects, baseCapacity, writer, trace, meter } = options
  const ledger = createLedger(database, { baseCapacity })
  const users = createUserStore(database)
  const traced = {
    ledger: wrap(writer?.ledger(ledger) ?? ledger, trace?.ledger),
    users: wrap(writer?.users(users) ?? users, trace?.users),
    objects: wrap(objects, trace?.objects, OBJECT_CALLS),
  }
  return {
    unmetered: traced,
    ledger: wrap(traced.ledger, meter.database),
    users: wrap(traced.users, meter.database),
    failedAttempts: wrap(createFailedAttemptStore(database), meter.database),
    objects: wrap(traced.objects, meter.objectStore, OBJECT_CALLS),
  }
}

/** Which methods of an object store are calls that a request makes; a list goes on for as long as its reader likes. */
const OBJECT_CALLS = {
  put: true,
  open: true,
  head: true,
  remove: true,
  list: false,
  prepare: false,
  check: false,
  close: false,
} as const satisfies Record<keyof ObjectStore, boolean>

type Call = (...args: never[]) => Promise<unknown>

/** Makes of a method, by the layer below, the method that stands for it. */
type Layer = (method: string, call: Call) => Call

/** The same port with a layer around the calls that are named, or around all; as it is where there is no layer. */
function wrap<P extends object>(
  port: P,
  layer: Layer | undefined,
  isCall: Readonly<Record<string, boolean>> = Object.fromEntries(
    Object.keys(port).map((method) => [method, true]),
  ),
): P {
  if (layer === undefined) return port
  const methods = port as Readonly<Record<string, Call>>
  const wrapped = Object.entries(isCall).map(([name, isWrapped]) => {
    const method: Call | undefined = methods[name]?.bind(port)
    return [name, isWrapped && method !== undefined ? layer(name, method) : method]
  })
  return Object.fromEntries(wrapped) as P
}
