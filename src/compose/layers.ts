import type { ObjectStore } from '../core/objects/object-store.ts'
import type { LedgerSpace } from '../core/uploads/ledger-space.ts'
import type { Database } from '../database/database.ts'
import { createLedger, type Ledger } from '../database/ledger.ts'
import type { LedgerOptions } from '../database/operations/session.ts'
import type { Writer } from '../database/sqlite/writer/writer.ts'
import { createUserStore, type UserStores } from '../database/users/user-store.ts'
import { guardWrites } from '../database/operations.ts'
import type { CallMeters } from '../metrics/call-meters.ts'
import type { PortTraces } from '../tracing/port-traces.ts'

export interface Ports {
  readonly ledger: Ledger
  readonly users: UserStores
  readonly objects: ObjectStore
}

export interface PortsOptions {
  readonly database: Database
  readonly objects: ObjectStore
  readonly ledgerOptions: LedgerOptions
  /** `undefined` unless the database is embedded. */
  readonly writer: Writer | undefined
  readonly trace: PortTraces | undefined
  readonly meter: CallMeters
  /** `undefined` unless the database is embedded. */
  readonly space?: LedgerSpace | undefined
}

export interface LayeredPorts extends Ports {
  /** For probes and scrapes, which do not count as calls of the service. */
  readonly unmetered: Ports
}

/** Layers from the inside out: adapter, writer thread, trace, meter, floors of free space. */
export function layerPorts(options: PortsOptions): LayeredPorts {
  const { database, objects, ledgerOptions, writer, trace, meter, space } = options
  const ledger = createLedger(database, ledgerOptions)
  const users = createUserStore(database, ledgerOptions)
  const traced = {
    ledger: wrap(writer?.ledger(ledger) ?? ledger, trace?.ledger),
    users: wrap(writer?.users(users) ?? users, trace?.users),
    objects: wrap(objects, trace?.objects, OBJECT_CALLS),
  }
  const metered = {
    ledger: wrap(traced.ledger, meter.database),
    users: wrap(traced.users, meter.database),
  }
  return {
    unmetered: traced,
    ledger: space ? guardWrites('ledger', metered.ledger, space) : metered.ledger,
    users: space ? guardWrites('users', metered.users, space) : metered.users,
    objects: wrap(traced.objects, meter.objectStore, OBJECT_CALLS),
  }
}

/** Members to trace and meter. A list is excluded, since its duration depends on its reader. */
const OBJECT_CALLS = {
  put: true,
  append: true,
  finish: true,
  isStored: true,
  partSizeFor: false,
  hasTails: false,
  planAppend: false,
  isFenceable: false,
  removeFenced: true,
  open: true,
  head: true,
  remove: true,
  list: false,
  prepare: false,
  readIdentity: false,
  createIdentity: false,
  check: false,
  close: false,
} as const satisfies Record<keyof ObjectStore, boolean>

type Call = (...args: never[]) => Promise<unknown>

type Layer = (method: string, call: Call) => Call

function wrap<P extends object>(
  port: P,
  layer: Layer | undefined,
  isCall: Readonly<Record<string, boolean>> = Object.fromEntries(
    Object.keys(port).map((method) => [method, true]),
  ),
): P {
  if (layer === undefined) return port
  const members = port as Readonly<Record<string, Call | boolean>>
  const wrapped = Object.entries(isCall).map(([name, isWrapped]) => {
    const member = members[name]
    if (typeof member !== 'function') return [name, member]
    const method: Call = member.bind(port)
    return [name, isWrapped ? layer(name, method) : method]
  })
  return Object.fromEntries(wrapped) as P
}
